"""Which workloads are planned, in what order."""

from __future__ import annotations

from kernelwright.core.execution import Distribution, ParameterDraw, Workload
from kernelwright.tasks.plan import Traits, kinds, planned

FULL = kinds(Traits(True, True, True, (("rows", 3),)))
SEEDS = tuple(range(100, 112))


def labels(workloads: tuple[Workload, ...]) -> list[str]:
    return [workload.label for workload in workloads]


def test_the_first_workload_is_the_official_one() -> None:
    first = planned(SEEDS, FULL, lambda _: True)[0]
    assert first == Workload(seed=100)


def test_every_kind_is_planned_once_and_then_over_again() -> None:
    plan = planned(SEEDS, FULL, lambda _: True)
    assert len(plan) == len(SEEDS)
    assert [workload.seed for workload in plan] == list(SEEDS)
    assert len(set(labels(plan))) == 8
    assert {workload.distribution for workload in plan} == set(Distribution)
    assert any(workload.is_strided for workload in plan)
    assert any(workload.sizes for workload in plan)


def test_few_seeds_get_the_kinds_that_find_most() -> None:
    assert labels(planned(SEEDS[:3], FULL, lambda _: True)) == [
        "official",
        "signed, randomised parameters",
        "official, randomised parameters, edge shape rows=3",
    ]


def test_an_unfair_kind_gives_way_to_its_alternative_and_then_to_the_next_kind() -> None:
    plan = planned(SEEDS[:3], FULL, lambda w: w.distribution is Distribution.OFFICIAL)
    assert labels(plan)[:2] == ["official", "official, randomised parameters"]
    none = planned(SEEDS[:3], FULL, lambda _: False)
    assert labels(none) == ["official"] * 3


def test_no_more_kinds_are_tried_than_there_are_seeds() -> None:
    asked: list[Workload] = []

    def is_fair(workload: Workload) -> bool:
        asked.append(workload)
        return True

    planned(SEEDS[:2], FULL, is_fair)
    assert len(asked) == 1


def test_integer_tasks_get_no_other_distribution() -> None:
    plan = planned(SEEDS, kinds(Traits(False, False, True)), lambda _: True)
    assert {workload.distribution for workload in plan} == {Distribution.OFFICIAL}
    assert {workload.parameters for workload in plan} == {ParameterDraw.OFFICIAL}
