"""The static rules of Ascend C projects: what they let through and what they find."""

from __future__ import annotations

import json

import pytest

from kernelwright.backends.ascendc.device_rules import screen_device
from kernelwright.backends.ascendc.parts import BINDING, HOST, JSON, KERNEL, MODEL, TILING
from kernelwright.backends.ascendc.screening import screened
from kernelwright.core.candidate import Candidate
from kernelwright.testing.samples import a_task

_MODEL = """
import torch
import torch_npu
import custom_ops_lib

NAME = "twice_custom"


class ModelNew(torch.nn.Module):
    def forward(self, x):
        {body}
"""
_BINDING = """
#include <torch/extension.h>
#include "pytorch_npu_helper.hpp"

at::Tensor twice(const at::Tensor& x)
{{
    TORCH_CHECK(x.device().type() == c10::DeviceType::PrivateUse1, "on the device");
    at::Tensor y = at::empty_like(x);
    {body}
    return y;
}}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("twice_custom", &twice, "twice"); }}
"""
_KERNEL = """
#include "kernel_operator.h"

class Twice {{
public:
    __aicore__ inline Twice() {{}}
    __aicore__ inline void Process(__gm__ float* x) {{ {body} }}
    __aicore__ inline void Process() {{ Process(nullptr); }}
}};

extern "C" __global__ __aicore__ void twice_custom(GM_ADDR x, GM_ADDR y, GM_ADDR w, GM_ADDR t)
{{
    Twice op;
    op.Process();
}}
"""
_HOST = """
#include "twice_custom_tiling.h"
#include "register/op_def_registry.h"
#include <algorithm>
namespace optiling {{
static ge::graphStatus TilingFunc(gert::TilingContext* context) {{ {body} return 0; }}
}}
"""
_DISPATCH = "EXEC_NPU_CMD(aclnnTwiceCustom, x, y);"


def _rules(
    *,
    model: str = "return custom_ops_lib.twice_custom(x)",
    binding: str = _DISPATCH,
    kernel: str = "",
    host: str = "",
) -> list[tuple[str, str]]:
    files = {
        JSON: json.dumps([{"op": "TwiceCustom", "input_desc": [], "output_desc": []}]),
        TILING: '#include "register/tilingdata_base.h"\n',
        HOST: _HOST.format(body=host),
        KERNEL: _KERNEL.format(body=kernel),
        BINDING: _BINDING.format(body=binding),
        MODEL: _MODEL.format(body=model),
    }
    found = screened(Candidate.of("ascendc", files), a_task())
    return [(finding.rule, finding.path) for finding in found]


@pytest.mark.parametrize(
    "model",
    [
        "return custom_ops_lib.twice_custom(x)",
        "return getattr(custom_ops_lib, NAME)(x)",
        'return getattr(custom_ops_lib, "twice_custom")(x.contiguous()).view(-1)',
        "fn = getattr(custom_ops_lib, NAME)\n        return fn(x)",
        "return torch.ops.myops.twice_custom(x)",
    ],
)
def test_every_usual_way_to_call_the_library_passes(model: str) -> None:
    assert _rules(model=model) == []


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        ("return x + x", "no-kernel"),
        ("return torch.relu(custom_ops_lib.twice_custom(x))", "torch-compute"),
        ("return custom_ops_lib.twice_custom(x) * 2", "torch-compute"),
        ("custom_ops_lib.twice_custom(x)\n        return x.exp()", "torch-compute"),
        ("return custom_ops_lib.other(x)", "format:unknown-kernel"),
        ('return getattr(torch, "relu")(custom_ops_lib.twice_custom(x))', "banned-name"),
        ("return torch.ops.aten.relu(custom_ops_lib.twice_custom(x))", "torch-compute"),
        ("custom_ops_lib = torch\n        return custom_ops_lib.relu(x)", "kernel-ops-rebound"),
        ("return torch_npu.npu_gelu(custom_ops_lib.twice_custom(x))", "torch-compute"),
    ],
)
def test_a_model_that_computes_is_found_out(model: str, rule: str) -> None:
    assert (rule, MODEL) in _rules(model=model)


@pytest.mark.parametrize(
    ("binding", "rule"),
    [
        ("// EXEC_NPU_CMD(aclnnTwiceCustom, x, y);", "no-dispatch"),
        ('const char* s = "EXEC_NPU_CMD(aclnnTwiceCustom, x, y)";', "no-dispatch"),
        (f"{_DISPATCH} y = at::add(x, x);", "library"),
        (f"{_DISPATCH} y = x.mul(2);", "torch-compute"),
        ("EXEC_NPU_CMD(aclnnMuls, x, two, y);", "vendor-operator"),
        (f"{_DISPATCH} float* p = y.data_ptr<float>(); p[0] = 1;", "binding-data"),
        (f'{_DISPATCH} system("true");', "system-call"),
    ],
)
def test_a_binding_that_computes_or_does_not_dispatch_is_found_out(binding: str, rule: str) -> None:
    assert (rule, BINDING) in _rules(binding=binding)


@pytest.mark.parametrize(
    ("kernel", "rule"),
    [
        ("std::vector<float> v;", "device:standard-library"),
        ("float* p = new float[8];", "device:dynamic-memory"),
        ("float* p = (float*)malloc(32);", "device:dynamic-memory"),
        ("try { } catch (...) { }", "device:exceptions"),
        ("Process(x);", "device:recursion"),
        ("auto& t = typeid(x);", "device:rtti"),
    ],
)
def test_cpp_that_the_device_lacks_is_found(kernel: str, rule: str) -> None:
    assert (rule, KERNEL) in _rules(kernel=kernel)


def test_an_overload_that_calls_its_namesake_is_no_recursion() -> None:
    assert _rules() == []


def test_mutual_recursion_and_virtual_functions_are_found_at_their_lines() -> None:
    source = (
        "struct A { virtual void f() {} };\n"
        "__aicore__ inline int odd(int n);\n"
        "__aicore__ inline int even(int n) { return n == 0 ? 1 : odd(n - 1); }\n"
        "__aicore__ inline int odd(int n) { return n == 0 ? 0 : even(n - 1); }\n"
    )
    found = [(finding.rule, finding.line) for finding in screen_device(KERNEL, source)]
    assert found == [("device:virtual", 1), ("device:recursion", 3), ("device:recursion", 4)]


def test_type_traits_may_be_used_on_the_device() -> None:
    assert _rules(kernel="if constexpr (std::is_same<float, half>::value) { }") == []


def test_a_host_part_may_use_the_standard_library_but_not_the_system() -> None:
    assert _rules(host="auto n = std::max(1, 2); (void)n;") == []
    assert ("system-call", HOST) in _rules(host='getenv("HOME");')
