"""From a verdict to a reward in [-1, 1]."""

from __future__ import annotations

import math

from kernelwright.core.value import Stage
from kernelwright.core.verdict import Feasible, Infeasible, Ratio, Verdict


def reward_for(stage: Stage, verdict: Verdict, *, best: Feasible | None) -> float:
    """Return the reward of one verdict, in [-1, 1].

    Drafting pays +1 for a feasible candidate and -1 for any other. Refining pays -1 for an
    infeasible one, else tanh(log b - log l): 0 for no change, positive for faster, and bounded, so
    that one 60-fold win cannot drown every other value.

    Args:
        stage: What the candidate was made for.
        verdict: What the gates said of it.
        best: Verdict of the best candidate before it; its latency is b.

    Raises:
        ValueError: if a feasible refinement has no best to be compared with.

    Source: EvoKernel (arXiv:2603.10846), eq. 5 and 6.
    """
    if isinstance(verdict, Infeasible):
        return -1.0
    if stage is Stage.DRAFT:
        return 1.0
    if best is None:
        raise ValueError("a refinement starts from a feasible candidate, but there is none")
    return math.tanh(log_gain(verdict, best))


def log_gain(verdict: Feasible, best: Feasible) -> float:
    """Return log b - log l: the logarithm of how many times faster than the best it is.

    Two latencies that were taken minutes apart differ also by what else the machine did. Where
    both were measured in pairs against the same baseline with the same state of the caches, the
    machine cancels: log b - log l = log(baseline / l) - log(baseline / b).
    """
    pair = _comparable(verdict, best)
    if pair is not None:
        ours, theirs = pair
        return math.log(ours.median) - math.log(theirs.median)
    return math.log(best.latency.median_us) - math.log(verdict.latency.median_us)


def _comparable(verdict: Feasible, best: Feasible) -> tuple[Ratio, Ratio] | None:
    for ours in verdict.speedups:
        for theirs in best.speedups:
            if (ours.cache, ours.baseline) == (theirs.cache, theirs.baseline):
                return ours, theirs
    return None
