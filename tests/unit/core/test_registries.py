"""Registries: names of built-ins and of other packages' extensions."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.core.errors import UnknownName
from kernelwright.core.registry import Registry

COUNTERS: Registry[Counter[str]] = Registry(
    kind="counter",
    group="kernelwright.tests.counters",
    built_in={"plain": "collections:Counter", "broken": "no_such_module:Thing"},
)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a package with entry points on the path, as an installer would."""
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[kernelwright.tests.counters]\n"
        "plain = other_counters:Shadow\n"
        "zebra = other_counters:Zebra\n"
        "ant = other_counters:Ant\n"
        "faulty = no_other_module:Thing\n"
    )
    (tmp_path / "other_counters.py").write_text(
        "from collections import Counter\n"
        "class Shadow(Counter): pass\n"
        "class Zebra(Counter): pass\n"
        "class Ant(Counter): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("other_counters", None)


def test_a_built_in_is_imported_when_it_is_asked_for() -> None:
    assert COUNTERS.factory("plain") is Counter
    assert COUNTERS.names() == ("plain", "broken")


def test_a_broken_extension_breaks_only_its_own_use() -> None:
    with pytest.raises(ModuleNotFoundError):
        COUNTERS.factory("broken")
    assert COUNTERS.factory("plain")("aab")["a"] == 2


def test_an_unknown_name_is_answered_with_the_known_ones_and_a_guess() -> None:
    with pytest.raises(UnknownName) as caught:
        COUNTERS.factory("plian")
    assert caught.value.what == "there is no counter called 'plian'"
    assert caught.value.fix == "did you mean 'plain'? known: plain, broken"


def test_nothing_is_guessed_when_nothing_is_close() -> None:
    with pytest.raises(UnknownName) as caught:
        COUNTERS.factory("xyz")
    assert caught.value.fix == "known: plain, broken"


@pytest.mark.usefixtures("plugin")
def test_another_package_adds_names_after_the_built_in_ones() -> None:
    assert COUNTERS.names() == ("plain", "broken", "ant", "faulty", "zebra")
    assert COUNTERS.factory("zebra").__name__ == "Zebra"


@pytest.mark.usefixtures("plugin")
def test_another_package_cannot_take_the_place_of_a_built_in() -> None:
    assert COUNTERS.factory("plain") is Counter


@pytest.mark.usefixtures("plugin")
def test_a_faulty_package_does_not_hide_the_others() -> None:
    with pytest.raises(ModuleNotFoundError):
        COUNTERS.factory("faulty")
    assert COUNTERS.factory("ant").__name__ == "Ant"
