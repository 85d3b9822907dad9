"""The host part really runs: what the tiling function sees, decides and does wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.ascendc_projects import TILING_BODY, scale_project


def scaled(module: Any) -> Any:
    return module.scale(torch.zeros(5, 7), factor=1.5)


def test_the_tiling_function_gets_shape_attribute_and_platform(built: Any) -> None:
    report = built(scale_project()).call(scaled, dry=True).reports[0]
    assert report["tiling"] == {"length": 35, "factor": 1.5, "cores": 4}
    assert (report["block_dim"], report["tiling_key"], report["tiling_bytes"]) == (4, 7, 12)
    assert report["workspace_bytes"] == [1024]
    assert report["faults"] == []


WRONG = {
    "return ge::GRAPH_FAILED;": ("HOST_TILING_FAILED", "GRAPH_FAILED for x (5, 7) float"),
    "context->SetBlockDim(*context->GetAttrs()->GetInt(3));": (
        "HOST_TILING_CRASHED",
        "attribute 3 of 1",
    ),
    "volatile int zero = 0; context->SetBlockDim(8 / zero);": (
        "HOST_TILING_CRASHED",
        "divided by zero",
    ),
    "context->SetBlockDim(context->GetInputShape(2)->GetStorageShape().GetDim(0));": (
        "HOST_TILING_CRASHED",
        "asked for input 2",
    ),
    "if (*context->GetAttrs()->GetInt(0) > 0) context->SetBlockDim(1);": (
        "HOST_ATTRIBUTE_TYPE",
        "as int but it is float",
    ),
    "context->SetBlockDim(0); return ge::GRAPH_SUCCESS;": ("HOST_NO_BLOCK_DIM", "at least 1"),
    "if (context->GetInputTensor(0)->GetData<float>() != nullptr) return 1;": (
        "HOST_VALUES_NOT_ON_HOST",
        "only an operand with ValueDepend",
    ),
    "context->GetRawTilingData()->SetDataSize(20000);": (
        "HOST_TILING_TOO_LARGE",
        "the buffer holds 16384",
    ),
    "context->SetBlockDim(96); context->GetWorkspaceSizes(1); return ge::GRAPH_SUCCESS;": (
        "HOST_MORE_BLOCKS_THAN_CORES",
        "beyond the chip's 48 vector cores",
    ),
    "ScaleTiling unsized; auto* raw = context->GetRawTilingData(); context->SetBlockDim(1); "
    "unsized.SaveToBuffer(raw->GetData(), raw->GetCapacity()); return ge::GRAPH_SUCCESS;": (
        "HOST_TILING_SIZE_NOT_SET",
        "call GetRawTilingData()->SetDataSize(tiling.GetDataSize())",
    ),
    "context->SetBlockDim(1); return ge::GRAPH_SUCCESS;": (
        "HOST_NO_WORKSPACE_SIZE",
        "GetWorkspaceSizes(1)[0]",
    ),
}


@pytest.fixture(scope="module")
def wrong(built: Any) -> Any:
    """One project that does the wrong thing whose number is its attribute."""
    body = "int which = static_cast<int>(*context->GetAttrs()->GetFloat(0));\n"
    for number, line in enumerate(WRONG):
        body += f"if (which == {number + 100}) {{ {line} }}\n"
    count = """which != 90 ? shape.GetShapeSize() : context->GetComputeNodeInputNum() * 100 +
        (context->GetOptionalInputTensor(1) == nullptr
             ? 0 : context->GetOptionalInputShape(1)->GetStorageShape().GetDim(0))"""
    body += TILING_BODY.replace("shape.GetShapeSize()", count)
    shape = "if (*context->GetAttrs()->GetFloat(0) == 99) context->GetOutputShape(0)->SetDim(0, 6);"
    return built(scale_project(tiling_body=body, shape=shape))


@pytest.mark.parametrize(
    ("number", "code", "words"), [(i, *expected) for i, expected in enumerate(WRONG.values())]
)
def test_what_the_tiling_function_does_wrong_is_said(
    wrong: Any, number: int, code: str, words: str
) -> None:
    answer = wrong.call(lambda m: m.scale(torch.zeros(5, 7), factor=number + 100.0), dry=True)
    assert words in answer.faults[code]


def test_a_failed_tiling_function_stops_the_call_as_the_chip_does(wrong: Any) -> None:
    answer = wrong.call(lambda module: module.scale(torch.zeros(5, 7), factor=100.0), dry=True)
    assert answer.error.startswith("RuntimeError: call aclnnScaleCustom failed, detail: ")


def test_an_absent_optional_input_is_not_counted(wrong: Any) -> None:
    without = wrong.call(lambda m: m.scale(torch.zeros(4), factor=90.0), dry=True)
    given = wrong.call(lambda m: m.scale(torch.zeros(4), torch.zeros(9), factor=90.0), dry=True)
    assert without.reports[0]["tiling"]["length"] == 100
    assert given.reports[0]["tiling"]["length"] == 209


def test_inference_that_disagrees_with_the_binding_is_said(wrong: Any) -> None:
    answer = wrong.call(lambda module: module.scale(torch.zeros(5, 7), factor=99.0), dry=True)
    message = answer.faults["HOST_INFER_SHAPE_DIFFERS"]
    assert 'output "y" is (6, 7) but the binding allocated (5, 7)' in message


REFUSED = {
    "x, factor, y": ("HOST_ARGUMENTS", "takes 4 arguments (x, bias, factor, y)"),
    "bias, x, factor, y": ("HOST_ARGUMENTS", '"x" must be a tensor but nothing was passed'),
    "x, bias, static_cast<float>(factor), y": ("HOST_ATTRIBUTE_ARGUMENT", "takes double"),
    "x, bias, 2, y": ("HOST_ATTRIBUTE_ARGUMENT", "takes double"),
    "x, bias, factor, y.to(at::kHalf)": ("HOST_DTYPES_NOT_SUPPORTED", "y float16"),
    "x.cpu(), bias, factor, y": ("HOST_NOT_ON_DEVICE", "is a CPU tensor"),
}


@pytest.fixture(scope="module")
def refused(built: Any) -> Any:
    """One project with a function for each list of arguments, and one that calls a stranger."""
    more = definitions = ""
    calls = [f"aclnnScaleCustom, {arguments}" for arguments in REFUSED] + ["aclnnScale, x, y"]
    for number, call in enumerate(calls):
        more += f"""
