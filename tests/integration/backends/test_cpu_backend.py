"""The CPU backend on a real compiler and in a real sandbox."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.backends.cpu.backend import CpuBackend
from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import ToolchainMissing
from kernelwright.core.execution import Build, Call, Failure, Poison, Returned
from kernelwright.core.profile import Bottleneck
from kernelwright.core.task import Task
from kernelwright.core.tensor import Tensor
from kernelwright.core.verdict import Category, Latency, LatencySource
from kernelwright.sandbox import Sandbox

KERNEL = """
#include <cmath>
#include <cstdint>
#include "row.h"
extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, int64_t rows,
                        int64_t columns) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) softmax_row(x + i * columns, y + i * columns, columns);
}
"""
ROW = """
static inline void softmax_row(const float* __restrict__ x, float* __restrict__ y, int64_t n) {
    float top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; j++) top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < n; j++) { y[j] = std::exp(x[j] - top); sum += y[j]; }
    const float scale = 1 / sum;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) y[j] *= scale;
}
"""
MODEL = '''"""Softmax over the last axis."""
import torch
from torch import nn
import kernel_ops


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        columns = x.shape[-1]
        kernel_ops.softmax(x, y, x.numel() // columns, columns)
        return y
'''
PARTS = {"kernel.cpp": KERNEL, "row.h": ROW, "model.py": MODEL}
TASK = Task(name="softmax", source="", path="softmax.py")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as warm:
        yield warm


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def backend(sandbox: Sandbox, cache: Path) -> CpuBackend:
    return CpuBackend(sandbox, cache_folder=cache)


@pytest.fixture(scope="module")
def build(backend: CpuBackend) -> Build:
    return built(backend.build(Candidate.of("cpu", PARTS)))


def built(outcome: Build | Failure) -> Build:
    assert isinstance(outcome, Build), outcome
    return outcome


def with_kernel(source: str, model: str = MODEL) -> Candidate:
    return Candidate.of("cpu", {"kernel.cpp": source, "model.py": model})


def floats(shape: tuple[int, ...], values: list[float]) -> Tensor:
    return Tensor("float32", shape, struct.pack(f"{len(values)}f", *values))


def run(backend: CpuBackend, build: Build, *args: object) -> Returned | Failure:
    with backend.open(build) as module:
        call = Call(seed=0, init=(), state={}, args=(), is_training=True)
        constructed = module.construct(call)
        if isinstance(constructed, Failure):
            return constructed
        return module.run(args, poison=Poison.NAN, is_traced=True)  # type: ignore[arg-type]


def test_a_kernel_is_built_called_and_traced(backend: CpuBackend, build: Build) -> None:
    returned = run(backend, build, floats((2, 3), [0, 1, 2, 0, 0, 0]))
    assert isinstance(returned, Returned), returned
    assert returned.kernel_calls == ("softmax",)
    assert set(returned.dispatched) <= backend.allowed_operators()
    assert isinstance(returned.outputs, Tensor)
    found = struct.unpack("6f", returned.outputs.data)
    assert found == pytest.approx([0.0900306, 0.2447285, 0.6652410, 1 / 3, 1 / 3, 1 / 3], abs=1e-6)


def test_a_second_build_comes_from_the_cache(sandbox: Sandbox, cache: Path, build: Build) -> None:
    started = time.perf_counter()
    again = built(CpuBackend(sandbox, cache_folder=cache).build(build.candidate))
    assert again.is_cached
    assert again.wall_s == 0.0
    assert dict(again.files)["kernel.so"] == dict(build.files)["kernel.so"]
    assert time.perf_counter() - started < 0.5


def test_another_model_over_the_same_kernel_needs_no_new_build(
    backend: CpuBackend, build: Build
) -> None:
    other = Candidate.of("cpu", {**PARTS, "model.py": MODEL + "\n# another\n"})
    assert built(backend.build(other)).is_cached


def test_static_facts_tell_vectors_openmp_and_scalar_mathematics(build: Build) -> None:
    facts = dict(build.facts)
    assert facts["openmp"] == "yes"
    assert facts["vectorised"] == "yes"
    assert int(facts["vector_bits"]) >= 128
    assert facts["scalar_math"] == "expf"


def test_a_scalar_kernel_is_seen_to_be_scalar(backend: CpuBackend) -> None:
    source = (
        'extern "C" void scan(const float* x, float* y, long n) {\n'
        "    float s = 0;\n    for (long i = 0; i < n; i++) { s = s * 0.5f + x[i]; y[i] = s; }\n}\n"
    )
    facts = dict(built(backend.build(with_kernel(source))).facts)
    assert facts["vectorised"] == "no"
    assert facts["vector_bits"] == "0"


def test_a_compile_error_comes_back_cleaned_and_is_cached(
    sandbox: Sandbox, cache: Path, backend: CpuBackend
) -> None:
    candidate = with_kernel(KERNEL.replace('#include "row.h"', ""))
    failure = backend.build(candidate)
    assert isinstance(failure, Failure)
    assert failure.category is Category.COMPILE_ERROR
    assert failure.reason.startswith("kernel.cpp:")
    assert "'softmax_row' was not declared" in failure.reason
    assert "/tmp" not in failure.reason
    assert CpuBackend(sandbox, cache_folder=cache).build(candidate) == failure


@pytest.mark.parametrize(
    ("source", "category", "words"),
    [
        ("void f() {}", Category.FORMAT, 'extern "C"'),
        ('extern "C" int f(float* x) { return 1; }', Category.COMPILE_ERROR, "return void"),
        (
            '#include <vector>\nextern "C" void f(std::vector<float>& x) {}',
            Category.COMPILE_ERROR,
            "parameter 1 of f",
        ),
        (
            'void other(int);\nextern "C" void f(float* x) { other(1); }',
            Category.COMPILE_ERROR,
            "undefined reference to `other(int)'",
        ),
        (
            "#include <cstdlib>\n#define RUN sys##tem\n"
            '#define GLUE(a, b) a##b\nextern "C" void f(float* x) { GLUE(sys, tem)("ls"); }',
            Category.HACK,
            "calls system",
        ),
        (
            "#include <thread>\n"
            'extern "C" void f(float* x) { std::thread([x] { *x = 1; }).detach(); }',
            Category.HACK,
            "thread",
        ),
    ],
)
def test_what_cannot_be_a_kernel_is_a_failure_with_a_reason(
    backend: CpuBackend, source: str, category: Category, words: str
) -> None:
    failure = backend.build(with_kernel(source))
    assert isinstance(failure, Failure)
    assert failure.category is category
    assert words in failure.reason


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kernel_ops.softmax(x.t(), y, 1, 1)", "argument 1 of softmax (x) is not contiguous"),
        ("kernel_ops.softmax(x.double(), y, 1, 1)", "has dtype torch.float64"),
        ("kernel_ops.softmax(x, y, 1)", "softmax takes 4 arguments, got 3"),
        ("kernel_ops.softmax(x, y, x, 1)", "argument 3 of softmax (rows) is a number"),
        ("kernel_ops.softmax(x, 3, 1, 1)", "argument 2 of softmax (y) must be a tensor"),
        ("kernel_ops.softmax(x, y, 1.5, 1)", "must be int64_t, got float"),
        ("kernel_ops.relu(x)", "relu"),
    ],
)
def test_the_shim_refuses_wrong_arguments(backend: CpuBackend, line: str, words: str) -> None:
    model = MODEL.replace("kernel_ops.softmax(x, y, x.numel() // columns, columns)", line)
    candidate = Candidate.of("cpu", {**PARTS, "model.py": model})
    failure = run(backend, built(backend.build(candidate)), floats((2, 3), [0.0] * 6))
    assert isinstance(failure, Failure)
    assert failure.category is Category.EXCEPTION
    assert words in failure.reason


def test_numbers_reach_the_kernel_as_declared(backend: CpuBackend) -> None:
    source = """
