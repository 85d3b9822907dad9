"""How fast a feasible candidate is, as a number that strategies can compare."""

from __future__ import annotations

import math

from kernelwright.core.verdict import Feasible


def log_speed(verdict: Feasible) -> float:
    """Return the logarithm of a candidate's speed; differences are logarithms of ratios.

    The paired ratio against the baseline where there is one, since times of different rollouts were
    taken minutes apart on a machine that drifts; else minus the logarithm of the median time.
    Candidates of one task are either all compared with a baseline or none is.
    """
    ratio = verdict.speedup
    return -math.log(verdict.latency.median_us) if ratio is None else math.log(ratio.median)
