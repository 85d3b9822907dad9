"""The gates on a small real task: honest kernels pass, every cheat is found by its own words."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Call, Failure, Finding, StateTransfer
from kernelwright.core.fault import Fault, Severity
from kernelwright.core.task import Tolerance
from kernelwright.core.tensor import Tensor, Tree
from kernelwright.core.verdict import (
    Category,
    Feasible,
    GateName,
    GateStatus,
    Infeasible,
    LatencySource,
    Verdict,
)
from kernelwright.verify.feedback import feedback, verdict_json
from kernelwright.verify.policy import Policy
from kernelwright.verify.verifier import GatedVerifier, standard_verifier
from unit.verify.small_task import (
    Array,
    Clock,
    Kernel,
    SmallBackend,
    SmallOracle,
    scaled_softmax,
    tensor,
)

WRONG = Fault(
    "GM_OUT_OF_RANGE",
    Severity.ERROR,
    "copies 64 bytes past the end of y",
    "kernel_src.cpp",
    42,
    block=3,
    pipe="MTE3",
)
SUSPICIOUS = Fault("UB_OVER_ALLOCATED", Severity.WARNING, "1,024 bytes too many")
CANDIDATE = Candidate.of("small", {"model.py": "", "kernel.cpp": ""})


def verdict_on(kernel: Kernel, *, policy: Policy | None = None, **backend: object) -> Verdict:
    clock = Clock()
    oracle = SmallOracle(clock)
    small = SmallBackend(kernel, clock, **backend)  # type: ignore[arg-type]
    verifier = standard_verifier(small, oracle, policy=policy, source=random.Random(5), clock=clock)
    return verifier.verify(CANDIDATE)


def rejected(kernel: Kernel, **backend: object) -> Infeasible:
    verdict = verdict_on(kernel, **backend)  # type: ignore[arg-type]
    assert isinstance(verdict, Infeasible), verdict
    return verdict


def details(verdict: Verdict, gate: GateName) -> dict[str, str]:
    return next(dict(report.details) for report in verdict.gates if report.gate is gate)


def test_an_honest_kernel_is_feasible_and_its_speed_is_the_ratio_of_the_two() -> None:
    verdict = verdict_on(Kernel(call_s=50e-6))
    assert isinstance(verdict, Feasible)
    assert verdict.speedup is not None
    assert verdict.speedup.median == pytest.approx(2.0, rel=0.02)
    assert verdict.speedup.low <= verdict.speedup.median <= verdict.speedup.high
    assert [ratio.cache for ratio in verdict.speedups] == ["warm", "cold"]
    assert verdict.latency.median_us == pytest.approx(50.0, rel=0.02)
    assert verdict.baseline is not None
    assert verdict.baseline.median_us == pytest.approx(100.0, rel=0.02)
    assert verdict.speedup.noise < 0.02


def test_every_gate_is_reported_and_the_audit_is_not_called_passed() -> None:
    verdict = verdict_on(Kernel())
    statuses = {report.gate: report.status for report in verdict.gates}
    assert list(statuses) == list(GateName)
    assert statuses.pop(GateName.AUDIT) is GateStatus.NOT_RUN
    assert set(statuses.values()) == {GateStatus.PASSED}


def test_the_gates_after_the_first_failure_do_not_run() -> None:
    verdict = rejected(Kernel(), failure=Failure(Category.COMPILE_ERROR, "kernel.cpp:3: error"))
    assert verdict.gate is GateName.COMPILE
    assert verdict.reason == "kernel.cpp:3: error"
    assert [report.status for report in verdict.gates] == [
        GateStatus.PASSED,
        GateStatus.NOT_RUN,
        GateStatus.FAILED,
        GateStatus.NOT_RUN,
        GateStatus.NOT_RUN,
    ]


def test_the_screen_names_rule_part_and_line_of_every_finding() -> None:
    findings = (
        Finding("torch-compute", "model.py", 7, "torch.softmax computes; call the kernel"),
        Finding("try-except", "model.py", 9, "a fallback hides a broken kernel"),
    )
    verdict = rejected(Kernel(), findings=findings)
    assert verdict.gate is GateName.SCREEN
    assert verdict.category is Category.HACK
    assert verdict.reason.splitlines() == [
        "[torch-compute] model.py:7: torch.softmax computes; call the kernel",
        "[try-except] model.py:9: a fallback hides a broken kernel",
    ]


def test_no_gate_can_be_left_out() -> None:
    clock = Clock()
    with pytest.raises(ValueError, match="gates must be"):
        GatedVerifier(SmallBackend(Kernel(), clock), SmallOracle(clock), [])


def test_each_gate_is_announced_before_it_runs() -> None:
    clock, heard = Clock(), list[GateName]()
    verifier = standard_verifier(
        SmallBackend(Kernel(), clock), SmallOracle(clock), source=random.Random(5), clock=clock
    )
    verifier.verify(CANDIDATE, on_gate=heard.append)
    assert heard == list(GateName)


@dataclass
class Returns(Kernel):
    """Returns whatever it is told."""

    value: Tree | Failure = None

    def compute(self, x: Array, weight: Array, memory: Array) -> Tree:
        return self.value  # type: ignore[return-value]


WORDS = [
    (tensor(np.zeros((16, 95), np.float32)), Category.SHAPE_MISMATCH,
     "output.shape mismatch: expected (16, 96), got (16, 95)"),
    (tensor(np.zeros((16, 96), np.float16)), Category.DTYPE_MISMATCH,
     "output.dtype mismatch: expected float32, got float16"),
    ([tensor(np.zeros((16, 96), np.float32))], Category.TYPE_MISMATCH,
     "type(output) mismatch: expected Tensor, got list"),
    (Failure(Category.TIMEOUT, "first correctness run timed out after 60s"), Category.TIMEOUT,
     "[FAIL] First correctness run timed out after 60s"),
    (Failure(Category.EXCEPTION, "ValueError: expected 2 arguments"), Category.EXCEPTION,
     "[FAIL] ValueError: expected 2 arguments"),
    (Failure(Category.CRASH, "the process died during first correctness run: SIGSEGV"),
     Category.CRASH, "[FAIL] the process died during first correctness run: SIGSEGV"),
    (Failure(Category.MEMORY, "out of memory"), Category.MEMORY, "[FAIL] out of memory"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "category", "words"), WORDS, ids=lambda v: str(v)[:20])
def test_a_failure_of_the_first_run_has_the_papers_words(
    value: Tree | Failure, category: Category, words: str
) -> None:
    verdict = rejected(Returns(value=value))
    assert (verdict.gate, verdict.category) == (GateName.CORRECTNESS, category)
    assert verdict.reason == words


def test_the_reference_does_not_run_for_a_candidate_that_fails() -> None:
    clock = Clock()
    oracle = SmallOracle(clock)
    backend = SmallBackend(Returns(value=Failure(Category.CRASH, "gone")), clock)
    verifier = standard_verifier(backend, oracle, source=random.Random(5), clock=clock)
    assert isinstance(verifier.verify(CANDIDATE), Infeasible)
    assert "expected" not in oracle.asked


Trick = Callable[[Array, Array, Array], Array]


def writes_nothing(x: Array, weight: Array, memory: Array) -> Array:
    return memory


def leaves_a_tail(x: Array, weight: Array, memory: Array) -> Array:
    memory[:, :-5] = scaled_softmax(x, weight)[:, :-5]
    return memory


def all_nan(x: Array, weight: Array, memory: Array) -> Array:
    return np.full_like(x, np.nan)


def zeros(x: Array, weight: Array, memory: Array) -> Array:
    return np.zeros_like(x)


def ignores_the_weight(x: Array, weight: Array, memory: Array) -> Array:
    return scaled_softmax(x, np.ones_like(weight))


def no_maximum(x: Array, weight: Array, memory: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.exp(x) / np.exp(x).sum(-1, keepdims=True) * weight


def half_precision(x: Array, weight: Array, memory: Array) -> Array:
    return scaled_softmax(x, weight).astype(np.float16).astype(np.float32)


def writes_to_its_input(x: Array, weight: Array, memory: Array) -> Array:
    right = scaled_softmax(x, weight)
    x *= 0
    return right


@dataclass
class Cheat(Kernel):
    """Answers with a trick instead of the work."""

    trick: Trick = zeros

    def compute(self, x: Array, weight: Array, memory: Array) -> Tree:
        return tensor(self.trick(x, weight, memory))


@dataclass
class SameBuffer(Kernel):
    """Is right, but every call overwrites what the last one returned."""

    buffer: bytearray = field(default_factory=lambda: bytearray(16 * 96 * 4))

    def compute(self, x: Array, weight: Array, memory: Array) -> Tree:
        right = scaled_softmax(x, weight)
        held = memoryview(self.buffer)[: right.nbytes]
        held[:] = right.tobytes()
        return Tensor("float32", right.shape, held)


@dataclass
class AddsUp(Kernel):
    """Is right once: it adds to an output that it never clears."""

    total: dict[bytes, Array] = field(default_factory=dict)

    def compute(self, x: Array, weight: Array, memory: Array) -> Tree:
        key = weight.tobytes() + bytes(x.shape)
        self.total[key] = self.total.get(key, 0) + scaled_softmax(x, weight)
        return tensor(self.total[key])


@pytest.mark.parametrize(
    ("kernel", "category"),
    [
        (Cheat(trick=writes_nothing), Category.NUMERICAL_MISMATCH),
        (Cheat(trick=leaves_a_tail), Category.NUMERICAL_MISMATCH),
        (Cheat(trick=all_nan), Category.NUMERICAL_MISMATCH),
        (Cheat(trick=zeros), Category.NUMERICAL_MISMATCH),
        (Cheat(trick=ignores_the_weight), Category.NUMERICAL_MISMATCH),
        (Cheat(trick=no_maximum), Category.NUMERICAL_MISMATCH),
        (Cheat(trick=half_precision), Category.NUMERICAL_MISMATCH),
        (AddsUp(), Category.NUMERICAL_MISMATCH),
        (Cheat(trick=writes_to_its_input), Category.INPUT_MUTATED),
        (SameBuffer(), Category.HACK),
    ],
    ids=lambda value: getattr(getattr(value, "trick", None), "__name__", type(value).__name__),
)
def test_a_kernel_that_does_not_do_the_work_is_rejected(kernel: Kernel, category: Category) -> None:
    verdict = rejected(kernel)
    assert (verdict.gate, verdict.category) == (GateName.CORRECTNESS, category)


def test_a_mismatch_counts_trials_and_boxes_the_wrong_elements() -> None:
    reason = rejected(Cheat(trick=leaves_a_tail)).reason
    assert reason.startswith("[FAIL] Output mismatch: 0/4 trials passed, 4 failed. Tolerance ")
    assert "Trial 1: 80/1536 mismatched (5.21%)" in reason
    assert "Bounding box: output[0:16, 91:96], 80 not finite where the reference is" in reason


def test_the_second_call_of_a_module_is_judged_too() -> None:
    reason = rejected(AddsUp()).reason
    assert "Trial 1: second call: 1536/1536 mismatched (100.00%)" in reason


def test_a_shortcut_that_only_large_inputs_show_counts_the_trials_that_passed() -> None:
    reason = rejected(Cheat(trick=no_maximum)).reason
    assert reason.startswith("[FAIL] Output mismatch: 3/4 trials passed, 1 failed. ")
    assert "(inputs: large)" in reason


def test_work_that_pytorch_does_is_named() -> None:
    verdict = rejected(Kernel(dispatched=("aten::empty", "aten::softmax")))
    assert verdict.category is Category.HACK
    assert "aten::softmax" in verdict.reason
    assert "aten::empty" not in verdict.reason


def test_a_forward_that_calls_no_kernel_is_a_hack() -> None:
    verdict = rejected(Kernel(kernel_calls=()))
    assert verdict.category is Category.HACK
    assert "no kernel" in verdict.reason


@dataclass
class RefusesOtherShapes(Kernel):
    """Works for sixteen rows and says so otherwise, or answers wrongly."""

    is_loud: bool = True

    def compute(self, x: Array, weight: Array, memory: Array) -> Tree:
        if x.shape[0] == 16:
            return tensor(scaled_softmax(x, weight))
        if self.is_loud:
            return Failure(Category.EXCEPTION, "ValueError: 16 rows only")  # type: ignore[return-value]
        return tensor(memory)


def test_a_loud_refusal_of_an_edge_shape_is_noted_and_allowed() -> None:
    verdict = verdict_on(RefusesOtherShapes())
    assert isinstance(verdict, Feasible)
    facts = details(verdict, GateName.CORRECTNESS)
    assert facts["shape-specialised"] == "ValueError: 16 rows only"
    assert facts["trials"] == "3/4 passed, 4 planned"


def test_a_refusal_of_an_edge_shape_fails_where_the_policy_asks_for_every_shape() -> None:
    verdict = verdict_on(RefusesOtherShapes(), policy=Policy(is_shape_specialisation_allowed=False))
    assert isinstance(verdict, Infeasible)
    assert verdict.reason == "[FAIL] ValueError: 16 rows only"


def test_a_wrong_answer_for_an_edge_shape_fails() -> None:
    verdict = rejected(RefusesOtherShapes(is_loud=False))
    assert "3/4 trials passed" in verdict.reason
    assert "edge shape rows=3" in verdict.reason


def test_a_candidate_that_draws_its_own_parameters_is_not_asked_for_others() -> None:
    verdict = verdict_on(Kernel(), transfer=StateTransfer.RESEEDED)
    assert isinstance(verdict, Feasible)
    facts = details(verdict, GateName.CORRECTNESS)
    assert facts["parameters"] == "reseeded"
    assert facts["skipped"].startswith("signed, randomised parameters")


def test_seeds_are_recorded_and_differ_between_verifications() -> None:
    clock = Clock()
    oracle = SmallOracle(clock)
    verifier = standard_verifier(SmallBackend(Kernel(), clock), oracle, clock=clock)
    first, second = verifier.verify(CANDIDATE), verifier.verify(CANDIDATE)
    seeds = [details(verdict, GateName.CORRECTNESS)["seeds"] for verdict in (first, second)]
    assert seeds[0] != seeds[1]
    assert len(set(seeds[0].split(", "))) == 4


@dataclass
class RefusesToBeBuilt(Kernel):
    def construct(self, call: Call) -> Failure | None:
        return Failure(Category.EXCEPTION, "AttributeError: no such kernel")


def test_a_constructor_that_raises_is_an_exception_of_the_candidate() -> None:
    verdict = rejected(RefusesToBeBuilt())
    assert (verdict.gate, verdict.category) == (GateName.CORRECTNESS, Category.EXCEPTION)


def test_a_simulated_backend_gives_a_simulated_latency_and_no_ratio() -> None:
    verdict = verdict_on(Kernel(), is_simulated=True)
    assert isinstance(verdict, Feasible)
    assert verdict.latency.source is LatencySource.SIMULATED
    assert verdict.latency.timing_model == "timing model 1"
    assert verdict.latency.median_us == 12.5
    assert verdict.speedup is None


def test_warnings_of_an_emulated_device_are_told_once_and_reject_nothing() -> None:
    verdict = verdict_on(Kernel(faults=(SUSPICIOUS, SUSPICIOUS)), is_simulated=True)
    assert isinstance(verdict, Feasible)
    report = next(item for item in verdict.gates if item.gate is GateName.CORRECTNESS)
    assert report.faults == (SUSPICIOUS,)
    assert feedback(verdict).count(SUSPICIOUS.text) == 1


def test_a_broken_rule_of_the_device_is_a_failure_with_its_place() -> None:
    class Broken(Kernel):
        def compute(self, x: Array, weight: Array, memory: Array) -> Tree:
            return Failure(Category.DEVICE_FAULT, WRONG.text, (WRONG,))  # type: ignore[return-value]

    verdict = rejected(Broken(), is_simulated=True)
    assert (verdict.gate, verdict.category) == (GateName.CORRECTNESS, Category.DEVICE_FAULT)
    assert verdict.reason == f"[FAIL] {WRONG.text}"
    report = verdict_json(verdict, tolerance=Tolerance.STRICT)["gates"]["correctness"]  # type: ignore[index,call-overload]
    assert report["faults"] == [  # type: ignore[index,call-overload]
        {
            "code": "GM_OUT_OF_RANGE",
            "severity": "error",
            "file": "kernel_src.cpp",
            "line": 42,
            "block": 3,
            "pipe": "MTE3",
            "message": "copies 64 bytes past the end of y",
        }
    ]


def test_the_time_of_every_phase_is_in_the_details() -> None:
    verdict = verdict_on(Kernel())
    assert {"inputs_s", "candidate_s", "reference_s", "comparison_s"} <= set(
        details(verdict, GateName.CORRECTNESS)
    )
    assert {"warm_s", "cold_s", "content_s", "check_s"} <= set(details(verdict, GateName.LATENCY))