#include <cstdint>
extern "C" void pack(double* y, int64_t a, double b, int64_t c, float d, int e, bool f,
                     const float* missing) {
    y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = f; y[6] = missing == nullptr;
}
"""
    model = (
        "import torch\nfrom torch import nn\nimport kernel_ops\n\n\n"
        "class ModelNew(nn.Module):\n    def forward(self):\n"
        "        y = torch.empty(7, dtype=torch.float64)\n"
        "        kernel_ops.pack(y, 1 << 40, 2, True, 0.5, -3, True, None)\n        return y\n"
    )
    returned = run(backend, built(backend.build(with_kernel(source, model))))
    assert isinstance(returned, Returned), returned
    assert isinstance(returned.outputs, Tensor)
    assert struct.unpack("7d", returned.outputs.data) == (1 << 40, 2, 1, 0.5, -3, 1, 1)


def test_a_kernel_that_writes_past_the_end_ends_its_process_only(backend: CpuBackend) -> None:
    source = KERNEL.replace("#pragma omp parallel", "y[1L << 40] = 1;\n#pragma omp parallel")
    parts = {**PARTS, "kernel.cpp": source}
    failure = run(
        backend, built(backend.build(Candidate.of("cpu", parts))), floats((1, 2), [0.0, 1.0])
    )
    assert isinstance(failure, Failure)
    assert failure.category is Category.CRASH
    assert "SIGSEGV" in failure.reason


def test_more_threads_than_the_baseline_has_are_refused(backend: CpuBackend) -> None:
    source = """
