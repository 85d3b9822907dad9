"""The common profile of a measured CPU kernel, and one sentence on what limits it."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.core.execution import Build
from kernelwright.core.profile import Bottleneck, Profile
from kernelwright.core.verdict import Latency

TOOL = "perf_counter, nm, objdump"
MEMORY_SHARE = 0.6
"""Share of the copy ceiling from which a kernel counts as limited by memory."""

_LAUNCH_US = 15.0
_SCALAR_SHARE = 0.1


def profile_of(
    build: Build, latency: Latency, *, bytes_moved: int, ceiling_gbps: float, machine_bits: int
) -> Profile:
    """Describe a measured execution.

    The time split is a bound, not a sample: what moving the bytes takes at the measured copy
    bandwidth, and the rest.
    """
    duration_us = latency.median_us
    achieved = bytes_moved / (duration_us * 1e3) if duration_us > 0 else 0.0
    share = min(achieved / ceiling_gbps, 1.0) if ceiling_gbps > 0 else 0.0
    facts = dict(build.facts)
    bottleneck = _bottleneck(share, duration_us, facts)
    return Profile(
        backend="cpu",
        tool=TOOL,
        simulated=False,
        duration_us=duration_us,
        time_split=(("moving memory, at least", share), ("the rest", 1.0 - share)),
        bytes_moved=bytes_moved,
        achieved_gbps=achieved,
        ceiling_gbps=ceiling_gbps,
        facts=build.facts,
        bottleneck=bottleneck,
        advice=_advice(bottleneck, share, facts, machine_bits),
    )


def _bottleneck(share: float, duration_us: float, facts: Mapping[str, str]) -> Bottleneck:
    if share >= MEMORY_SHARE:
        return Bottleneck.MEMORY
    if duration_us < _LAUNCH_US:
        return Bottleneck.LAUNCH
    if facts.get("vectorised") == "no" or _calls_in_the_loop(facts):
        return Bottleneck.SCALAR
    return Bottleneck.VECTOR if facts.get("vectorised") == "yes" else Bottleneck.UNKNOWN


def _calls_in_the_loop(facts: Mapping[str, str]) -> str:
    """Return the scalar functions that the main loop seems to call, by how little is vectorised.

    One call a row beside a vectorised loop costs nothing; a library with few vector instructions
    has nothing else that could be its main loop.
    """
    vectors, total = int(facts.get("vector_instructions", 0)), int(facts.get("instructions", 0))
    is_mostly_scalar = total > 0 and vectors < _SCALAR_SHARE * total
    return facts.get("scalar_math", "") if is_mostly_scalar else ""


def _advice(
    bottleneck: Bottleneck, share: float, facts: Mapping[str, str], machine_bits: int
) -> str:
    reached = f"{share:.0%} of the copy bandwidth"
    if bottleneck is Bottleneck.MEMORY:
        return (
            f"it reaches {reached}: read and write every element once, fuse passes, and try"
            " streaming stores where the output does not fit the cache"
        )
    if bottleneck is Bottleneck.LAUNCH:
        return "the call itself dominates: do all the work in one kernel_ops call"
    scalar = _calls_in_the_loop(facts)
    if scalar:
        return (
            f"the loop calls {scalar} once an element, which is not vectorised: write it as a"
            " polynomial that the compiler vectorises"
        )
    if bottleneck is Bottleneck.SCALAR:
        return (
            "nothing is vectorised: use __restrict__ pointers, simple loops and"
            " `#pragma omp simd`, with a reduction clause for sums and maxima"
        )
    bits = int(facts.get("vector_bits", "0") or 0)
    if 0 < bits < machine_bits:
        return (
            f"it uses {bits}-bit vectors at {reached}; this processor has {machine_bits}-bit ones"
        )
    return f"it reaches {reached}: save arithmetic, keep more independent work in flight (unroll)"
