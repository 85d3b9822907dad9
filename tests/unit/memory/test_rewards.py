"""Rewards on examples one can compute by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from kernelwright.core.rollout import History, Proposal
from kernelwright.core.value import Stage
from kernelwright.memory.memory import ValueDrivenMemory
from kernelwright.memory.reward import log_gain, reward_for
from kernelwright.testing.samples import a_rollout, a_run, feasible, infeasible

DRAFT = Proposal(Stage.DRAFT)
REFINE = Proposal(Stage.REFINE, "start")


def test_a_feasible_draft_earns_one_however_slow_it_is() -> None:
    assert reward_for(Stage.DRAFT, feasible(speedup=0.01), best=None) == 1.0
    assert reward_for(Stage.DRAFT, feasible(speedup=0.01), best=feasible(speedup=9.0)) == 1.0


def test_twice_as_fast_earns_three_fifths() -> None:
    # tanh(log 2) = (2 - 1/2) / (2 + 1/2)
    earned = reward_for(Stage.REFINE, feasible(speedup=3.0), best=feasible(speedup=1.5))
    assert earned == pytest.approx(0.6)


def test_half_as_fast_costs_three_fifths() -> None:
    earned = reward_for(Stage.REFINE, feasible(speedup=0.75), best=feasible(speedup=1.5))
    assert earned == pytest.approx(-0.6)


def test_ratios_decide_where_both_have_one() -> None:
    ours = feasible(speedup=2.0, median_us=500.0)  # slower on the clock, on a slower machine
    best = feasible(speedup=1.0, median_us=100.0)
    assert log_gain(ours, best) == pytest.approx(math.log(2.0))


def test_times_decide_where_one_has_no_ratio() -> None:
    ours = feasible(speedup=2.0, median_us=500.0)
    best = feasible(speedup=None, median_us=100.0)
    assert log_gain(ours, best) == pytest.approx(math.log(0.2))


def test_ratios_against_different_baselines_are_not_compared() -> None:
    ours = feasible(speedup=2.0, median_us=50.0)
    ratio = replace(ours.speedups[0], baseline="another baseline")
    best = replace(feasible(speedup=4.0, median_us=100.0), speedups=(ratio,))
    assert log_gain(ours, best) == pytest.approx(math.log(2.0))


def test_a_warm_ratio_is_compared_with_a_warm_one() -> None:
    def both(cold: float, warm: float) -> tuple[object, ...]:
        one = feasible(speedup=warm).speedups[0]
        return (replace(one, median=cold, cache="cold"), one)

    ours = replace(feasible(), speedups=both(cold=9.0, warm=3.0)[1:])
    best = replace(feasible(), speedups=both(cold=5.0, warm=1.5))
    assert log_gain(ours, best) == pytest.approx(math.log(2.0))


def test_a_refinement_is_compared_with_the_best_before_it_not_with_its_start_point() -> None:
    run = a_run()
    history = History(
        (
            a_rollout(run, 0, verdict=feasible(speedup=1.0)),
            a_rollout(run, 1, verdict=feasible(speedup=2.0)),
            a_rollout(run, 2, verdict=infeasible()),
        )
    )
    slow_start = Proposal(Stage.REFINE, history.rollouts[0].candidate.candidate_id)
    earned = ValueDrivenMemory().reward(slow_start, feasible(speedup=2.0), history)
    assert earned == pytest.approx(0.0)


def test_a_refinement_without_anything_feasible_before_it_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="there is none"):
        ValueDrivenMemory().reward(REFINE, feasible(), History())


def test_an_infeasible_refinement_needs_no_best() -> None:
    assert ValueDrivenMemory().reward(REFINE, infeasible(), History()) == -1.0


def test_a_draft_needs_no_history() -> None:
    assert ValueDrivenMemory().reward(DRAFT, feasible(), History()) == 1.0