at::Tensor call{number}(at::Tensor x) {{
  c10::optional<at::Tensor> bias;
  double factor = 1;
  at::Tensor y = at::empty_like(x);
  EXEC_NPU_CMD({call});
  return y;
}}"""
        definitions += f'm.def("call{number}", &call{number});\n'
    return built(scale_project(more=more, definitions=definitions))


@pytest.mark.parametrize(
    ("number", "code", "words"), [(i, *expected) for i, expected in enumerate(REFUSED.values())]
)
def test_arguments_that_do_not_fit_the_definition_are_refused(
    refused: Any, number: int, code: str, words: str
) -> None:
    answer = refused.call(
        lambda module: getattr(module, f"call{number}")(torch.zeros(5, 7)), dry=True
    )
    assert words in answer.faults[code]
    assert answer.error.startswith("RuntimeError")


def test_an_operator_that_no_library_has_is_named(refused: Any) -> None:
    name = f"call{len(REFUSED)}"
    answer = refused.call(lambda module: getattr(module, name)(torch.zeros(5, 7)), dry=True)
    assert "aclnnScale is not in the operator library; it has: aclnnScaleCustom" in answer.error


def test_the_data_types_choose_the_combination(built: Any) -> None:
    answer = built(scale_project()).call(
        lambda module: module.scale(torch.zeros(4, dtype=torch.int32)), dry=True
    )
    assert answer.reports[0]["combination"] == 1
