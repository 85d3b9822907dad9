"""Small questions that tasks, workloads, admissions and targets answer about themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.core.errors import UnknownName
from kernelwright.core.execution import (
    Admission,
    Distribution,
    Kill,
    ParameterDraw,
    Workload,
)
from kernelwright.core.target import load_target
from kernelwright.core.task import Role
from kernelwright.testing.samples import a_task


def test_operands_are_found_by_role() -> None:
    task = a_task()
    assert [spec.name for spec in task.by_role(Role.INPUT)] == ["x"]
    assert [spec.name for spec in task.by_role(Role.OUTPUT)] == ["output[0]"]
    assert task.by_role(Role.PARAMETER) == ()


def test_a_label_tells_workloads_apart_without_giving_away_the_seed() -> None:
    assert Workload(12345).label == "official"
    odd = Workload(
        12345, Distribution.TIES, ParameterDraw.RANDOMISED, is_strided=True, sizes=(("rows", 7),)
    )
    assert odd.label == "ties, randomised parameters, strided, edge shape rows=7"


def test_a_task_is_powerful_when_every_mutant_that_applies_was_killed() -> None:
    dead, alive = Kill("zeros", True, "official"), Kill("wrong_axis", False, "equal everywhere")
    assert Admission((dead, dead), ()).is_powerful
    half = Admission((dead, alive), ())
    assert (half.killed, half.is_powerful) == (1, False)


def test_a_target_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "chip.toml").write_text("[memory]\nub_bytes = 196608\n")
    assert load_target("chip", folder=tmp_path).facts == {"memory": {"ub_bytes": 196608}}


def test_an_unknown_target_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "chip.toml").write_text("")
    with pytest.raises(UnknownName, match=r"no target called 'chop'\nfix: known: chip"):
        load_target("chop", folder=tmp_path)
