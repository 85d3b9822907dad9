"""The whole way from C++ to a verdict: real compiler, real processes, real PyTorch reference."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelwright.backends.cpu.backend import CpuBackend
from kernelwright.core.candidate import Candidate
from kernelwright.core.task import Tolerance
from kernelwright.core.verdict import (
    Category,
    Feasible,
    GateName,
    GateStatus,
    Infeasible,
    Verdict,
)
from kernelwright.sandbox import Sandbox
from kernelwright.sandbox.module_client import Timeouts
from kernelwright.tasks import WARM, TaskOracle, load_task
from kernelwright.verify.admission import admit
from kernelwright.verify.feedback import verdict_json
from kernelwright.verify.timing import TimingPlan
from kernelwright.verify.verifier import GatedVerifier, standard_verifier

TASK = """
import torch
from torch import nn

ROWS = 192
COLUMNS = 257


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(columns))

    def forward(self, x):
        return torch.softmax(x, dim=-1) * self.scale


def get_inputs():
    return [torch.rand(ROWS, COLUMNS)]


def get_init_inputs():
    return [COLUMNS]
"""

MODEL = """
import torch
from torch import nn
import kernel_ops


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(columns))

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        kernel_ops.softmax(x, self.scale, y, x.shape[0], x.shape[1])
        return y
