"""KernelBench-style single files that build their C++ with `load_inline`."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.backends.cpu.backend import CpuBackend
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Build, Call, Failure, Returned
from kernelwright.core.task import Task
from kernelwright.core.tensor import Tensor
from kernelwright.core.verdict import Category
from kernelwright.sandbox import Sandbox

SOURCE = '''
import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cpp_source = """
#include <torch/extension.h>
torch::Tensor doubled(torch::Tensor x) {
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    auto y = torch::empty_like(x);
    const float* from = x.data_ptr<float>();
    float* to = y.data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); i++) to[i] = 2 * from[i];
    return y;
}
"""

doubling = load_inline(name="doubling", cpp_sources=cpp_source, functions=["doubled"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.doubling = doubling

    def forward(self, x):
        return self.doubling.doubled(x.contiguous())
'''
TASK = Task(name="doubled", source="", path="doubled.py")


def candidate(source: str = SOURCE) -> Candidate:
    return Candidate.of("cpu", {"model.py": source})


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CpuBackend]:
    with Sandbox() as sandbox:
        yield CpuBackend(sandbox, cache_folder=tmp_path_factory.mktemp("cache"))


def rules(backend: CpuBackend, source: str) -> set[str]:
    return {finding.rule for finding in backend.screen(candidate(source), TASK)}


def test_an_inline_candidate_that_only_computes_in_its_loop_passes(backend: CpuBackend) -> None:
    assert rules(backend, SOURCE) == set()


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("auto y = torch::empty_like(x);", "auto y = torch::softmax(x, 1);", "library"),
        ("auto y = torch::empty_like(x);", "auto y = x.softmax(1);", "torch-compute"),
        ("auto y = torch::empty_like(x);", 'system("ls"); auto y = x;', "system-call"),
        ("#include <torch/extension.h>", "#include <dlfcn.h>", "include"),
        ("return self.doubling.doubled(x.contiguous())", "return x * 2", "torch-compute"),
        (
            "return self.doubling.doubled(x.contiguous())",
            "self.doubling.doubled(x)\n        return torch.zeros_like(x)",
            "not-from-kernel",
        ),
        ("self.doubling = doubling", "import os", "import"),
    ],
)
def test_an_inline_candidate_that_computes_elsewhere_is_refused(
    backend: CpuBackend, old: str, new: str, rule: str
) -> None:
    assert rule in rules(backend, SOURCE.replace(old, new))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_an_inline_candidate_is_built_once_and_run_traced(backend: CpuBackend) -> None:
    build = backend.build(candidate())
    assert isinstance(build, Build), build
    x = Tensor("float32", (3,), struct.pack("3f", 1, -2, 3))
    with backend.open(build) as module:
        module.construct(Call(seed=0, init=(), state={}, args=(x,), is_training=True))
        returned = module.run((x,), is_traced=True)
    assert isinstance(returned, Returned), returned
    assert isinstance(returned.outputs, Tensor)
    assert struct.unpack("3f", returned.outputs.data) == (2, -4, 6)
    assert returned.kernel_calls == ("doubled",)
    assert set(returned.dispatched) <= backend.allowed_operators()
    again = backend.build(candidate())
    assert isinstance(again, Build)
    assert again.is_cached


@pytest.mark.long
@pytest.mark.timeout(600)
def test_an_inline_candidate_with_a_mistake_gets_the_compilers_words(backend: CpuBackend) -> None:
    failure = backend.build(candidate(SOURCE.replace("float* to =", "float* too =")))
    assert isinstance(failure, Failure)
    assert failure.category is Category.COMPILE_ERROR
    assert "'to' was not declared" in failure.reason


def test_an_inline_artifact_is_the_file_itself(backend: CpuBackend) -> None:
    assert backend.export(candidate(), TASK) == {"model.py": SOURCE}
    assert Path(next(iter(backend.export(candidate(), TASK)))).name == "model.py"