#include <cstdint>
#include <omp.h>
extern "C" void threads(int64_t* y) {
#pragma omp parallel num_threads(4)
#pragma omp single
    y[0] = omp_get_num_threads();
}
"""
    model = (
        "import torch\nfrom torch import nn\nimport kernel_ops\n\n\n"
        "class ModelNew(nn.Module):\n    def forward(self):\n"
        "        y = torch.empty(1, dtype=torch.int64)\n"
        "        kernel_ops.threads(y)\n        return y\n"
    )
    greedy = built(backend.build(with_kernel(source, model)))
    failure = run(backend, greedy)
    assert isinstance(failure, Failure)
    assert "more threads" in failure.reason
    modest = built(backend.build(with_kernel(source.replace(" num_threads(4)", ""), model)))
    returned = run(backend, modest)
    assert isinstance(returned, Returned), returned
    assert isinstance(returned.outputs, Tensor)
    assert struct.unpack("q", returned.outputs.data) == (1,)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("clang++") is None, reason="clang++ is not installed")
def test_clang_builds_what_gcc_builds(sandbox: Sandbox, tmp_path: Path) -> None:
    backend = CpuBackend(sandbox, cache_folder=tmp_path, compiler="clang++")
    assert backend.versions()["compiler"].startswith("clang++ ")
    returned = run(
        backend, built(backend.build(Candidate.of("cpu", PARTS))), floats((1, 2), [0.0, 0.0])
    )
    assert isinstance(returned, Returned), returned
    assert isinstance(returned.outputs, Tensor)
    assert struct.unpack("2f", returned.outputs.data) == (0.5, 0.5)
    failure = backend.build(with_kernel(KERNEL.replace('#include "row.h"', "")))
    assert isinstance(failure, Failure)
    assert "use of undeclared identifier 'softmax_row'" in failure.reason


def test_a_missing_compiler_is_our_problem_not_the_candidates(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    backend = CpuBackend(sandbox, cache_folder=tmp_path, compiler="no-such-compiler")
    with pytest.raises(ToolchainMissing, match="fix: install g"):
        backend.build(Candidate.of("cpu", PARTS))


def test_a_damaged_cache_entry_is_built_again(sandbox: Sandbox, tmp_path: Path) -> None:
    backend = CpuBackend(sandbox, cache_folder=tmp_path)
    backend.build(Candidate.of("cpu", PARTS))
    (entry,) = (tmp_path / "builds").iterdir()
    (entry / "build.json").write_text("not json")
    again = built(backend.build(Candidate.of("cpu", PARTS)))
    assert not again.is_cached
    assert built(backend.build(Candidate.of("cpu", PARTS))).is_cached


def test_a_profile_names_the_limit_and_what_to_do(backend: CpuBackend, build: Build) -> None:
    size = 8 << 20
    ceiling = backend.copy_ceiling_gbps(size, is_cold=False)
    assert 0.1 < ceiling < 10_000
    assert backend.copy_ceiling_gbps(size, is_cold=False) == ceiling
    slow = profile_at(backend, build, size, size / (ceiling * 1e3) * 50)
    assert slow.bottleneck is Bottleneck.SCALAR
    assert "expf" in slow.advice
    fast = profile_at(backend, build, size, size / (slow.ceiling_gbps * 1e3) * 1.2)
    assert fast.bottleneck is Bottleneck.MEMORY
    assert fast.achieved_gbps == pytest.approx(slow.ceiling_gbps / 1.2)
    assert sum(share for _, share in fast.time_split) == pytest.approx(1.0)


def profile_at(backend: CpuBackend, build: Build, size: int, duration_us: float):
    latency = Latency(duration_us, duration_us, 0.0, LatencySource.MEASURED)
    return backend.profile(build, latency, bytes_moved=size)


def test_a_cold_ceiling_is_measured_apart_from_a_warm_one(backend: CpuBackend) -> None:
    assert backend.copy_ceiling_gbps(1 << 20, is_cold=True) > 0.05


CHECK = """
import importlib.util, sys
assert "kernelwright" not in sys.modules
{load}
import torch
assert not any(name.startswith("kernelwright") for name in sys.modules)
x = torch.randn(5, 7)
y = module.ModelNew()(x)
torch.testing.assert_close(y, torch.softmax(x, -1))
torch.testing.assert_close(module.ModelNew()(x.t()), torch.softmax(x.t(), -1))
print("equal")
"""
BY_PATH = """
spec = importlib.util.spec_from_file_location("anything", {path!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""
BY_PACKAGE = """
sys.path.insert(0, {path!r})
import artifact.model as module
"""


@pytest.fixture(scope="module")
def artifact(backend: CpuBackend, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "artifact"
    folder.mkdir()
    # A name that the loader has too must not reach it.
    model = MODEL.replace("class ModelNew", "def _number(x):\n    return 1 / 0\n\n\nclass ModelNew")
    candidate = Candidate.of("cpu", {**PARTS, "model.py": model})
    for path, text in backend.export(candidate, TASK).items():
        (folder / path).write_text(text)
    return folder


def imported(code: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python that cannot find this product, from another folder."""
    site = Path(__import__("torch").__file__).parents[1]
    blocker = folder / "blocker"
    blocker.mkdir(exist_ok=True)
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder), "KERNEL_BUILD_CACHE": str(folder)}
    return subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.append({str(site)!r})\n{code}"],
        cwd=blocker,
        env={**clean, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_an_artifact_runs_elsewhere_without_this_product(artifact: Path, tmp_path: Path) -> None:
    moved = tmp_path / "somewhere else" / "artifact"
    shutil.copytree(artifact, moved)
    by_path = CHECK.format(load=BY_PATH.format(path=str(moved / "model.py")))
    done = imported(by_path, tmp_path)
    assert done.stdout == "equal\n", done.stderr
    # The library is there now: neither a compiler nor a second build is needed.
    (moved / "__init__.py").write_text("")
    by_package = CHECK.format(load=BY_PACKAGE.format(path=str(moved.parent)))
    done = imported(by_package, tmp_path, PATH="/nowhere")
    assert done.stdout == "equal\n", done.stderr


def test_an_artifact_says_what_it_needs_where_there_is_no_compiler(
    artifact: Path, tmp_path: Path
) -> None:
    code = CHECK.format(load=BY_PATH.format(path=str(artifact / "model.py")))
    done = imported(code, tmp_path, PATH="/nowhere")
    assert done.returncode != 0
    assert "install g++" in done.stderr


def test_an_exported_model_keeps_docstring_and_takes_every_form_of_import(
    backend: CpuBackend,
) -> None:
    for line, expected in (
        ("import kernel_ops as ops", "ops = _KERNEL_OPS"),
        ("from kernel_ops import softmax as run", "run = _KERNEL_OPS.softmax"),
        ("import math, kernel_ops", "import math; kernel_ops = _KERNEL_OPS"),
    ):
        parts = {**PARTS, "model.py": MODEL.replace("import kernel_ops", line)}
        text = backend.export(Candidate.of("cpu", parts), TASK)["model.py"]
        compile(text, "model.py", "exec")
        assert text.startswith('"""Softmax over the last axis."""')
        assert expected in text
        assert "import kernel_ops" not in text
