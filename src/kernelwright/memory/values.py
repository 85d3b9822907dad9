"""The update rule: how a value moves toward a reward."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelwright.core.value import Value


@dataclass(frozen=True, slots=True)
class StepSize:
    """Step size of the n-th update of a value, `size * n ** -exponent`.

    With exponent 0 the step is constant: the value tracks a reward that drifts, with a variance
    that stays (EvoKernel, Lemma 7). With an exponent in (1/2, 1] the steps meet the Robbins-Monro
    conditions: the value converges to the mean of a reward that does not drift (Lemma 8).

    Attributes:
        size: First step, in (0, 1]; alpha of eq. 4.
        exponent: 0, or in (1/2, 1].
    """

    size: float = 0.1
    exponent: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.size <= 1.0:
            raise ValueError(f"a step size must lie in (0, 1], not {self.size}")
        if self.exponent != 0.0 and not 0.5 < self.exponent <= 1.0:
            raise ValueError(f"an exponent must be 0 or lie in (1/2, 1], not {self.exponent}")

    def after(self, count: int) -> float:
        """Return the step of the update that follows `count` updates; it lies in (0, 1]."""
        return self.size / math.pow(count + 1, self.exponent)


def updated(value: Value, reward: float, *, step: StepSize) -> Value:
    """Move a value toward a reward: Q <- Q + alpha * (r - Q).

    The outcome lies between value and reward, so values stay as bounded as rewards (Lemma 1).

    Source: EvoKernel (arXiv:2603.10846), eq. 4.
    """
    mean = value.mean + step.after(value.count) * (reward - value.mean)
    # Rounding may carry the sum one unit past the reward, and Lemma 1 is to hold to the letter.
    low, high = sorted((value.mean, reward))
    return Value(min(max(mean, low), high), value.count + 1)
