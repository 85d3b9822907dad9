// Scratch sizes and tilings of the vector high-level APIs, as this emulator's versions use them.
#include <algorithm>
#include "tiling/vector_tiling.h"

namespace kw {

namespace {

constexpr uint32_t kRepeatBytes = 256;
constexpr uint32_t kBlockBytes = 32;

uint32_t roundUp(uint64_t value, uint32_t unit) {
  return static_cast<uint32_t>((value + unit - 1) / unit * unit);
}

uint32_t lastDim(const ge::Shape& shape) {
  return shape.GetDimNum() == 0 ? 1 : static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
}

uint32_t rowsOf(const ge::Shape& shape) {
  uint32_t width = lastDim(shape);
  return width == 0 ? 0 : static_cast<uint32_t>(shape.GetShapeSize() / width);
}

}  // namespace

void scratchSizes(const ge::Shape& shape, uint32_t typeBytes, uint32_t live, uint32_t& maxBytes,
                  uint32_t& minBytes) {
  uint64_t whole = static_cast<uint64_t>(shape.GetShapeSize()) * typeBytes;
  minBytes = live * kRepeatBytes;
  maxBytes = std::max(minBytes, live * roundUp(whole, kRepeatBytes));
}

uint32_t softmaxScratch(const ge::Shape& shape, uint32_t typeBytes, bool isWhole) {
  (void)typeBytes;  // intermediate values are float
  uint32_t row = roundUp(static_cast<uint64_t>(lastDim(shape)) * 4, kBlockBytes) + 2 * kBlockBytes;
  return (isWhole ? std::max<uint32_t>(1, rowsOf(shape)) : 1) * row;
}

void fillSoftmax(const ge::Shape& shape, uint32_t typeBytes, uint32_t scratchBytes,
                 ::SoftMaxTiling& tiling) {
  uint32_t width = lastDim(shape);
  uint32_t rows = rowsOf(shape);
  uint32_t perRow = softmaxScratch(shape, typeBytes, false);
  uint32_t split = std::max<uint32_t>(1, std::min(rows, scratchBytes / std::max(1U, perRow)));
  uint32_t lanes = kBlockBytes / std::max(1U, typeBytes);
  tiling.srcM = rows;
  tiling.srcK = width;
  tiling.srcSize = rows * width;
  tiling.outMaxM = rows;
  tiling.outMaxK = lanes;
  tiling.outMaxSize = rows * lanes;
  tiling.splitM = split;
  tiling.splitK = width;
  tiling.splitSize = split * width;
  tiling.reduceM = split;
  tiling.reduceK = lanes;
  tiling.reduceSize = split * lanes;
  tiling.rangeM = rows / split;
  tiling.tailM = rows % split;
  tiling.tailSplitSize = tiling.tailM * width;
  tiling.tailReduceSize = tiling.tailM * lanes;
}

void fillLayerNorm(const ge::Shape& shape, uint32_t scratchBytes, uint32_t typeBytes,
                   ::LayerNormTiling& tiling) {
  (void)typeBytes;
  uint32_t width = lastDim(shape);
  uint32_t rows = rowsOf(shape);
  tiling.bLength = static_cast<uint32_t>(shape.GetDim(0));
  tiling.sLength = shape.GetDimNum() > 2 ? static_cast<uint32_t>(shape.GetDim(1)) : 1;
  tiling.hLength = width;
  tiling.originalHLength = width;
  tiling.inputXSize = rows * width;
  tiling.meanVarSize = rows;
  tiling.numberOfTmpBuf = 3;
  tiling.tmpBufSize = scratchBytes / 4;
  uint32_t fit = std::max(1U, tiling.tmpBufSize / std::max(1U, 3 * width));
  tiling.bsCurLength = std::min(rows, fit);
  tiling.bshCurLength = tiling.bsCurLength * width;
  tiling.oneTmpSize = tiling.bshCurLength;
  tiling.loopRound = tiling.bsCurLength == 0 ? 0 : rows / tiling.bsCurLength;
  tiling.inputRoundSize = tiling.bshCurLength;
  tiling.meanVarRoundSize = tiling.bsCurLength;
  tiling.meanVarTailSize = tiling.bsCurLength == 0 ? 0 : rows % tiling.bsCurLength;
  tiling.inputTailSize = tiling.meanVarTailSize * width;
  tiling.inputTailPos = tiling.loopRound * tiling.bshCurLength;
  tiling.meanVarTailPos = tiling.loopRound * tiling.bsCurLength;
}

#define KW_COPY_FIELD(name) to.set_##name(from.name);
void copyTiling(const ::SoftMaxTiling& from, optiling::SoftMaxTiling& to) {
  KW_SOFTMAX_TILING_FIELDS(KW_COPY_FIELD)
}
void copyTiling(const ::LayerNormTiling& from, optiling::LayerNormTiling& to) {
  KW_LAYERNORM_TILING_FIELDS(KW_COPY_FIELD)
}
void copyTiling(const ::TCubeTiling& from, optiling::TCubeTiling& to) {
  KW_TCUBE_TILING_FIELDS(KW_COPY_FIELD)
}
#undef KW_COPY_FIELD

}  // namespace kw
