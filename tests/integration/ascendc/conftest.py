"""The Ascend C backend over the runtime library that the emulator's tests build, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.backends.ascendc.backend import AscendBackend
from kernelwright.sandbox import Sandbox

EXAMPLE = Path(__file__).parents[3] / "examples" / "ascendc"


@pytest.fixture(scope="session")
def emulator_cache(pytestconfig: pytest.Config) -> Path:
    """The folder in which `tests/emulator/conftest.py` keeps the runtime library."""
    cache = pytestconfig.cache
    assert cache is not None
    return Path(cache.mkdir("kernelwright"))


@pytest.fixture(scope="session")
def ascendc(emulator_cache: Path) -> Iterator[AscendBackend]:
    """The backend, whose processes start warm."""
    with Sandbox(warm=("torch", "kernelwright.emulator.binding_host")) as sandbox:
        yield AscendBackend(sandbox, cache_folder=emulator_cache)


@pytest.fixture
def user_cache(emulator_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's cache folder in which the runtime library is there already."""
    folder = tmp_path / "cache" / "kernelwright"
    folder.mkdir(parents=True)
    (folder / "ascendc").symlink_to(emulator_cache)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def parts() -> dict[str, str]:
    """The six parts of the example project, for a test to change."""
    return {path.name: path.read_text() for path in sorted((EXAMPLE / "tanh").iterdir())}
