"""What the toolchain generates around a kernel: macros, tiling class, entry, checks."""

from __future__ import annotations

import pytest

from kernelwright.emulator.kernel_source import entry, mismatches, preamble, tiling_class
from kernelwright.emulator.operator import Operand, Operator
from kernelwright.emulator.project import OperatorProject, ProjectFault, project_from_parts
from support.ascendc_projects import TILING, description, scale_project

TYPES = ("float", "float16")
FORMATS = ("ND", "NCHW")
OPERATOR = Operator(
    "ScaleCustom",
    (Operand("x", "required", TYPES, FORMATS), Operand("bias", "optional", TYPES, FORMATS)),
    (Operand("y", "required", TYPES, FORMATS),),
    ("factor",),
    ("ascend910b",),
    True,
)


def project(**parts: str) -> OperatorProject:
    names = {
        "kernel": "kernel_src.cpp",
        "tiling": "host_tiling_src.h",
        "json": "project_json_src.json",
    }
    found = project_from_parts({**scale_project(), **{names[k]: v for k, v in parts.items()}})
    assert isinstance(found, OperatorProject)
    return found


@pytest.mark.parametrize(
    ("combination", "lines"),
    [
        (0, ("DTYPE_X float", "ORIG_DTYPE_X DT_FLOAT", "FORMAT_BIAS FORMAT_ND")),
        (1, ("DTYPE_X half", "DTYPE_Y half", "ORIG_DTYPE_BIAS DT_FLOAT16", "FORMAT_Y FORMAT_NCHW")),
    ],
)
def test_each_combination_has_its_own_macros(combination: int, lines: tuple[str, ...]) -> None:
    text = preamble(project(), OPERATOR, combination)
    assert [line for line in lines if f"#define {line}\n" not in text] == []


def test_the_default_tiling_class_is_the_registered_one_wherever_it_lies() -> None:
    assert tiling_class(project()) == "optiling::ScaleTiling"
    nested = TILING.replace("namespace optiling {", "namespace a { namespace b {", 1) + "}"
    assert tiling_class(project(tiling=nested)) == "a::b::ScaleTiling"
    assert tiling_class(project(tiling="// REGISTER_TILING_DATA_CLASS(ScaleCustom, X)")) == ""


def test_a_kernel_of_another_name_is_refused_with_both_names() -> None:
    source = 'extern "C" __global__ __aicore__ void scale(GM_ADDR x) {}'
    found = entry(project(kernel=source), OPERATOR)
    assert isinstance(found, ProjectFault)
    assert "called scale_custom" in found.reason
    assert "defines scale" in found.reason


def test_operands_that_the_json_names_otherwise_are_noted() -> None:
    text = description(input_desc=[{"name": "x"}, {"name": "b"}])
    assert mismatches(project(json=text), OPERATOR) == [
        "input_desc of the JSON lists x, b but the operator's definition has x, bias"
    ]
