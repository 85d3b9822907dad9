"""What a verdict says to a generator, as words, and to a program, as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.core.fault import distinct
from kernelwright.core.fingerprint import Json
from kernelwright.core.task import Tolerance
from kernelwright.core.verdict import (
    Category,
    Feasible,
    GateReport,
    Infeasible,
    LatencySource,
    Ratio,
    Verdict,
)

MAX_CHARACTERS = 4000
"""Feedback is cut to this length (EvoKernel, Appendix D, cuts at the same)."""

ADVICE: Mapping[Category, str] = {
    Category.FORMAT: "Answer with the parts that the backend asks for, in its format.",
    Category.HACK: "All work must be done by the kernel itself, anew in every call.",
    Category.COMPILE_ERROR: "Mend the first error; later ones often follow from it.",
    Category.TYPE_MISMATCH: "Return the same structure as the reference.",
    Category.LENGTH_MISMATCH: "Return as many outputs as the reference.",
    Category.SHAPE_MISMATCH: "Allocate the output with the reference's shape.",
    Category.DTYPE_MISMATCH: "Allocate the output with the reference's dtype.",
    Category.NUMERICAL_MISMATCH: (
        "A bounding box at the end of an axis points to a tail that is not handled; one over the "
        "whole output to a wrong formula, axis or precision; values that are not finite to "
        "output that was never written, or to an overflow."
    ),
    Category.INPUT_MUTATED: "Write to memory of your own, never to an input.",
    Category.TIMEOUT: "Look for a loop that does not end, or far too much work in one call.",
    Category.EXCEPTION: "Read the exception: it was raised by model.py or by a call in it.",
    Category.CRASH: "A crash is mostly an index outside an array; check bounds and sizes.",
    Category.MEMORY: "Allocate less: the kernel may use little more than its output.",
    Category.DEVICE_FAULT: (
        "The kernel breaks a rule of the device, at the line that is named; the numbers may look "
        "right all the same."
    ),
    Category.IMPLAUSIBLE_LATENCY: "Every call must read its inputs and write its outputs.",
}


def feedback(verdict: Verdict) -> str:
    """Return what whoever made the candidate should read next."""
    if isinstance(verdict, Feasible):
        return _praise(verdict)
    text = f"Gate {verdict.gate.value} failed ({verdict.category.value}).\n{verdict.reason}"
    if len(text) > MAX_CHARACTERS:
        text = f"{text[: MAX_CHARACTERS - 20].rstrip()}\n... (cut)"
    return f"{text}\n{ADVICE[verdict.category]}"


def verdict_json(verdict: Verdict, *, tolerance: Tolerance) -> dict[str, Json]:
    """Return the object that `kernelwright verify --json` prints."""
    head: dict[str, Json] = {
        "feasible": isinstance(verdict, Feasible),
        "gate": verdict.gate.value if isinstance(verdict, Infeasible) else None,
        "reason": verdict.reason if isinstance(verdict, Infeasible) else "",
        "category": verdict.category.value if isinstance(verdict, Infeasible) else None,
        "gates": {report.gate.value: _report_json(report) for report in verdict.gates},
    }
    return {**head, **_figures(verdict), "tolerance": tolerance.value}


def _figures(verdict: Verdict) -> dict[str, Json]:
    if isinstance(verdict, Infeasible):
        names = ("latency_us", "baseline_us", "speedup", "speedup_low", "speedup_high", "noise")
        return {**dict.fromkeys(names), "cache": None, "speedups": [], "simulated": False}
    ratio, baseline = verdict.speedup, verdict.baseline
    return {
        "latency_us": verdict.latency.median_us,
        "baseline_us": None if baseline is None else baseline.median_us,
        "speedup": None if ratio is None else ratio.median,
        "speedup_low": None if ratio is None else ratio.low,
        "speedup_high": None if ratio is None else ratio.high,
        "noise": None if ratio is None else ratio.noise,
        "cache": None if ratio is None else ratio.cache,
        "speedups": [_ratio_json(ratio) for ratio in verdict.speedups],
        "simulated": verdict.latency.source is LatencySource.SIMULATED,
    }


def _ratio_json(ratio: Ratio) -> dict[str, Json]:
    return {
        "cache": ratio.cache,
        "median": ratio.median,
        "low": ratio.low,
        "high": ratio.high,
        "pairs": ratio.pairs,
        "noise": ratio.noise,
        "baseline": ratio.baseline,
    }


def _report_json(report: GateReport) -> dict[str, Json]:
    return {
        "status": report.status.value,
        "reason": report.reason,
        "category": None if report.category is None else report.category.value,
        "details": dict(report.details),
        "wall_s": report.wall_s,
        "faults": [fault.json for fault in report.faults],
    }


def _praise(verdict: Feasible) -> str:
    latency = verdict.latency
    source = latency.source.value
    if latency.timing_model is not None:
        source = f"{source} by {latency.timing_model}"
    words = f"All gates passed. {latency.median_us:.3f} us a call ({source})."
    for ratio in verdict.speedups:
        words += (
            f" {ratio.cache} cache: {ratio.median:.3f}x of {ratio.baseline} "
            f"(95 % interval {ratio.low:.3f}-{ratio.high:.3f}, A/A noise {ratio.noise:.3f})."
        )
    if verdict.profile is not None:
        words += f" Bottleneck: {verdict.profile.bottleneck.value}."
        if verdict.profile.advice:
            words += f" {verdict.profile.advice}"
    for fault in distinct(fault for report in verdict.gates for fault in report.faults):
        words += f"\n{fault.text}"
    return words
