"""The verdict: what the gates said of a candidate. "Not run" is absence, never a number."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from kernelwright.core.fault import Fault
from kernelwright.core.profile import Profile


class GateName(StrEnum):
    """The gates, in the order in which they run; the first failure stops."""

    SCREEN = "screen"
    AUDIT = "audit"
    COMPILE = "compile"
    CORRECTNESS = "correctness"
    LATENCY = "latency"


class GateStatus(StrEnum):
    """What became of one gate; `not_run` is shown and never counted as passed."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"


class Category(StrEnum):
    """Kind of a failure, so that feedback can be structured (EvoKernel, Appendix F.1)."""

    FORMAT = "format"
    HACK = "hack"
    COMPILE_ERROR = "compile_error"
    TYPE_MISMATCH = "type_mismatch"
    LENGTH_MISMATCH = "length_mismatch"
    SHAPE_MISMATCH = "shape_mismatch"
    DTYPE_MISMATCH = "dtype_mismatch"
    NUMERICAL_MISMATCH = "numerical_mismatch"
    INPUT_MUTATED = "input_mutated"
    TIMEOUT = "timeout"
    EXCEPTION = "exception"
    CRASH = "crash"
    MEMORY = "memory"
    DEVICE_FAULT = "device_fault"
    IMPLAUSIBLE_LATENCY = "implausible_latency"


@dataclass(frozen=True, slots=True)
class GateReport:
    """Outcome of one gate.

    Attributes:
        gate: Which gate.
        status: Passed, failed or not run.
        reason: What failed, as feedback a generator can act on; empty when passed.
        category: Kind of the failure, None unless failed.
        details: (name, value) facts: seeds, tolerances, trials, compiler, flags.
        wall_s: Seconds this gate took; 0.0 when not run.
        faults: Broken rules of the target machine that were seen, warnings too.
    """

    gate: GateName
    status: GateStatus
    reason: str = ""
    category: Category | None = None
    details: tuple[tuple[str, str], ...] = ()
    wall_s: float = 0.0
    faults: tuple[Fault, ...] = ()


class LatencySource(StrEnum):
    """Where a latency comes from."""

    MEASURED = "measured"
    SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class Latency:
    """Time of one call after warm-up, in microseconds.

    Attributes:
        median_us: Median over the measured calls.
        mean_us: Mean over the measured calls.
        std_us: Standard deviation over the measured calls.
        source: Measured on a device, or simulated by a model.
        timing_model: Name and version of the timing model, None when measured.
    """

    median_us: float
    mean_us: float
    std_us: float
    source: LatencySource
    timing_model: str | None = None


@dataclass(frozen=True, slots=True)
class Ratio:
    """Speed against the baseline, from pairs measured one after the other in the same run.

    Attributes:
        median: Median of baseline time over candidate time, pair by pair; above 1 is faster.
        low: Lower end of the 95 % bootstrap interval of that median.
        high: Upper end of that interval.
        pairs: How many pairs were measured.
        noise: Half width of the same ratio when the baseline is measured against itself (A/A).
        cache: `warm` or `cold`: state of the processor's caches before each call.
        baseline: What it was compared with: `torch eager 2.13.0, 1 thread`.
    """

    median: float
    low: float
    high: float
    pairs: int
    noise: float
    cache: str
    baseline: str


@dataclass(frozen=True, slots=True)
class Infeasible:
    """The first gate that failed, and why; later gates did not run.

    Attributes:
        gate: The gate that failed.
        reason: Feedback for whoever made the candidate.
        category: Kind of the failure.
        gates: Every gate in order, with what became of it.
    """

    gate: GateName
    reason: str
    category: Category
    gates: tuple[GateReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Feasible:
    """Every required gate passed.

    Attributes:
        latency: Time of one call of the candidate.
        baseline: Time of one call of the baseline in the same run, None where none was run.
        speedups: Paired ratios, one for each cache state that was measured; the first one is the
            figure that is compared and reported.
        gates: Every gate in order, with what became of it.
        profile: What the profiler said, None where there was none.
    """

    latency: Latency
    baseline: Latency | None = None
    speedups: tuple[Ratio, ...] = ()
    gates: tuple[GateReport, ...] = ()
    profile: Profile | None = None

    @property
    def speedup(self) -> Ratio | None:
        """The ratio that is compared and reported, None where there is no baseline."""
        return self.speedups[0] if self.speedups else None


Verdict: TypeAlias = Infeasible | Feasible
