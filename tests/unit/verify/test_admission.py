"""Admission: whether a task can tell right from wrong, before anybody is judged by it."""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from kernelwright.core.errors import TaskInvalid
from kernelwright.core.execution import (
    Distribution,
    Expected,
    MutantOutput,
    ParameterDraw,
    Workload,
)
from kernelwright.core.task import Tolerance
from kernelwright.verify.admission import admit, summary
from kernelwright.verify.plan import arranged, planned
from unit.verify.small_task import Array, SmallOracle, array, scaled_softmax, tensor


def test_a_task_with_power_kills_every_mutant_that_applies() -> None:
    admission = admit(SmallOracle(), Tolerance.STRICT, random.Random(1))
    assert admission.is_powerful
    assert summary(admission) == "kills 4/4"
    assert admission.redraws == 0
    assert admission.not_applicable == (("wrong_axis", "no operation takes an axis"),)


def test_the_workload_that_killed_a_mutant_is_named() -> None:
    admission = admit(SmallOracle(), Tolerance.STRICT, random.Random(1))
    by_name = {kill.mutant: kill.killed_by for kill in admission.kills}
    assert by_name["zeros"] == "official"
    assert by_name["ignored_weight"] == "signed, randomised parameters"


def test_a_loose_rule_is_found_to_accept_zeros_and_the_task_is_flagged_not_refused() -> None:
    def small(x: Array, weight: Array) -> Array:
        return scaled_softmax(x, weight) * 1e-3

    admission = admit(SmallOracle(function=small), Tolerance.EVOKERNEL, random.Random(1))
    assert not admission.is_powerful
    assert admission.redraws == 2
    assert summary(admission) == (
        "kills 0/4; this task cannot tell these from a right answer: "
        "zeros, other_input, half_precision, ignored_weight"
    )
    alive = next(kill for kill in admission.kills if kill.mutant == "zeros")
    assert alive.killed_by.startswith("accepted on all ")


class Clamped(SmallOracle):
    """A task whose official inputs say nothing: what is above -2 becomes -2, all of them are."""

    def workloads(self, seeds: list[int]) -> tuple[Workload, ...]:  # type: ignore[override]
        return tuple(Workload(seed) for seed in seeds[:2])


def clamped(x: Array, weight: Array) -> Array:
    return (np.minimum(x, -2.0) * weight).astype(x.dtype)


def test_inputs_are_drawn_again_until_a_degenerate_task_shows_its_function() -> None:
    admission = admit(Clamped(function=clamped), Tolerance.STRICT, random.Random(1))
    killed = {kill.mutant: kill for kill in admission.kills}
    assert killed["other_input"].is_killed
    assert admission.redraws == 1
    added = {workload.distribution for workload in admission.workloads}
    assert added > {Distribution.OFFICIAL}


class Picky(Clamped):
    """Takes nothing but its official inputs."""

    def expected(self, workload: Workload) -> Expected:
        if workload.distribution is not Distribution.OFFICIAL:
            raise TaskInvalid("the reference raises", path="task.py", fix="none")
        return super().expected(workload)


def test_inputs_that_the_reference_does_not_take_are_not_chosen() -> None:
    admission = admit(Picky(function=clamped), Tolerance.STRICT, random.Random(1))
    assert {workload.distribution for workload in admission.workloads} == {Distribution.OFFICIAL}
    assert not admission.is_powerful


class Sometimes(SmallOracle):
    """Has a mutant that only the second workload can have."""

    def mutants(self, workload: Workload) -> tuple[MutantOutput, ...]:
        zeros = tensor(np.zeros_like(array(self.expected(workload).outputs)))
        if workload.distribution is Distribution.SIGNED:
            return (MutantOutput("tail", zeros),)
        return (MutantOutput("tail", None, "every tile is whole"),)


def test_a_mutant_that_applies_to_one_workload_counts() -> None:
    admission = admit(Sometimes(), Tolerance.STRICT, random.Random(1))
    assert admission.not_applicable == ()
    assert [(kill.mutant, kill.is_killed) for kill in admission.kills] == [("tail", True)]


def test_a_verification_uses_the_admitted_kinds_with_seeds_of_its_own() -> None:
    oracle = SmallOracle()
    chosen = admit(oracle, Tolerance.STRICT, random.Random(1)).workloads
    plan = planned(oracle, chosen, random.Random(2))
    assert [workload.label for workload in plan] == [workload.label for workload in chosen]
    assert not {workload.seed for workload in plan} & {workload.seed for workload in chosen}


def test_a_large_task_judges_distributions_at_the_edge_shape() -> None:
    edge = (("rows", 3),)
    plan = (
        Workload(1),
        Workload(2, Distribution.SIGNED, ParameterDraw.RANDOMISED),
        Workload(3, sizes=edge),
        Workload(4, Distribution.LARGE),
        Workload(5, Distribution.TIES),
        Workload(6),
    )
    oracle = SmallOracle()
    assert {bool(workload.sizes) for workload in arranged(plan, oracle.task)[:-1]} == {False}
    large = dataclasses.replace(oracle.task, input_bytes=64 << 20)
    assert [workload.label for workload in arranged(plan, large)] == [
        "official",
        "official, edge shape rows=3",
        "large, edge shape rows=3",
        "ties, edge shape rows=3",
        "signed, randomised parameters",
    ]
