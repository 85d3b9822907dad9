"""The loop on real memory, strategy and store, with a scripted generator and verifier."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.core.budget import Budget, Usage
from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import NotCovered
from kernelwright.core.ports import Generation, GenerationRequest
from kernelwright.core.run import Run, RunStatus
from kernelwright.core.task import Task
from kernelwright.core.value import Stage
from kernelwright.core.verdict import (
    Category,
    Feasible,
    GateName,
    Infeasible,
    Latency,
    LatencySource,
    Ratio,
    Verdict,
)
from kernelwright.engine.campaign import work
from kernelwright.engine.events import Event, Proposed, RolloutRecorded, RunEnded, RunStarted
from kernelwright.engine.rollout import Crew
from kernelwright.memory.memory import ValueDrivenMemory
from kernelwright.search.evolve import Evolve
from kernelwright.store.sqlite import SqliteStore

TASK = Task(name="square", source="class Model: ...", path="square.py")


class CountingGenerator:
    """Writes candidates whose only content is a random number; stops after `last` of them."""

    name = "counting"

    def __init__(self, *, last: int = 1000) -> None:
        self.last = last

    def versions(self) -> Mapping[str, str]:
        return {"counting": "1"}

    def generate(self, request: GenerationRequest, *, rng: random.Random) -> Generation:
        if len(request.history.rollouts) >= self.last:
            raise NotCovered("every schedule was tried", fix="nothing is left to do")
        files = {"kernel.cpp": str(rng.random())}
        parent = None if request.start_point is None else request.start_point.candidate_id
        return Generation(Candidate.of("cpu", files, parent=parent), Usage(input_tokens=10))


class ScriptedVerifier:
    """Gives one verdict after the other, whatever the candidate."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self._verdicts = itertools.cycle(verdicts)

    def verify(
        self, candidate: Candidate, *, on_gate: Callable[[GateName], None] | None = None
    ) -> Verdict:
        if on_gate is not None:
            on_gate(GateName.SCREEN)
        return next(self._verdicts)


class Interrupting:
    """A verifier that is interrupted at its n-th candidate, as by Ctrl-C."""

    def __init__(self, inner: ScriptedVerifier, *, at: int) -> None:
        self._inner, self._left = inner, at

    def verify(
        self, candidate: Candidate, *, on_gate: Callable[[GateName], None] | None = None
    ) -> Verdict:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt
        return self._inner.verify(candidate, on_gate=on_gate)


WRONG = Infeasible(GateName.COMPILE, "expected ';'", Category.COMPILE_ERROR)


def fast(us: float) -> Feasible:
    return Feasible(Latency(us, us, 0.1, LatencySource.MEASURED))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "store.db")
    yield opened
    opened.close()


def crew(store: SqliteStore, verdicts: Sequence[Verdict], *, last: int = 1000) -> Crew:
    ticks = itertools.count()
    return Crew(
        strategy=Evolve(),
        memory=ValueDrivenMemory(),
        generator=CountingGenerator(last=last),
        verifier=ScriptedVerifier(verdicts),
        store=store,
        versions=(("test", "1"),),
        clock=lambda: float(next(ticks)),
    )


def begun(store: SqliteStore, *, rollouts: int, run_id: str = "square-1") -> Run:
    run = Run(run_id, "key", TASK.task_id, TASK.name, "cpu", (), Budget(rollouts=rollouts), seed=7)
    return store.begin(run)


def test_it_drafts_until_something_is_feasible_and_then_refines(store: SqliteStore) -> None:
    run = begun(store, rollouts=5)
    history = work(crew(store, [WRONG, WRONG, fast(9.0), fast(8.0)]), run, TASK, tell=_ignore)
    stages = [rollout.proposal.stage for rollout in history.rollouts]
    assert stages == [Stage.DRAFT] * 3 + [Stage.REFINE] * 2


def test_the_rewards_are_those_of_the_paper(store: SqliteStore) -> None:
    run = begun(store, rollouts=3)
    history = work(crew(store, [WRONG, fast(10.0), fast(5.0)]), run, TASK, tell=_ignore)
    # tanh(log 10 - log 5) = tanh(log 2) = (2 - 1/2) / (2 + 1/2)
    assert [r.reward for r in history.rollouts] == pytest.approx([-1.0, 1.0, 0.6])


