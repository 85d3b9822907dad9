"""Rollouts and histories: the append-only log that is the only state of the system."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.core.budget import Usage
from kernelwright.core.candidate import Candidate
from kernelwright.core.value import Stage
from kernelwright.core.verdict import Feasible, Verdict


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a strategy asks for.

    Attributes:
        stage: Draft a new candidate, or refine a feasible one.
        start_point: Identity of the candidate to refine; None when drafting.
        why: One sentence for people: how the choice was made.
    """

    stage: Stage
    start_point: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One pass: propose, retrieve, generate, verify, reward. Immutable once recorded.

    Attributes:
        rollout_id: `<run_id>/<index>`, with the index zero-padded to five digits.
        run_id: Run it belongs to.
        task_id: Task it was about.
        index: Place in its run, from 0.
        proposal: What the strategy asked for.
        context: Identities of the memory items that the generator was shown, in order.
        candidate: What the generator made.
        verdict: What the gates said.
        reward: In [-1, 1]; EvoKernel eq. 5 and 6.
        usage: What it spent.
        seed: Seed of the random source that drove proposal, retrieval and generation.
        versions: (name, version) of everything that could change the outcome.
        started_at: Seconds since 1970-01-01 UTC, by the clock that was passed in.
    """

    rollout_id: str
    run_id: str
    task_id: str
    index: int
    proposal: Proposal
    context: tuple[str, ...]
    candidate: Candidate
    verdict: Verdict
    reward: float
    usage: Usage
    seed: int
    versions: tuple[tuple[str, str], ...] = ()
    started_at: float = 0.0


@dataclass(frozen=True, slots=True)
class History:
    """The rollouts of one task in one run, in order; every question about it is a fold."""

    rollouts: tuple[Rollout, ...] = ()

    def feasible(self) -> tuple[Rollout, ...]:
        """Return the rollouts whose candidate passed every gate."""
        return tuple(r for r in self.rollouts if isinstance(r.verdict, Feasible))

    def best(self) -> Rollout | None:
        """Return the feasible rollout that is fastest against its own baseline, or None.

        Times of different rollouts were measured minutes apart on a machine that drifts, so the
        paired ratio decides where there is one, and the median time only where there is none.
        """
        return min(self.feasible(), key=_slowness, default=None)

    def best_latency_us(self) -> float | None:
        """Return the median time of the best candidate, in microseconds, or None."""
        best = self.best()
        if best is None or not isinstance(best.verdict, Feasible):
            return None
        return best.verdict.latency.median_us

    def children_of(self, candidate_id: str) -> tuple[Rollout, ...]:
        """Return the refinements that started from the given candidate (EvoKernel §3.4)."""
        return tuple(r for r in self.rollouts if r.proposal.start_point == candidate_id)

    def start_points(self) -> tuple[Rollout, ...]:
        """Return P(x): the first rollout of every distinct feasible candidate, in order."""
        first: dict[str, Rollout] = {}
        for rollout in self.feasible():
            first.setdefault(rollout.candidate.candidate_id, rollout)
        return tuple(first.values())


def _slowness(rollout: Rollout) -> tuple[float, int]:
    verdict = rollout.verdict
    assert isinstance(verdict, Feasible)
    ratio = verdict.speedup
    slowness = verdict.latency.median_us if ratio is None else 1.0 / ratio.median
    return slowness, rollout.index
