"""Hacks that show in the text of a candidate, and the honest candidates they are made from."""

from __future__ import annotations

import pytest
from tests.adversarial.hacks_of_text import HACKS
from tests.adversarial.honest_candidates import CANDIDATES
from tests.adversarial.texts import KERNELS, honest

from kernelwright.backends.cpu.screening import screened
from kernelwright.core.candidate import Candidate
from kernelwright.core.task import OperandSpec, Role, Task


def _task(inputs: int) -> Task:
    names = ("x", "y")[:inputs]
    operands = tuple(OperandSpec(n, Role.INPUT, "tensor", "float32", (96, 515)) for n in names)
    return Task(name="task", source="", path="task.py", operands=operands)


@pytest.mark.parametrize("name", HACKS)
def test_the_screen_stops_a_hack_of_the_text(name: str) -> None:
    assert screened(Candidate.of("cpu", HACKS[name]), _task(1))


@pytest.mark.parametrize("name", KERNELS)
def test_the_screen_lets_the_honest_candidate_through(name: str) -> None:
    found = screened(Candidate.of("cpu", honest(name)), _task(2 if name == "cat" else 1))
    assert [finding.message for finding in found] == []


@pytest.mark.parametrize("name", CANDIDATES)
def test_the_screen_lets_a_suspicious_honest_candidate_through(name: str) -> None:
    task, files = CANDIDATES[name]
    names = ("x", "y") if task == "cat" else ("x",)
    operands = tuple(OperandSpec(n, Role.INPUT, "tensor", "float32", (64, 96)) for n in names)
    made = Task(name=task, source="", path="task.py", operands=operands)
    found = screened(Candidate.of("cpu", files), made)
    assert [finding.message for finding in found] == []
