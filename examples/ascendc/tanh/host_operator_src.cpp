#include <algorithm>

#include "register/op_def_registry.h"
#include "tanh_example_tiling.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

constexpr uint64_t kTile = 8192;  // elements: 32 KB a buffer, two buffers a queue
constexpr uint64_t kBlock = 8;    // elements in 32 bytes

static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    const uint64_t length = context->GetInputShape(0)->GetOriginShape().GetShapeSize();
    if (length == 0) {
        return ge::GRAPH_FAILED;
    }
    platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
    const uint64_t wanted = std::max<uint64_t>(1, length / 1024);
    const uint64_t cores = std::min<uint64_t>(chip.GetCoreNumAiv(), wanted);
    const uint64_t blocks = (length + kBlock - 1) / kBlock;
    const uint64_t perBlock = (blocks + cores - 1) / cores * kBlock;

    TanhTiling tiling;
    tiling.set_length(length);
    tiling.set_perBlock(perBlock);
    tiling.set_tile(kTile);
    context->SetBlockDim((length + perBlock - 1) / perBlock);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ge {

static graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}

static graphStatus InferDataType(gert::InferDataTypeContext* context)
{
    context->SetOutputDataType(0, context->GetInputDataType(0));
    return GRAPH_SUCCESS;
}

}  // namespace ge

namespace ops {

class TanhExample : public OpDef {
public:
    explicit TanhExample(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};

OP_ADD(TanhExample);

}  // namespace ops
