"""Questions about a history are folds over its rollouts."""

from __future__ import annotations

from kernelwright.core.rollout import History
from kernelwright.core.value import Stage, Value, ValueView
from kernelwright.testing.samples import a_rollout, a_run, feasible, infeasible

RUN = a_run()


def test_an_empty_history_has_no_best() -> None:
    assert History().best() is None
    assert History().best_latency_us() is None
    assert History().start_points() == ()


def test_the_best_is_the_one_with_the_largest_ratio_not_the_shortest_time() -> None:
    quick_machine = a_rollout(RUN, 0, verdict=feasible(speedup=1.5, median_us=10.0))
    slow_machine = a_rollout(RUN, 1, verdict=feasible(speedup=2.0, median_us=40.0))
    history = History((quick_machine, slow_machine, a_rollout(RUN, 2, verdict=infeasible())))
    assert history.best() == slow_machine
    assert history.best_latency_us() == 40.0


def test_of_equally_fast_candidates_the_first_is_the_best() -> None:
    rollouts = tuple(a_rollout(RUN, at, verdict=feasible(speedup=2.0)) for at in range(3))
    assert History(rollouts).best() == rollouts[0]


def test_start_points_are_distinct_feasible_candidates_in_order() -> None:
    first = a_rollout(RUN, 0, verdict=feasible())
    failed = a_rollout(RUN, 1, verdict=infeasible())
    again = a_rollout(RUN, 2, verdict=feasible(speedup=3.0), candidate=first.candidate)
    second = a_rollout(RUN, 3, verdict=feasible())
    assert History((first, failed, again, second)).start_points() == (first, second)


def test_children_are_the_refinements_of_a_candidate_feasible_or_not() -> None:
    parent = a_rollout(RUN, 0, verdict=feasible())
    identity = parent.candidate.candidate_id
    good = a_rollout(RUN, 1, verdict=feasible(), start_point=identity)
    bad = a_rollout(RUN, 2, verdict=infeasible(), start_point=identity)
    other = a_rollout(RUN, 3, verdict=feasible(), start_point="other")
    assert History((parent, good, bad, other)).children_of(identity) == (good, bad)


def test_an_unseen_item_has_the_value_of_nothing_known() -> None:
    view = ValueView({(Stage.DRAFT, "a"): Value(0.5, 2)})
    assert view.of(Stage.DRAFT, "a") == Value(0.5, 2)
    assert view.of(Stage.REFINE, "a") == view.of(Stage.DRAFT, "b") == Value(0.0, 0)
    assert view.rewards_at(Stage.REFINE).count == 0
