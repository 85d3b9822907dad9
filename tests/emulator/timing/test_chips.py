"""Chips are data: complete, sourced, and found under the vendor's spellings."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from kernelwright.core.errors import MachineLacks, UnknownName
from kernelwright.emulator.targets import chip_names, configure, flatten, load_chip


def test_the_chips_of_the_documentation_are_there() -> None:
    assert {"910B1", "910B2", "910B3", "910B4", "310P"} <= set(chip_names())


@pytest.mark.parametrize("name", chip_names())
def test_every_figure_has_a_source_and_the_library_takes_it(
    name: str, timing_library: ctypes.CDLL
) -> None:
    chip = load_chip(name)
    figures = {f"constants.{key}" for key in chip.constants}
    figures |= {f"vector.{key}" for key in chip.vector} | {f"memory.{key}" for key in chip.memory}
    assert figures | {"read_gbps", "write_gbps"} == set(chip.sources)
    assert all(chip.sources.values())
    configure(timing_library, chip)


@pytest.mark.parametrize(
    "spelling", ["910B2", "Ascend910B2", "ascend910b2", "ai_core-Ascend910B2", "Ascend910B"]
)
def test_a_chip_is_found_under_the_vendors_spellings(spelling: str) -> None:
    assert load_chip(spelling).name == "910B2"


def test_an_unknown_chip_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="910B1"):
        load_chip("H100")


def test_a_chip_states_only_what_differs_from_the_one_it_extends() -> None:
    base, chip = load_chip("910B1"), load_chip("910B2")
    assert chip.vector == base.vector
    assert chip.constants["clock_mhz"] == 1800 != base.constants["clock_mhz"]


def test_the_version_names_the_chip_and_changes_with_its_figures(tmp_path: Path) -> None:
    text = Path(load_chip.__code__.co_filename).parent.joinpath("targets/910B1.toml").read_text()
    (tmp_path / "910B1.toml").write_text(text.replace("value = 1850", "value = 1851"))
    changed, shipped = load_chip("910B1", folder=tmp_path), load_chip("910B1")
    assert "910B1" in shipped.version
    assert changed.version != shipped.version


def test_a_figure_without_a_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "X.toml").write_text(
        'name = "X"\nnpu_arch = "0"\n[constants]\nclock_mhz = { value = 1 }\n'
    )
    with pytest.raises(MachineLacks, match=r"constants\.clock_mhz names no source"):
        load_chip("X", folder=tmp_path)


def test_a_chip_that_lacks_a_figure_is_refused(tmp_path: Path) -> None:
    (tmp_path / "X.toml").write_text('name = "X"\nnpu_arch = "0"\n')
    with pytest.raises(MachineLacks, match=r"constants\.clock_mhz"):
        flatten(load_chip("X", folder=tmp_path))
