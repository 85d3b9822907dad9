"""The contract of a strategy."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from kernelwright.core.ports import Strategy
from kernelwright.core.rollout import History, Proposal
from kernelwright.core.value import Stage, Value, ValueView
from kernelwright.testing.samples import (
    a_rollout,
    a_run,
    feasible,
    fold_by_steps,
    infeasible,
    some_rollouts,
)


class StrategyContract:
    """What holds for every strategy; define the fixture `strategy`."""

    @pytest.fixture
    def strategy(self) -> Strategy:
        """Return the strategy under test."""
        raise NotImplementedError("define the fixture `strategy`")

    def test_it_has_a_name(self, strategy: Strategy) -> None:
        assert strategy.name
        assert strategy.name == strategy.name.strip()

    def test_it_drafts_while_nothing_is_feasible(self, strategy: Strategy) -> None:
        run = a_run()
        failures = tuple(a_rollout(run, index, verdict=infeasible()) for index in range(5))
        for count in range(len(failures) + 1):
            proposal = _proposal(strategy, History(failures[:count]))
            assert proposal.stage is Stage.DRAFT

    def test_it_proposes_something_that_can_be_done(self, strategy: Strategy) -> None:
        for history, values in _situations():
            for seed in range(5):
                proposal = _proposal(strategy, history, values=values, seed=seed)
                starts = {rollout.candidate.candidate_id for rollout in history.start_points()}
                if proposal.stage is Stage.DRAFT:
                    assert proposal.start_point is None, "a draft has no start point"
                else:
                    assert proposal.start_point in starts, "a start point is feasible and known"

    def test_it_tells_people_why(self, strategy: Strategy) -> None:
        for history, values in _situations():
            why = _proposal(strategy, history, values=values).why
            assert why.strip()
            assert "\n" not in why

    def test_equal_arguments_give_equal_proposals(self, strategy: Strategy) -> None:
        situations = list(_situations())
        first = [_proposal(strategy, h, values=v, seed=3) for h, v in situations]
        # Backwards: a strategy that remembers what it was asked before would answer otherwise.
        again = [_proposal(strategy, h, values=v, seed=3) for h, v in reversed(situations)]
        assert first == again[::-1]

    def test_it_draws_from_the_given_random_source_only(self, strategy: Strategy) -> None:
        for history, values in _situations():
            random.seed(1)
            before = random.getstate()
            one = _proposal(strategy, history, values=values, seed=11)
            assert random.getstate() == before, "it drew from the global random source"
            random.seed(2)
            assert _proposal(strategy, history, values=values, seed=11) == one

    def test_values_of_other_items_do_not_matter_to_a_draft(self, strategy: Strategy) -> None:
        unrelated = ValueView({(Stage.REFINE, "nobody"): Value(0.9, 4)})
        assert _proposal(strategy, History(), values=unrelated).stage is Stage.DRAFT


def _proposal(
    strategy: Strategy, history: History, *, values: ValueView | None = None, seed: int = 0
) -> Proposal:
    return strategy.propose(history, values=values or ValueView(), rng=random.Random(seed))


def _situations() -> Iterator[tuple[History, ValueView]]:
    yield History(), ValueView()
    run = a_run()
    first = a_rollout(run, 0, verdict=feasible())
    yield History((first,)), ValueView()
    # The same candidate verified twice is one start point.
    again = a_rollout(run, 1, verdict=feasible(speedup=2.0), candidate=first.candidate)
    yield History((first, again)), ValueView()
    # Without a baseline there is no ratio, only a time.
    times = tuple(
        a_rollout(run, index, verdict=feasible(speedup=None, median_us=10.0 * (index + 1)))
        for index in range(3)
    )
    yield History(times), ValueView()
    for seed in range(6):
        rollouts = some_rollouts(run, 4 + 3 * seed, seed=seed)
        history = History(rollouts)
        yield history, fold_by_steps(rollouts)
        refined = {
            (Stage.REFINE, start.candidate.candidate_id): Value(0.1 * at - 0.3, at)
            for at, start in enumerate(history.start_points())
        }
        yield history, ValueView(refined)
