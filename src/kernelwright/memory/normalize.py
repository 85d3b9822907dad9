"""Online normalisation of refine rewards: (r - mean) / deviation, by what was seen before."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelwright.core.value import Moments


@dataclass(frozen=True, slots=True)
class Safeguards:
    """What keeps a normalised reward bounded; both of EvoKernel's Remark 3.

    Attributes:
        deviation_floor: Least deviation that is divided by; raw rewards lie in [-1, 1], so the
            outcome is at most `2 / deviation_floor`.
        limit: The outcome is clipped to [-limit, limit].
    """

    deviation_floor: float = 0.25
    limit: float = 3.0

    def __post_init__(self) -> None:
        if not self.deviation_floor > 0.0 or not self.limit > 0.0:
            raise ValueError("a floor and a limit must be positive")


def moved(moments: Moments, reward: float) -> Moments:
    """Return the moments after one more raw reward (Welford's recurrence, which is stable)."""
    count = moments.count + 1
    off = reward - moments.mean
    mean = moments.mean + off / count
    return Moments(count, mean, moments.square_sum + off * (reward - mean))


def deviation(moments: Moments) -> float:
    """Return the standard deviation; of no rewards it is 1, so that the first one stays itself."""
    if moments.count == 0:
        return 1.0
    return math.sqrt(max(moments.square_sum, 0.0) / moments.count)


def normalised(reward: float, before: Moments, *, safeguards: Safeguards) -> float:
    """Return a raw reward on the scale of the rewards that were seen before it.

    As in EvoKernel the values themselves are not rescaled when the moments move (Remark 6); the
    map settles down because the moments do (Lemma 5).

    Source: EvoKernel (arXiv:2603.10846), section 3.4 and appendix A.
    """
    spread = max(deviation(before), safeguards.deviation_floor)
    scaled = (reward - before.mean) / spread
    return min(max(scaled, -safeguards.limit), safeguards.limit)
