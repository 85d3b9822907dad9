"""The contracts refuse what they are there to refuse: each broken extension fails one test of them.

A contract that lets everything pass would look the same from the outside.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from kernelwright.core.budget import Usage
from kernelwright.core.candidate import Candidate
from kernelwright.core.ports import (
    Generation,
    GenerationRequest,
    Learn,
    Lesson,
    Model,
    ModelReply,
    Store,
    Strategy,
)
from kernelwright.core.rollout import History, Proposal, Rollout
from kernelwright.core.value import Stage, ValueView
from kernelwright.search.evolve import Evolve
from kernelwright.store.sqlite import SqliteStore
from kernelwright.testing import (
    GeneratorCase,
    GeneratorContract,
    ModelCase,
    ModelContract,
    StoreContract,
    StrategyContract,
)
from kernelwright.testing.samples import a_task, an_item

# --- strategies ---


class _Evolve:
    name = "broken"

    def propose(self, history: History, *, values: ValueView, rng: random.Random) -> Proposal:
        return Evolve().propose(history, values=values, rng=rng)


class UsesGlobalRandomness(_Evolve):
    def propose(self, history: History, *, values: ValueView, rng: random.Random) -> Proposal:
        random.random()
        return super().propose(history, values=values, rng=rng)


class Remembers(_Evolve):
    def __init__(self) -> None:
        self._asked = 0

    def propose(self, history: History, *, values: ValueView, rng: random.Random) -> Proposal:
        self._asked += 1
        proposal = super().propose(history, values=values, rng=rng)
        return replace(proposal, why=f"{proposal.why}, question {self._asked}")


class RefinesWhatFailed(_Evolve):
    def propose(self, history: History, *, values: ValueView, rng: random.Random) -> Proposal:
        if not history.feasible():
            return super().propose(history, values=values, rng=rng)
        last = history.rollouts[-1].candidate.candidate_id
        return Proposal(Stage.REFINE, last, "the last one")


class RefinesNothing(_Evolve):
    def propose(self, history: History, *, values: ValueView, rng: random.Random) -> Proposal:
        return Proposal(Stage.REFINE, None, "whatever")


CONTRACT = StrategyContract()


@pytest.mark.parametrize(
    ("strategy", "refused_by"),
    [
        (UsesGlobalRandomness(), CONTRACT.test_it_draws_from_the_given_random_source_only),
        (Remembers(), CONTRACT.test_equal_arguments_give_equal_proposals),
        (RefinesWhatFailed(), CONTRACT.test_it_proposes_something_that_can_be_done),
        (RefinesNothing(), CONTRACT.test_it_drafts_while_nothing_is_feasible),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_a_broken_strategy_is_refused(
    strategy: Strategy, refused_by: Callable[[Strategy], None]
) -> None:
    with pytest.raises(AssertionError):
        refused_by(strategy)


# --- stores ---


class LearnsBeforeTheTransaction(SqliteStore):
    """Reads the values, computes, and writes them later: the classic lost update."""

    def append(self, rollout: Rollout, learn: Learn) -> Lesson:
        lesson = learn(rollout, values=self.values())
        time.sleep(0.005)  # long enough for the other writer, whatever the machine does

        def as_computed(rollout: Rollout, *, values: ValueView) -> Lesson:
            return lesson

        return super().append(rollout, as_computed)


class ForgetsToUndo(SqliteStore):
    """Records the rollout first and learns in a second transaction."""

    def append(self, rollout: Rollout, learn: Learn) -> Lesson:
        super().append(rollout, lambda rollout, *, values: Lesson())
        return learn(rollout, values=self.values())


class KeepsOldValuesOnPrune(SqliteStore):
    def prune(self, run_id: str, learn: Learn) -> int:
        values = self.values()
        count = super().prune(run_id, learn)
        self.values = lambda: values  # type: ignore[method-assign]
        return count


STORE = StoreContract()


@pytest.mark.parametrize(
    ("kind", "refused_by"),
    [
        (ForgetsToUndo, STORE.test_a_lesson_that_fails_leaves_no_trace_of_its_rollout),
        (ForgetsToUndo, STORE.test_live_values_are_the_fold_of_the_log),
        (KeepsOldValuesOnPrune, STORE.test_a_prune_leaves_the_values_of_the_rest),
    ],
    ids=lambda value: value.__name__,
)
def test_a_broken_store_is_refused(
    kind: type[SqliteStore], refused_by: Callable[[Store], None], tmp_path: Path
) -> None:
    store = kind(tmp_path / "store.db")
    with pytest.raises(AssertionError):
        refused_by(store)
    store.close()


def test_a_store_that_loses_updates_is_refused(tmp_path: Path) -> None:
    def opener() -> Store:
        return LearnsBeforeTheTransaction(tmp_path / "store.db")

    store = opener()
    with pytest.raises(AssertionError):
        STORE.test_two_writers_lose_no_update(opener, store)
    store.close()


# --- generators ---


@dataclass
class Careless:
    """Breaks one promise of a generator, by name."""

    promise: str
    made: list[Candidate] = field(default_factory=list)
    name: str = "careless"

    def versions(self) -> dict[str, str]:
        return {} if self.promise == "versions" else {"careless": "1"}

    def generate(self, request: GenerationRequest, *, rng: random.Random) -> Generation:
        if self.promise == "source":
            random.random()
        text = f"{len(self.made)}" if self.promise == "equal" else "the same"
        candidate = Candidate.of(
            "other" if self.promise == "backend" else request.backend,
            {"kernel.cpp": text},
            origin="me" if self.promise == "origin" else self.name,
            parent=request.proposal.start_point,
            context=() if self.promise == "context" else tuple(i.item_id for i in request.context),
        )
        self.made.append(candidate)
        return Generation(candidate)


GENERATOR = GeneratorContract()


@pytest.mark.parametrize(
    ("promise", "refused_by"),
    [
        ("versions", GENERATOR.test_it_names_itself_and_what_can_change_its_work),
        ("backend", GENERATOR.test_a_candidate_is_written_for_the_backend),
        ("origin", GENERATOR.test_a_candidate_says_where_it_came_from),
        ("context", GENERATOR.test_a_candidate_says_where_it_came_from),
        ("equal", GENERATOR.test_equal_requests_and_random_states_give_equal_candidates),
        ("source", GENERATOR.test_it_draws_from_the_given_random_source_only),
    ],
)
def test_a_careless_generator_is_refused(
    promise: str, refused_by: Callable[[GeneratorCase], None]
) -> None:
    request = GenerationRequest(
        a_task(), "cpu", Proposal(Stage.DRAFT), (an_item(),), None, History()
    )
    case = GeneratorCase(Careless(promise), Careless(promise), request, request)
    with pytest.raises(AssertionError):
        refused_by(case)
    careful = GeneratorCase(Careless(""), Careless(""), request, request)
    refused_by(careful)


# --- models ---


class AnswersForAnother:
    """Makes something up where it should say that it cannot be reached."""

    name = "some:model"

    def complete(self, *, system: str, prompt: str, seed: int | None = None) -> ModelReply:
        return ModelReply("yes", Usage(input_tokens=1, output_tokens=1))


class SpendsInSecret(AnswersForAnother):
    def complete(self, *, system: str, prompt: str, seed: int | None = None) -> ModelReply:
        return ModelReply("yes")


def test_a_model_that_hides_its_absence_is_refused() -> None:
    model: Model = AnswersForAnother()
    case = ModelCase(model, model)
    # `pytest.raises` inside the contract fails the test, which is no AssertionError.
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        ModelContract().test_one_that_cannot_be_reached_says_how_to_fix_it(case)


def test_a_model_that_hides_what_it_spends_is_refused() -> None:
    case = ModelCase(SpendsInSecret(), SpendsInSecret())
    with pytest.raises(AssertionError):
        ModelContract().test_it_says_what_it_spent(case)
