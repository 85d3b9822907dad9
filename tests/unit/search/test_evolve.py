"""The strategy `evolve` on short histories."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kernelwright.core.rollout import History, Rollout
from kernelwright.core.value import Stage, Value, ValueView
from kernelwright.search.evolve import Evolve
from kernelwright.testing.samples import a_rollout, a_run, feasible, infeasible

RUN = a_run()
GREEDY = Evolve(epsilon=0.0)


def course(*speedups: float | None) -> History:
    """Return a history with one rollout a speed-up; None is an infeasible one."""
    return History(
        tuple(
            a_rollout(RUN, at, verdict=infeasible() if speed is None else feasible(speedup=speed))
            for at, speed in enumerate(speedups)
        )
    )


def identity(rollout: Rollout) -> str:
    return rollout.candidate.candidate_id


def worth(history: History, values: dict[int, float]) -> ValueView:
    """Return refine values of the candidates at the given places."""
    return ValueView(
        {
            (Stage.REFINE, identity(history.rollouts[at])): Value(mean, 1)
            for at, mean in values.items()
        }
    )


def chosen(history: History, values: ValueView | None = None, strategy: Evolve = GREEDY) -> int:
    proposal = strategy.propose(history, values=values or ValueView(), rng=random.Random(0))
    assert proposal.stage is Stage.REFINE
    places = {identity(rollout): rollout.index for rollout in history.rollouts}
    return places[proposal.start_point or ""]


def test_it_drafts_until_something_is_feasible_and_then_refines() -> None:
    stages = [
        GREEDY.propose(history, values=ValueView(), rng=random.Random(0)).stage
        for history in (course(), course(None, None), course(None, None, 0.2))
    ]
    assert stages == [Stage.DRAFT, Stage.DRAFT, Stage.REFINE]


def test_of_unseen_start_points_the_fastest_comes_first() -> None:
    assert chosen(course(1.0, 3.0, None, 2.0)) == 1


def test_without_a_baseline_the_shortest_time_comes_first() -> None:
    rollouts = [
        a_rollout(RUN, at, verdict=feasible(speedup=None, median_us=time))
        for at, time in enumerate((30.0, 10.0, 20.0))
    ]
    assert chosen(History(tuple(rollouts))) == 1


def test_of_equals_the_earlier_comes_first() -> None:
    assert chosen(course(None, 2.0, 2.0)) == 1


def test_the_refine_value_decides_between_start_points_that_were_refined() -> None:
    history = course(1.0, 3.0, 2.0)
    assert chosen(history, worth(history, {0: 0.3, 1: -0.2, 2: 0.1})) == 0


def test_a_draft_value_of_a_candidate_does_not_matter() -> None:
    history = course(1.0, 3.0)
    draft = ValueView({(Stage.DRAFT, identity(history.rollouts[0])): Value(1.0, 5)})
    assert chosen(history, draft) == 1


def test_a_new_start_point_near_the_best_is_tried_before_one_that_disappointed() -> None:
    history = course(2.0, 1.9)
    assert chosen(history, worth(history, {0: -0.1})) == 1


def test_a_start_point_that_pays_is_not_left_for_a_new_one() -> None:
    history = course(2.0, 1.9)
    assert chosen(history, worth(history, {0: 0.8})) == 0


def test_being_new_is_not_enough_far_behind_the_best() -> None:
    history = course(4.0, 0.4)
    assert chosen(history, worth(history, {0: -0.1})) == 0


def test_the_same_candidate_measured_again_is_one_start_point() -> None:
    first = a_rollout(RUN, 0, verdict=feasible(speedup=1.0))
    again = a_rollout(RUN, 1, verdict=feasible(speedup=1.1), candidate=first.candidate)
    strategy = Evolve(epsilon=1.0)
    proposal = strategy.propose(History((first, again)), values=ValueView(), rng=random.Random(0))
    assert proposal.why == "a random one of 1 start points"


def test_epsilon_is_the_share_of_random_choices() -> None:
    history = course(1.0, 4.0, 2.0, 3.0)
    rng = random.Random(7)
    strategy = Evolve(epsilon=0.4)
    counts = Counter(
        strategy.propose(history, values=ValueView(), rng=rng).start_point for _ in range(4000)
    )
    assert counts[identity(history.rollouts[1])] / 4000 == pytest.approx(0.7, abs=0.03)
    assert counts[identity(history.rollouts[0])] / 4000 == pytest.approx(0.1, abs=0.02)


def test_it_says_what_the_choice_rests_on() -> None:
    history = course(1.0, 3.0)
    why = GREEDY.propose(history, values=worth(history, {0: 0.9}), rng=random.Random(0)).why
    assert why == "the most promising of 2: worth 0.90, refined 1 times before"


@pytest.mark.parametrize("epsilon", [-0.1, 1.1])
def test_a_probability_outside_zero_to_one_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        Evolve(epsilon=epsilon)