"""

HEAD = """
#include <cmath>
#include <cstdint>
extern "C" void softmax(const float* x, const float* w, float* y, int64_t rows, int64_t columns) {
"""

ROW = """
  for (int64_t r = 0; r < rows; ++r) {
    const float* a = x + r * columns;
    float* b = y + r * columns;
    float most = a[0];
    for (int64_t c = 1; c < columns; ++c) most = a[c] > most ? a[c] : most;
    float sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += b[c] = std::exp(a[c] - most);
    for (int64_t c = 0; c < columns; ++c) b[c] = b[c] / sum * w[c];
  }
"""

QUICK = TimingPlan(warm_s=0.3, cold_s=0.1, max_quads=24)


def candidate(body: str = ROW, *, model: str = MODEL, head: str = HEAD) -> Candidate:
    return Candidate.of("cpu", {"kernel.cpp": f"{head}{body}}}\n", "model.py": model})


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(warm=tuple(WARM)) as warm:
        yield warm


@pytest.fixture(scope="module")
def oracle(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TaskOracle]:
    path = tmp_path_factory.mktemp("task") / "scaled_softmax.py"
    path.write_text(TASK)
    with TaskOracle(load_task(path, sandbox=sandbox), sandbox=sandbox) as answering:
        yield answering


@pytest.fixture(scope="module")
def verifier(
    sandbox: Sandbox, oracle: TaskOracle, tmp_path_factory: pytest.TempPathFactory
) -> GatedVerifier:
    timeouts = Timeouts(run_s=2.0)
    backend = CpuBackend(sandbox, cache_folder=tmp_path_factory.mktemp("cache"), timeouts=timeouts)
    return standard_verifier(backend, oracle, plan=QUICK)


def rejected(verdict: Verdict) -> Infeasible:
    assert isinstance(verdict, Infeasible), verdict
    return verdict


def test_an_honest_kernel_is_feasible_with_a_ratio_and_every_gate_accounted_for(
    verifier: GatedVerifier,
) -> None:
    verdict = verifier.verify(candidate())
    assert isinstance(verdict, Feasible), verdict
    assert verdict.speedup is not None
    assert 0 < verdict.speedup.low <= verdict.speedup.median <= verdict.speedup.high
    assert verdict.speedup.baseline.startswith("torch eager")
    assert verdict.profile is not None
    statuses = {report.gate: report.status for report in verdict.gates}
    assert statuses.pop(GateName.AUDIT) is GateStatus.NOT_RUN
    assert set(statuses.values()) == {GateStatus.PASSED}
    correctness = dict(verdict.gates[3].details)
    assert correctness["parameters"] == "copied"
    assert verdict_json(verdict, tolerance=Tolerance.STRICT)["speedup"] == verdict.speedup.median


def test_admission_of_the_real_task_kills_every_mutant(oracle: TaskOracle) -> None:
    admission = admit(oracle, Tolerance.STRICT)
    assert admission.is_powerful, admission.kills
    assert len(admission.kills) >= 7


BROKEN = {
    "a tail that is not written": (
        candidate(
            ROW.replace("c < columns; ++c) b[c] = b[c]", "c < columns - 1; ++c) b[c] = b[c]")
        ),
        GateName.CORRECTNESS,
        Category.NUMERICAL_MISMATCH,
        "Bounding box: output[0:192, 256:257]",
    ),
    "nothing is written": (
        candidate("(void)x; (void)w; (void)y; (void)rows; (void)columns;\n"),
        GateName.CORRECTNESS,
        Category.NUMERICAL_MISMATCH,
        "not finite where the reference is",
    ),
    "the parameter is ignored": (
        candidate(ROW.replace("* w[c]", "")),
        GateName.CORRECTNESS,
        Category.NUMERICAL_MISMATCH,
        "randomised parameters",
    ),
    "no maximum is subtracted": (
        candidate(ROW.replace("a[c] - most", "a[c]")),
        GateName.CORRECTNESS,
        Category.NUMERICAL_MISMATCH,
        "(inputs: large)",
    ),
    "the output has another shape": (
        candidate(model=MODEL.replace("return y", "return y[:, :-1]")),
        GateName.CORRECTNESS,
        Category.SHAPE_MISMATCH,
        "output.shape mismatch: expected (192, 257), got (192, 256)",
    ),
    "the output is a list": (
        candidate(model=MODEL.replace("return y", "return [y]")),
        GateName.CORRECTNESS,
        Category.TYPE_MISMATCH,
        "type(output) mismatch: expected Tensor, got list",
    ),
    "the input is changed": (
        candidate(ROW + "  const_cast<float*>(x)[0] = 1e30f;\n"),
        GateName.CORRECTNESS,
        Category.INPUT_MUTATED,
        "forward changed its argument 0",
    ),
    "it never ends": (
        candidate("  volatile bool on = true;\n  while (on) {}\n" + ROW),
        GateName.CORRECTNESS,
        Category.TIMEOUT,
        "[FAIL] First correctness run timed out after 2s",
    ),
    "it crashes": (
        candidate("  *(volatile int*)0 = 1;\n" + ROW),
        GateName.CORRECTNESS,
        Category.CRASH,
        "[FAIL] ",
    ),
    "it raises": (
        candidate(model=MODEL.replace("return y", "raise ValueError('no such size')")),
        GateName.CORRECTNESS,
        Category.EXCEPTION,
        "no such size",
    ),
    "it does not compile": (
        candidate(ROW + "  undeclared(x);\n"),
        GateName.COMPILE,
        Category.COMPILE_ERROR,
        "undeclared",
    ),
    "pytorch computes": (
        candidate(model=MODEL.replace("return y", "return torch.softmax(x, -1)")),
        GateName.SCREEN,
        Category.HACK,
        "model.py",
    ),
}


@pytest.mark.parametrize("what", list(BROKEN))
def test_a_broken_candidate_is_rejected_at_its_gate_in_words_that_help(
    verifier: GatedVerifier, what: str
) -> None:
    broken, gate, category, words = BROKEN[what]
    verdict = rejected(verifier.verify(broken))
    assert (verdict.gate, verdict.category) == (gate, category), verdict.reason
    assert words in verdict.reason


def test_a_kernel_that_stops_working_once_it_is_timed_is_found_out(
    verifier: GatedVerifier,
) -> None:
    # The correctness trials make a handful of calls; recycled memory still holds old answers.
    counting = "  static int calls = 0;\n  if (++calls > 12) return;\n"
    verdict = rejected(verifier.verify(candidate(counting + ROW)))
    assert verdict.gate is GateName.LATENCY, verdict.reason
    assert verdict.category is Category.HACK
