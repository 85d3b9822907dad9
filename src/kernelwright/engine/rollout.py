"""One rollout, the sentence of the whole product:

task -> propose -> retrieve context -> generate -> verify through gates -> reward -> record, learn
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from kernelwright.core.budget import Usage
from kernelwright.core.candidate import Candidate
from kernelwright.core.fingerprint import fingerprint
from kernelwright.core.ports import (
    GenerationRequest,
    Generator,
    Memory,
    Store,
    Strategy,
    Verifier,
)
from kernelwright.core.rollout import History, Rollout
from kernelwright.core.run import Run
from kernelwright.core.task import Task
from kernelwright.engine.events import GateStarted, Listener, Proposed, RolloutRecorded


@dataclass(frozen=True, slots=True)
class Crew:
    """Everyone who takes part in a rollout; the composition root puts it together.

    Attributes:
        strategy: Decides what to try.
        memory: Chooses the context and learns.
        generator: Writes the candidate.
        verifier: Judges the candidate.
        store: Keeps the rollout.
        versions: (name, version) of all of them, recorded with every rollout.
        clock: Seconds since 1970-01-01 UTC.
    """

    strategy: Strategy
    memory: Memory
    generator: Generator
    verifier: Verifier
    store: Store
    versions: tuple[tuple[str, str], ...]
    clock: Callable[[], float]


def perform(crew: Crew, run: Run, task: Task, history: History, *, tell: Listener) -> Rollout:
    """Perform and record the next rollout of a run.

    Nothing is recorded unless everything is: an interrupt before `store.append` returns leaves the
    log as it was, and the rollout is performed again, with the same seed, when the run resumes.

    Raises:
        NotCovered: if the generator cannot write a kernel for the task, or has nothing new.
        StoreConflict: if another process recorded a different rollout at this index.
    """
    index = len(history.rollouts)
    seed = rollout_seed(run.seed, index)
    rng = random.Random(seed)
    started_at = crew.clock()

    values = crew.store.values()
    proposal = crew.strategy.propose(history, values=values, rng=rng)
    tell(Proposed(index, proposal))
    items = crew.store.items(backend=run.backend)
    context = crew.memory.retrieve(task, proposal, items=items, values=values, rng=rng)
    start_point = _candidate(history, proposal.start_point)
    request = GenerationRequest(task, run.backend, proposal, context, start_point, history)
    made = crew.generator.generate(request, rng=rng)

    verdict = crew.verifier.verify(
        made.candidate, on_gate=lambda gate: tell(GateStarted(index, gate))
    )
    rollout = Rollout(
        rollout_id=f"{run.run_id}/{index:05d}",
        run_id=run.run_id,
        task_id=task.task_id,
        index=index,
        proposal=proposal,
        context=tuple(item.item_id for item in context),
        candidate=made.candidate,
        verdict=verdict,
        reward=crew.memory.reward(proposal, verdict, history),
        usage=made.usage + Usage(seconds=crew.clock() - started_at),
        seed=seed,
        versions=crew.versions,
        started_at=started_at,
    )
    crew.store.append(rollout, crew.memory.learn)
    tell(RolloutRecorded(rollout, History((*history.rollouts, rollout))))
    return rollout


def rollout_seed(run_seed: int, index: int) -> int:
    """Return the seed of a rollout: fixed by the run's seed and the place in the run."""
    return int(fingerprint(["rollout", run_seed, index], length=12), 16)


def _candidate(history: History, candidate_id: str | None) -> Candidate | None:
    if candidate_id is None:
        return None
    found = (r.candidate for r in history.start_points())
    return next(c for c in found if c.candidate_id == candidate_id)
