"""What pairs of timings say: medians, their bootstrap intervals, and whether two samples differ.

Single timings on a shared machine wander by a quarter; ratios of neighbours in a balanced order
(ABBA) are repeatable to half a per cent. So everything that is reported is a median of ratios.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelwright.core.verdict import Latency, LatencySource
from kernelwright.verify.arrays import Floats

RESAMPLES = 1000
LEAST_S = 1e-9
"""A time that is too short to be one still has to have a ratio."""

_SEED = 20260310


@dataclass(frozen=True, slots=True)
class Interval:
    """A median with the ends of its 95 % bootstrap interval.

    Attributes:
        median: Median of the samples.
        low: 2.5th percentile of the medians of resamples.
        high: 97.5th percentile.
        count: Number of samples.
    """

    median: float
    low: float
    high: float
    count: int

    @property
    def spread(self) -> float:
        """Half the width of the interval, relative to the median."""
        return (self.high - self.low) / (2 * self.median) if self.median > 0 else float("inf")


def interval(samples: Sequence[float]) -> Interval:
    """Return the median of samples and its interval; equal samples give equal intervals.

    Raises:
        ValueError: if there are no samples.
    """
    if not samples:
        raise ValueError("an interval needs samples")
    values = np.asarray(samples, dtype=np.float64)
    draws = np.random.default_rng(_SEED).integers(0, len(values), (RESAMPLES, len(values)))
    medians: Floats = np.median(values[draws], axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    return Interval(float(np.median(values)), float(low), float(high), len(values))


@dataclass(frozen=True, slots=True)
class Quad:
    """Four neighbouring ticks in the order ABBA: two pairs that cancel drift and order.

    Attributes:
        baseline_s: Seconds of one call in the first and second pair.
        candidate_s: Seconds of one call in the first and second pair.
        is_fresh: Whether the content of each pair had never been seen before.
        is_odd: Whether its ticks made another number of calls than the others, to find out
            whether every call does its own work; no part of the reported figures.
        calls: Calls in each of its ticks.
    """

    baseline_s: tuple[float, float]
    candidate_s: tuple[float, float]
    is_fresh: tuple[bool, bool] = (False, False)
    is_odd: bool = False
    calls: int = 1

    @property
    def is_readable(self) -> bool:
        """Whether every tick is longer than nothing."""
        return min(*self.baseline_s, *self.candidate_s) > LEAST_S

    @property
    def ratios(self) -> tuple[float, float]:
        """Baseline over candidate of each pair."""
        first = self.baseline_s[0] / self.candidate_s[0]
        return first, self.baseline_s[1] / self.candidate_s[1]

    @property
    def ratio(self) -> float:
        """Geometric mean of the two ratios: what the order of a pair adds, the other takes off."""
        first, second = self.ratios
        return float(np.sqrt(first * second))


def regular(quads: Sequence[Quad]) -> list[Quad]:
    """Return the quads that figures are made of: the usual batch, every tick longer than nothing.

    A tick can come out as nothing on a busy machine, where what asking for it costs varies by
    more than the tick is long.
    """
    return [quad for quad in quads if not quad.is_odd and quad.is_readable]


def candidate_calls(quads: Sequence[Quad]) -> list[float]:
    """Return the seconds of the candidate's calls, one figure a tick."""
    return [spent for quad in quads for spent in quad.candidate_s]


def baseline_calls(quads: Sequence[Quad]) -> list[float]:
    """Return the seconds of the baseline's calls, one figure a tick."""
    return [spent for quad in quads for spent in quad.baseline_s]


def speed(quads: Sequence[Quad]) -> Interval:
    """Return the candidate's speed against the baseline over all quads."""
    return interval([quad.ratio for quad in quads])


def noise_of(quads: Sequence[Quad]) -> float:
    """Return the A/A noise: half the interval of the baseline's speed against itself.

    Two neighbouring quads hold four ticks of the baseline; one ratio turned over times the other
    is the estimate of `Quad.ratio` with nothing to find. Give it all quads, odd ones too: within
    a quad the number of calls is equal.
    """
    own = [quad.baseline_s[0] / quad.baseline_s[1] for quad in quads]
    ratios = [float(np.sqrt(one / other)) for one, other in zip(own, own[1:], strict=False)]
    found = interval(ratios or own)
    return (found.high - found.low) / 2


def latency_of(seconds: Sequence[float]) -> Latency:
    """Return the latency of measured calls."""
    values = np.asarray(seconds, dtype=np.float64) * 1e6
    return Latency(
        median_us=float(np.median(values)),
        mean_us=float(values.mean()),
        std_us=float(values.std()),
        source=LatencySource.MEASURED,
    )


def is_above(samples: Sequence[float], others: Sequence[float], *, factor: float) -> bool:
    """Whether samples are above others by more than `factor`, beyond what chance explains."""
    if min(len(samples), len(others)) < 3:
        return False
    mine, theirs = interval(samples), interval(others)
    return mine.median > factor * theirs.median and mine.low > theirs.high
