"""The latency gate: kernels that are right in trials and cheat when they are timed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import MachineLacks
from kernelwright.core.execution import Call, Failure
from kernelwright.core.tensor import Tree
from kernelwright.core.verdict import Category, Feasible, GateName, Infeasible, Verdict
from kernelwright.verify.policy import Policy
from kernelwright.verify.timing import TimingPlan
from kernelwright.verify.verifier import standard_verifier
from unit.verify.small_task import (
    Array,
    Clock,
    Kernel,
    SmallBackend,
    SmallOracle,
    scaled_softmax,
    tensor,
)

CANDIDATE = Candidate.of("small", {"kernel.cpp": ""})
LARGE = (256, 512)
SHORT = TimingPlan(tick_s=20e-6, max_quads=12)


def verdict_on(
    kernel: Kernel,
    *,
    shape: tuple[int, int] = (16, 96),
    baseline_s: float = 2e-3,
    ceiling_gbps: float = 20.0,
    oracle: SmallOracle | None = None,
    seed: int = 5,
    hold_s: float = 0.0,
    plan: TimingPlan | None = None,
) -> Verdict:
    clock = Clock()
    known = oracle or SmallOracle(clock, shape=shape, baseline_s=baseline_s)
    known.clock = clock
    backend = SmallBackend(kernel, clock, ceiling_gbps=ceiling_gbps, hold_s=hold_s)
    verifier = standard_verifier(backend, known, plan=plan, source=random.Random(seed), clock=clock)
    return verifier.verify(CANDIDATE)


def rejected(verdict: Verdict, category: Category) -> str:
    assert isinstance(verdict, Infeasible), verdict
    assert (verdict.gate, verdict.category) == (GateName.LATENCY, category)
    return verdict.reason


@dataclass
class RemembersContent(Kernel):
    """Returns a stored answer at once when it has seen the same content before."""

    answers: dict[bytes, Tree] = field(default_factory=dict)

    def timed(self, x: Array, weight: Array, memory: Array) -> tuple[Tree, float]:
        key = x.tobytes()
        if key in self.answers:
            return self.answers[key], self.call_s / 20
        self.answers[key] = self.compute(x, weight, memory)
        return self.answers[key], self.call_s


@dataclass
class RemembersPlaces(Kernel):
    """Returns what it answered the last time it was given a tensor of this shape."""

    answer: Tree = None

    def timed(self, x: Array, weight: Array, memory: Array) -> tuple[Tree, float]:
        if self.answer is None:
            self.answer = self.compute(x, weight, memory)
        return self.answer, self.call_s / 20


@dataclass
class HalvesWhenTimed(Kernel):
    """Computes in half precision when it thinks that nobody looks."""

    def timed(self, x: Array, weight: Array, memory: Array) -> tuple[Tree, float]:
        half = scaled_softmax(x, weight).astype(np.float16) * np.float16(1.01)
        return tensor(half.astype(np.float32)), self.call_s / 2


@dataclass
class WorksOncePerBatch(Kernel):
    """Works in the first call of a tick and skips the others; `pause` says a tick began."""

    clock: Clock | None = None
    last: float = -1.0

    def timed(self, x: Array, weight: Array, memory: Array) -> tuple[Tree, float]:
        assert self.clock is not None
        is_first = self.clock.now != self.last
        self.last = self.clock.now
        answer = self.compute(x, weight, memory)
        return answer, self.call_s if is_first else self.call_s / 100


@pytest.mark.parametrize("seed", range(4))
def test_answers_that_are_kept_by_content_gain_nothing(seed: int) -> None:
    # Content is cheap to send here and comes before every pair, so the cheat may also be found.
    verdict = verdict_on(RemembersContent(call_s=2e-3), seed=seed)
    if isinstance(verdict, Feasible):
        assert verdict.speedup is not None
        assert verdict.speedup.median == pytest.approx(1.0, rel=0.02)
    else:
        rejected(verdict, Category.HACK)


def test_answers_that_are_kept_by_content_are_found_out_where_content_comes_back() -> None:
    # Sending fresh content takes long here, so that it cannot come before every pair.
    reason = rejected(verdict_on(RemembersContent(call_s=2e-3), hold_s=20e-3), Category.HACK)
    assert "slower on inputs that it has not seen before" in reason


def test_answers_that_are_kept_by_place_are_found_out_by_the_timed_outputs() -> None:
    reason = rejected(verdict_on(RemembersPlaces(call_s=2e-3)), Category.HACK)
    assert "a timed call on fresh inputs returned something else" in reason
    assert "mismatched" in reason


@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_secret_choices_a_precision_cut_under_the_clock_is_found(seed: int) -> None:
    rejected(verdict_on(HalvesWhenTimed(call_s=2e-3), seed=seed), Category.HACK)


def test_calls_of_a_batch_that_skip_the_work_are_found_out() -> None:
    clock = Clock()
    kernel = WorksOncePerBatch(call_s=100e-6, clock=clock)
    oracle = SmallOracle(clock, baseline_s=100e-6)
    backend = SmallBackend(kernel, clock)
    verifier = standard_verifier(backend, oracle, source=random.Random(5), clock=clock)
    reason = rejected(verifier.verify(CANDIDATE), Category.HACK)
    assert "every call must do its own work" in reason


def test_a_time_below_what_moving_the_bytes_takes_is_refused() -> None:
    # 256 x 512 float32 in and out are 1 MiB: at 20 GB/s a copy takes 52 us.
    reason = rejected(
        verdict_on(Kernel(call_s=5e-6), shape=LARGE, plan=SHORT), Category.IMPLAUSIBLE_LATENCY
    )
    assert "us a call (warm cache) is not possible" in reason
    assert "copy ceiling 20.0 GB/s" in reason
    assert "1050624 bytes" in reason


def test_a_time_near_the_copy_ceiling_is_believed() -> None:
    assert isinstance(verdict_on(Kernel(call_s=40e-6), shape=LARGE, plan=SHORT), Feasible)


def test_a_baseline_that_beats_the_measured_ceiling_raises_it() -> None:
    verdict = verdict_on(Kernel(call_s=5e-6), shape=LARGE, plan=SHORT, baseline_s=6e-6)
    assert isinstance(verdict, Feasible)


def test_a_working_set_that_fits_a_private_cache_is_not_judged_by_the_ceiling() -> None:
    # A batch of short calls holds many input sets, so only sets that stay small are exempt.
    clock = Clock()
    oracle = SmallOracle(clock, shape=(4, 32), baseline_s=2e-3)
    backend = SmallBackend(Kernel(call_s=1.5e-3), clock, ceiling_gbps=1e-6)
    verdict = standard_verifier(backend, oracle, source=random.Random(1), clock=clock).verify(
        CANDIDATE
    )
    assert isinstance(verdict, Feasible)
    facts = dict(verdict.gates[-1].details)
    assert facts["roofline_warm"].startswith("not applied: ")


def reads_one_row(x: Array, weight: Array) -> Array:
    """A reference whose output depends on a sixteenth of its input."""
    return np.broadcast_to(scaled_softmax(x[:1], weight), (1, x.shape[1])).copy()


def test_input_that_the_output_does_not_depend_on_is_not_counted() -> None:
    clock = Clock()
    oracle = SmallOracle(clock, function=reads_one_row, shape=(512, 256), baseline_s=40e-6)
    backend = SmallBackend(Kernel(reads_one_row, call_s=5e-6), clock, ceiling_gbps=5.0)
    verifier = standard_verifier(
        backend, oracle, source=random.Random(3), clock=clock, workloads=oracle.workloads([1])
    )
    assert isinstance(verifier.verify(CANDIDATE), Feasible)


def test_a_failure_under_the_clock_is_the_candidates() -> None:
    @dataclass
    class Crashes(Kernel):
        count: int = 0

        def construct(self, call: Call) -> Failure | None:
            self.count += 1
            return Failure(Category.CRASH, "it died") if self.count > 4 else None

    assert rejected(verdict_on(Crashes()), Category.CRASH) == "[FAIL] it died"


def test_a_reference_that_fails_under_the_clock_is_the_machines_fault() -> None:
    class Broken(SmallOracle):
        def baseline(self):  # type: ignore[no-untyped-def]
            import contextlib

            from unit.verify.small_task import SmallModule

            class Dead(SmallModule):
                def construct(self, call: Call):  # type: ignore[no-untyped-def]
                    return Failure(Category.MEMORY, "no memory left")

            return contextlib.nullcontext(Dead(Kernel(), self.clock))

    with pytest.raises(MachineLacks, match="no memory left"):
        verdict_on(Kernel(), oracle=Broken())


def test_fresh_content_comes_often_and_timed_outputs_are_checked() -> None:
    verdict = verdict_on(Kernel(call_s=1.5e-3))
    facts = dict(verdict.gates[-1].details)
    assert int(facts["timed_outputs_checked"]) >= 2
    assert "fresh content" in facts["input_sets"]


def test_short_calls_are_batched_until_a_tick_is_long_enough() -> None:
    verdict = verdict_on(Kernel(call_s=50e-6), baseline_s=50e-6)
    assert int(dict(verdict.gates[-1].details)["calls_in_a_tick"]) >= 15


def test_a_call_too_short_for_a_cold_measurement_says_so() -> None:
    verdict = verdict_on(Kernel(call_s=5e-6), baseline_s=8e-6, shape=(4, 32))
    assert isinstance(verdict, Feasible)
    assert [ratio.cache for ratio in verdict.speedups] == ["warm"]
    assert dict(verdict.gates[-1].details)["cold_cache"].startswith("not measured: ")


def test_the_policy_has_documented_defaults() -> None:
    assert Policy().roofline_margin == 1.5
    assert Policy().is_shape_specialisation_allowed
