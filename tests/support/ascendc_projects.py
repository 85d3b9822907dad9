"""Small Ascend C projects of our own, whose parts a test can change."""

from __future__ import annotations

import json
from collections.abc import Mapping

OPERATOR = "ScaleCustom"

TILING = """\
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ScaleTiling)
  TILING_DATA_FIELD_DEF(uint32_t, length);
  TILING_DATA_FIELD_DEF(float, factor);
  TILING_DATA_FIELD_DEF(uint32_t, cores);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ScaleCustom, ScaleTiling)
}  // namespace optiling
"""

TILING_BODY = """\
    ScaleTiling tiling;
    const auto& shape = context->GetInputShape(0)->GetOriginShape();
    platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
    uint32_t cores = std::min<uint32_t>(chip.GetCoreNumAiv(), 4);
    tiling.set_length(shape.GetShapeSize());
    tiling.set_factor(*context->GetAttrs()->GetFloat(0));
    tiling.set_cores(cores);
    context->SetBlockDim(cores);
    context->SetTilingKey(7);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 1024;
    return ge::GRAPH_SUCCESS;
"""

_HOST = """\
#include "scale_custom_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
@TILING@}
}  // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  @SHAPE@
  return GRAPH_SUCCESS;
}
static ge::graphStatus InferDataType(gert::InferDataTypeContext* context) {
  context->SetOutputDataType(0, context->GetInputDataType(0));
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class ScaleCustom : public OpDef {
 public:
  explicit ScaleCustom(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_INT32})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Input("bias").ParamType(OPTIONAL).DataType({ge::DT_FLOAT, ge::DT_INT32})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_INT32})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("factor").AttrType(OPTIONAL).Float(2.0);
    this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
    this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
  }
};
OP_ADD(ScaleCustom);
}  // namespace ops
"""

KERNEL = """\
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void scale_custom(GM_ADDR x, GM_ADDR bias, GM_ADDR y,
                                                   GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  if (!TILING_KEY_IS(7)) return;
  AscendC::GlobalTensor<DTYPE_X> source, target;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_X*>(x), data.length);
  target.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_Y*>(y), data.length);
  uint32_t share = (data.length + data.cores - 1) / data.cores;
  share = (share + 15) / 16 * 16;  // no two cores write one 64-byte line
  uint32_t from = AscendC::GetBlockIdx() * share;
  for (uint32_t i = from; i < from + share && i < data.length; ++i) {
    target.SetValue(i, static_cast<DTYPE_Y>(source.GetValue(i) * data.factor));
  }
}
"""

_BINDING = """\
#include <torch/extension.h>
#include <torch/library.h>
#include "pytorch_npu_helper.hpp"

at::Tensor scale(const at::Tensor& x, const c10::optional<at::Tensor>& bias, double factor) {
  TORCH_CHECK(x.dim() >= 1, "scale wants at least one dimension, got ", x.dim());
  at::Tensor y = at::empty_like(x);
  EXEC_NPU_CMD(aclnnScaleCustom, @ARGUMENTS@);
  return y;
}
@MORE@
TORCH_LIBRARY_FRAGMENT(kw_test_ops, m) { m.def("scale(Tensor x, float factor) -> Tensor"); }
TORCH_LIBRARY_IMPL(kw_test_ops, PrivateUse1, m) {
  m.impl("scale", [](const at::Tensor& x, double factor) {
    return scale(x, c10::nullopt, factor);
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("scale", &scale, "x times factor", py::arg("x"), py::arg("bias") = py::none(),
        py::arg("factor") = 2.0);
  @DEFINITIONS@
}
"""

MODEL = """\
import torch
import torch_npu
import custom_ops_lib


class ModelNew(torch.nn.Module):
    def __init__(self, factor=3.0):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        x = x.npu()
        torch.npu.synchronize()
        return custom_ops_lib.scale(x, factor=self.factor).to("cpu")
"""


def description(**changes: object) -> str:
    """Return the project's JSON, with entries replaced."""
    operand = {"param_type": "required", "format": ["ND", "ND"], "type": ["float", "int32"]}
    entry = {
        "op": OPERATOR,
        "language": "cpp",
        "input_desc": [{"name": "x", **operand}, {"name": "bias", **operand}],
        "output_desc": [{"name": "y", **operand}],
    }
    return json.dumps([{**entry, **changes}])


def scale_project(
    *,
    tiling_body: str = TILING_BODY,
    shape: str = "",
    arguments: str = "x, bias, factor, y",
    more: str = "",
    definitions: str = "",
    kernel: str = KERNEL,
) -> dict[str, str]:
    """Return the six parts of a project that multiplies by an attribute."""
    host = _HOST.replace("@TILING@", tiling_body).replace("@SHAPE@", shape)
    binding = _BINDING.replace("@ARGUMENTS@", arguments).replace("@MORE@", more)
    return {
        "project_json_src.json": description(),
        "host_tiling_src.h": TILING,
        "host_operator_src.cpp": host,
        "kernel_src.cpp": kernel,
        "python_bind_src.cpp": binding.replace("@DEFINITIONS@", definitions),
        "model_src.py": MODEL,
    }


def as_python(parts: Mapping[str, str]) -> str:
    """Return the parts as one Python file of six strings."""
    return "\n".join(f"{name.rpartition('.')[0]} = {text!r}" for name, text in parts.items())