def test_an_interrupt_loses_no_finished_rollout_and_resuming_repeats_the_rest(
    store: SqliteStore, tmp_path: Path
) -> None:
    verdicts = [WRONG, fast(10.0), fast(9.0), fast(8.0), fast(12.0)]
    run = begun(store, rollouts=5)
    stopped = replace(
        crew(store, verdicts), verifier=Interrupting(ScriptedVerifier(verdicts), at=3)
    )
    with pytest.raises(KeyboardInterrupt):
        work(stopped, run, TASK, tell=_ignore)
    assert len(store.history(run.run_id).rollouts) == 2
    resumed = work(crew(store, verdicts[2:]), run, TASK, tell=_ignore)

    whole_store = SqliteStore(tmp_path / "whole.db")
    whole = work(crew(whole_store, verdicts), begun(whole_store, rollouts=5), TASK, tell=_ignore)
    whole_store.close()
    assert [r.candidate for r in resumed.rollouts] == [r.candidate for r in whole.rollouts]
    assert [r.context for r in resumed.rollouts] == [r.context for r in whole.rollouts]
    assert store.values() == ValueDrivenMemory().fold(whole.rollouts)


def test_a_spent_budget_does_nothing_and_a_larger_one_continues(store: SqliteStore) -> None:
    run = begun(store, rollouts=2)
    work(crew(store, [fast(9.0)]), run, TASK, tell=_ignore)
    heard: list[Event] = []
    work(crew(store, [fast(9.0)]), run, TASK, tell=heard.append)
    assert [type(event) for event in heard] == [RunStarted, RunEnded]
    larger = Run(*(getattr(run, n) for n in _KEPT), budget=Budget(rollouts=4), seed=run.seed)
    assert len(work(crew(store, [fast(9.0)]), larger, TASK, tell=_ignore).rollouts) == 4


_KEPT = ("run_id", "key", "task_id", "task_name", "backend", "options")


def test_a_finished_run_is_marked_so(store: SqliteStore) -> None:
    run = begun(store, rollouts=1)
    work(crew(store, [WRONG]), run, TASK, tell=_ignore)
    assert store.runs()[0].status is RunStatus.FINISHED


def test_a_run_that_continues_is_active_with_its_new_budget(store: SqliteStore) -> None:
    run = begun(store, rollouts=1)
    work(crew(store, [WRONG]), run, TASK, tell=_ignore)
    larger = Run(*(getattr(run, n) for n in _KEPT), budget=Budget(rollouts=3), seed=run.seed)
    first = crew(store, [WRONG])
    stopped = replace(first, verifier=Interrupting(ScriptedVerifier([WRONG]), at=1))
    with pytest.raises(KeyboardInterrupt):
        work(stopped, larger, TASK, tell=_ignore)
    (kept,) = store.runs()
    assert (kept.status, kept.budget.rollouts) == (RunStatus.ACTIVE, 3)


def test_a_generator_with_nothing_new_ends_the_run(store: SqliteStore) -> None:
    heard: list[Event] = []
    run = begun(store, rollouts=9)
    history = work(crew(store, [fast(3.0)], last=2), run, TASK, tell=heard.append)
    assert len(history.rollouts) == 2
    ended = heard[-1]
    assert isinstance(ended, RunEnded)
    assert ended.why == "every schedule was tried"


def test_a_task_that_no_candidate_can_be_written_for_is_said_to_be_so(store: SqliteStore) -> None:
    with pytest.raises(NotCovered, match="every schedule was tried"):
        work(crew(store, [WRONG], last=0), begun(store, rollouts=3), TASK, tell=_ignore)


def test_tokens_of_earlier_rollouts_count_against_the_budget(store: SqliteStore) -> None:
    run = Run("square-1", "key", TASK.task_id, TASK.name, "cpu", (), Budget(tokens=25), seed=7)
    history = work(crew(store, [WRONG]), store.begin(run), TASK, tell=_ignore)
    assert len(history.rollouts) == 3


def test_a_rollout_is_told_only_after_it_is_kept(store: SqliteStore) -> None:
    run = begun(store, rollouts=2)

    def check(event: Event) -> None:
        if isinstance(event, RolloutRecorded):
            kept = store.history(run.run_id)
            assert kept.rollouts[-1] == event.rollout
            assert kept == event.history
        if isinstance(event, Proposed):
            assert len(store.history(run.run_id).rollouts) == event.index

    work(crew(store, [fast(3.0)]), run, TASK, tell=check)


def test_the_best_is_the_largest_paired_ratio_not_the_smallest_time(store: SqliteStore) -> None:
    # The machine was twice as fast during the second rollout, for baseline and candidate alike.
    steady, lucky = timed(10.0, ratio=2.0), timed(6.0, ratio=1.5)
    history = work(crew(store, [steady, lucky]), begun(store, rollouts=2), TASK, tell=_ignore)
    best = history.best()
    assert best is not None
    assert best.verdict == steady
    assert history.rollouts[1].reward < 0


def timed(us: float, *, ratio: float) -> Feasible:
    speedup = Ratio(ratio, ratio, ratio, 9, 0.01, "warm", "eager")
    latency = Latency(us, us, 0.1, LatencySource.MEASURED)
    return Feasible(latency, Latency(us * ratio, 1, 1, LatencySource.MEASURED), (speedup,))


def _ignore(event: Event) -> None:
    del event
