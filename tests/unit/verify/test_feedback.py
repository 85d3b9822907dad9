"""What a verdict says to a generator and to a program."""

from __future__ import annotations

import json

import pytest

from kernelwright.core.task import Tolerance
from kernelwright.core.verdict import (
    Category,
    Feasible,
    GateName,
    GateReport,
    GateStatus,
    Infeasible,
    Latency,
    LatencySource,
    Ratio,
)
from kernelwright.verify.feedback import ADVICE, MAX_CHARACTERS, feedback, verdict_json

KEYS = {
    "feasible", "gate", "reason", "gates", "latency_us", "baseline_us", "speedup", "speedup_low",
    "speedup_high", "noise", "cache", "simulated", "tolerance",
}  # fmt: skip
GATES = (
    GateReport(GateName.SCREEN, GateStatus.PASSED, wall_s=0.001),
    GateReport(GateName.AUDIT, GateStatus.NOT_RUN),
    GateReport(GateName.COMPILE, GateStatus.FAILED, "error: x", Category.COMPILE_ERROR),
    GateReport(GateName.CORRECTNESS, GateStatus.NOT_RUN),
    GateReport(GateName.LATENCY, GateStatus.NOT_RUN),
)


def infeasible(category: Category, reason: str = "[FAIL] it is wrong") -> Infeasible:
    return Infeasible(GateName.COMPILE, reason, category, GATES)


def feasible() -> Feasible:
    def latency(median: float) -> Latency:
        return Latency(median, median, 1.0, LatencySource.MEASURED)

    warm = Ratio(2.0, 1.9, 2.1, 20, 0.01, "warm", "torch eager 2.13.0, 1 thread")
    cold = Ratio(1.5, 1.4, 1.6, 10, 0.02, "cold", "torch eager 2.13.0, 1 thread")
    return Feasible(latency(50.0), latency(100.0), (warm, cold), GATES)


@pytest.mark.parametrize("category", list(Category))
def test_every_category_has_its_own_advice(category: Category) -> None:
    text = feedback(infeasible(category))
    assert text.startswith(f"Gate compile failed ({category.value}).\n[FAIL] it is wrong")
    assert text.endswith(ADVICE[category])
    assert len(set(ADVICE.values())) == len(Category)


def test_long_reasons_are_cut_and_say_so() -> None:
    text = feedback(infeasible(Category.COMPILE_ERROR, "error: " + "x" * 10_000))
    assert len(text) < MAX_CHARACTERS + 200
    assert "... (cut)" in text


def test_a_feasible_verdict_tells_the_ratio_with_its_spread() -> None:
    text = feedback(feasible())
    assert "warm cache: 2.000x of torch eager 2.13.0, 1 thread" in text
    assert "95 % interval 1.900-2.100, A/A noise 0.010" in text
    assert "cold cache: 1.500x" in text


def test_the_json_of_a_failure_has_every_key_and_no_figures() -> None:
    found = verdict_json(infeasible(Category.COMPILE_ERROR), tolerance=Tolerance.STRICT)
    assert set(found) >= KEYS
    assert found["feasible"] is False
    assert (found["gate"], found["latency_us"], found["speedup"]) == ("compile", None, None)
    gates = json.loads(json.dumps(found))["gates"]
    assert [gate["status"] for gate in gates.values()] == [
        "passed", "not_run", "failed", "not_run", "not_run",
    ]  # fmt: skip
    assert gates["compile"]["category"] == "compile_error"


def test_the_json_of_a_success_has_figures_and_no_gate() -> None:
    found = verdict_json(feasible(), tolerance=Tolerance.OFFICIAL)
    assert set(found) >= KEYS
    assert (found["feasible"], found["gate"], found["reason"]) == (True, None, "")
    assert (found["latency_us"], found["baseline_us"], found["speedup"]) == (50.0, 100.0, 2.0)
    assert (found["speedup_low"], found["speedup_high"], found["noise"]) == (1.9, 2.1, 0.01)
    assert (found["cache"], found["simulated"], found["tolerance"]) == ("warm", False, "official")


def test_the_gates_of_both_are_the_same_five() -> None:
    for verdict in (feasible(), infeasible(Category.HACK)):
        gates = verdict_json(verdict, tolerance=Tolerance.STRICT)["gates"]
        assert isinstance(gates, dict)
        assert list(gates) == [gate.value for gate in GateName]
