"""Memory items from one rollout, by rule: its trace, and the experience that it stands for.

An item carries a schedule only where the candidate passed every gate, so whoever reads a schedule
from an item reads one that worked.
"""

from __future__ import annotations

import math
import re

from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.core.rollout import Rollout
from kernelwright.core.value import Stage
from kernelwright.core.verdict import Feasible, Infeasible

LONGEST_FEEDBACK = 4000
"""Characters of feedback in an item; EvoKernel's refinement baseline cuts at the same length."""

LEAST_GAIN = 0.03
"""A refinement teaches something from this relative change of speed on, or the noise if larger."""

_NUMBER = re.compile(r"0x[0-9a-f]+|\d[\d.]*(e[+-]?\d+)?", re.IGNORECASE)


def items_from(rollout: Rollout) -> tuple[MemoryItem, ...]:
    """Return the trace of a rollout and, where it teaches something, one experience."""
    experience = _experience(rollout)
    return (_trace(rollout),) if experience is None else (_trace(rollout), experience)


def gain_of(reward: float) -> float:
    """Return how many times faster than the best before it a refinement with this reward was."""
    # A reward of 1 means any gain beyond what tanh can tell apart in floating point.
    return math.exp(math.atanh(min(reward, 1.0 - 2.0**-53)))


def _trace(rollout: Rollout) -> MemoryItem:
    candidate, verdict = rollout.candidate, rollout.verdict
    parts = "\n".join(f"=== {path}\n{content}" for path, content in candidate.parts)
    return MemoryItem(
        kind=MemoryKind.TRACE,
        title=f"{rollout.proposal.stage.value}: {_outcome(rollout)}",
        body=f"{_feedback(rollout)}\n{parts}",
        backend=candidate.backend,
        task_id=rollout.task_id,
        rollout_id=rollout.rollout_id,
        candidate_id=candidate.candidate_id,
        schedule=candidate.schedule if isinstance(verdict, Feasible) else (),
        parent_id=rollout.proposal.start_point or "",
    )


def _experience(rollout: Rollout) -> MemoryItem | None:
    if isinstance(rollout.verdict, Infeasible):
        return _failure(rollout, rollout.verdict)
    if rollout.proposal.stage is Stage.REFINE and rollout.candidate.schedule:
        return _change_of_speed(rollout, rollout.verdict)
    return None


def _failure(rollout: Rollout, verdict: Infeasible) -> MemoryItem:
    # Without its numbers a failure is the same experience wherever it happens, and gets one value.
    first_line = verdict.reason.strip().partition("\n")[0]
    kind_of_failure = _NUMBER.sub("#", first_line)[:200]
    return MemoryItem(
        kind=MemoryKind.EXPERIENCE,
        title=f"avoid {verdict.category.value}: {kind_of_failure}",
        body=f"A candidate for {rollout.candidate.backend} failed the {verdict.gate.value} gate "
        f"({verdict.category.value}): {kind_of_failure}",
        backend=rollout.candidate.backend,
        task_id=rollout.task_id,
        rollout_id=rollout.rollout_id,
    )


def _change_of_speed(rollout: Rollout, verdict: Feasible) -> MemoryItem | None:
    gain = gain_of(rollout.reward)
    noise = 0.0 if verdict.speedup is None else verdict.speedup.noise
    if abs(math.log(gain)) < math.log1p(max(LEAST_GAIN, noise)):
        return None
    is_faster = gain > 1.0
    schedule = ", ".join(f"{name}={value}" for name, value in rollout.candidate.schedule)
    limit = "" if verdict.profile is None else f"; limited by {verdict.profile.bottleneck.value}"
    return MemoryItem(
        kind=MemoryKind.EXPERIENCE,
        title=f"{'faster' if is_faster else 'slower'} with {schedule}",
        body=f"A refinement for {rollout.candidate.backend} with the schedule {schedule} ran at "
        f"{gain:.2g} times the speed of the best candidate before it{limit}.",
        backend=rollout.candidate.backend,
        task_id=rollout.task_id,
        rollout_id=rollout.rollout_id,
        schedule=rollout.candidate.schedule if is_faster else (),
    )


def _outcome(rollout: Rollout) -> str:
    verdict = rollout.verdict
    if isinstance(verdict, Infeasible):
        return f"failed the {verdict.gate.value} gate ({verdict.category.value})"
    if verdict.speedup is None:
        return f"feasible, {verdict.latency.median_us:.3g} us"
    return f"feasible, {verdict.speedup.median:.3g} times the speed of {verdict.speedup.baseline}"


def _feedback(rollout: Rollout) -> str:
    verdict = rollout.verdict
    if isinstance(verdict, Infeasible):
        return verdict.reason[:LONGEST_FEEDBACK]
    if verdict.profile is None:
        return _outcome(rollout)
    return f"{_outcome(rollout)}; limited by {verdict.profile.bottleneck.value}. " + (
        verdict.profile.advice
    )
