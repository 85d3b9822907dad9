"""Whole projects: host part, kernel, binding and model together, on CPU tensors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from kernelwright.emulator.build import BuildFault, Built
from kernelwright.emulator.project import project_from_json, project_from_parts
from support.ascendc_projects import KERNEL, scale_project


@pytest.fixture(scope="module")
def project(built: Any) -> Any:
    return built(scale_project(), combinations=None)


def errors_of(answer: Any) -> list[str]:
    return [
        fault["code"]
        for report in answer.reports
        for fault in report["faults"] + report["launch"]["faults"]
        if fault["severity"] == "error"
    ]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
def test_every_data_type_combination_has_its_kernel(project: Any, dtype: torch.dtype) -> None:
    x = torch.arange(-40, 37).to(dtype).reshape(7, 11)
    answer = project.call(lambda module: module.scale(x, factor=2.0))
    assert (answer.error, errors_of(answer)) == ("", [])
    assert np.array_equal(answer.value, (x * 2).numpy())
    assert answer.reports[0]["launch"]["blocks"] == 4


def test_a_strided_input_reaches_the_kernel_dense(project: Any) -> None:
    x = torch.randn(6, 5, 4).permute(2, 0, 1)[:, ::2]
    answer = project.call(lambda module: module.scale(x, factor=-1.0))
    assert errors_of(answer) == []
    assert np.array_equal(answer.value, -x.numpy())


def test_a_kernel_that_is_not_built_is_said(built: Any) -> None:
    only_float = built(scale_project(), combinations=[0])
    answer = only_float.call(lambda m: m.scale(torch.zeros(3, dtype=torch.int32)))
    assert "not built for data type combination 1" in answer.faults["HOST_KERNEL_NOT_BUILT"]


def test_a_model_written_for_the_device_runs(project: Any) -> None:
    def scene(_: object) -> Any:
        from kernelwright.emulator.run_host import load_model

        model = load_model(project.built.folder)(4.0).to("npu:0").npu()
        there = torch.ones(3, device="npu").to(torch.device("npu"))
        begin, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
        begin.record()
        result = model(there.npu())
        end.record()
        assert begin.elapsed_time(end) >= 0
        assert torch.npu.is_available() and there.is_npu and torch.npu.device_count() == 1
        return result

    answer = project.call(scene)
    assert answer.error == ""
    assert answer.value.tolist() == [4.0, 4.0, 4.0]


def test_a_build_folder_runs_as_a_command(project: Any, tmp_path: Path) -> None:
    x = np.linspace(-1, 1, 50, dtype=np.float32)
    np.savez(tmp_path / "in.npz", x)
    argv = [sys.executable, "-m", "kernelwright.emulator.run_host", str(project.built.folder)]
    said = subprocess.run(
        [*argv, "in.npz", "out.npz"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [report["operator"] for report in json.loads(said.stdout)] == ["ScaleCustom"]
    assert np.array_equal(np.load(tmp_path / "out.npz")["arr_0"], x * 3)


def test_timing_only_keeps_the_launch_and_skips_no_report(project: Any) -> None:
    def scene(module: Any) -> Any:
        from kernelwright.emulator.binding_host import session_of

        session_of(project.built.folder).runtime.kw_host_set_option(b"timing_only", 1)
        module.scale(torch.zeros(64))

    report = project.call(scene).reports[0]["launch"]
    assert report["timing"]["timing_only"] is True
    assert report["timing"]["duration_us"] > 0


@pytest.mark.parametrize(
    ("old", "new", "part", "words"),
    [
        (
            "scale_custom(",
            "scaled(",
            "kernel_src.cpp",
            "needs a kernel function called scale_custom",
        ),
        ("GM_ADDR bias, ", "", "kernel_src.cpp", "must take, in this order: x, bias, y, workspace"),
        ("data.factor", "data.facto", "kernel_src.cpp", "kernel_src.cpp:14"),
    ],
)
def test_a_kernel_that_does_not_fit_is_placed(
    outcome: Callable[..., Any], old: str, new: str, part: str, words: str
) -> None:
    parts = project_from_parts(scale_project(kernel=KERNEL.replace(old, new)))
    found = outcome(parts)
    assert isinstance(found, BuildFault)
    assert found.part == part
    assert words in found.log


def test_a_host_part_that_does_not_compile_names_its_own_line(outcome: Callable[..., Any]) -> None:
    parts = scale_project()
    tiling = parts["host_tiling_src.h"].replace("uint32_t, cores", "uint33_t, cores")
    found = outcome(project_from_parts({**parts, "host_tiling_src.h": tiling}))
    assert isinstance(found, BuildFault)
    assert (found.part, found.line) == ("host_tiling_src.h", 7)


DIRECT_KERNEL = """
#include "kernel_operator.h"
template <typename T>
__global__ __aicore__ void add_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t count) {
  AscendC::GlobalTensor<T> a, b, c;
  a.SetGlobalBuffer((__gm__ T*)x, count);
  b.SetGlobalBuffer((__gm__ T*)y, count);
  c.SetGlobalBuffer((__gm__ T*)z, count);
  int64_t share = (count / AscendC::GetBlockNum() + 15) / 16 * 16;
  int64_t from = AscendC::GetBlockIdx() * share;
  for (int64_t i = from; i < from + share && i < count; ++i) {
    c.SetValue(i, a.GetValue(i) + b.GetValue(i));
  }
}
extern "C" void launch_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t count, void* stream) {
  add_kernel<float><<<3, nullptr, stream>>>(x, y, z, count);
}
"""

DIRECT_BINDING = """
#include <torch/all.h>
#include <torch/extension.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
extern "C" void launch_add(uint8_t* x, uint8_t* y, uint8_t* z, int64_t count, void* stream);
static torch::Tensor add(const torch::Tensor& x, const torch::Tensor& y, int64_t past) {
  const c10::OptionalDeviceGuard guard(x.device());
  torch::Tensor z = torch::empty_like(x);
  auto stream = c10_npu::getCurrentNPUStream().stream(false);
  launch_add((uint8_t*)x.data_ptr(), (uint8_t*)y.data_ptr(), (uint8_t*)z.data_ptr(),
             x.numel() + past, stream);
  return z;
}
PYBIND11_MODULE(my_ops, m) {
  m.def("add", &add, "add", py::arg("x"), py::arg("y"), py::arg("past") = 0);
}
"""


@pytest.fixture(scope="module")
def direct(toolbox: Any, tmp_path_factory: pytest.TempPathFactory) -> Built:
    from kernelwright.emulator.build import build

    sources = [
        {"path": "kernel/add.cpp", "content": DIRECT_KERNEL},
        {"path": "kernel/bind.cpp", "content": DIRECT_BINDING},
        {"path": "ModelNew.py", "content": "import my_ops"},
    ]
    found = project_from_json(json.dumps({"sources": sources}))
    from support.ascendc_runs import FACTS, plain

    made = build(found, tmp_path_factory.mktemp("direct"), toolbox, plain, platform=FACTS)
    assert isinstance(made, Built), made
    return made


def test_a_direct_launch_runs_and_reports(direct: Built, runnable: Any) -> None:
    x, y = torch.randn(100), torch.randn(100)
    answer = runnable(direct, "my_ops").call(lambda module: module.add(x, y))
    assert (answer.error, errors_of(answer)) == ("", [])
    assert np.array_equal(answer.value, (x + y).numpy())
    assert answer.reports[0]["operator"] == "add_kernel<float>"
    assert answer.reports[0]["block_dim"] == 3


def test_a_direct_launch_past_its_tensors_is_a_fault(direct: Built, runnable: Any) -> None:
    x = torch.zeros(96)
    answer = runnable(direct, "my_ops").call(lambda module: module.add(x, x, past=4000))
    assert "GM_OUT_OF_BOUNDS" in errors_of(answer)
