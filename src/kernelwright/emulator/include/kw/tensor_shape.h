// Shape that a kernel may attach to a tensor (SetShapeInfo); nothing in the hardware reads it.
#pragma once
#include "kw/constants.h"
#include "kw/enums.h"

namespace AscendC {

struct ShapeInfo {
  ShapeInfo() = default;
  ShapeInfo(uint8_t dims, const uint32_t* sizes, DataFormat format = DataFormat::ND)
      : ShapeInfo(dims, sizes, dims, sizes, format) {}
  ShapeInfo(uint8_t dims, const uint32_t* sizes, uint8_t originalDims,
            const uint32_t* originalSizes, DataFormat format)
      : shapeDim(dims), originalShapeDim(originalDims), dataFormat(format) {
    for (int i = 0; i < shapeDim && i < K_MAX_SHAPE_DIM; ++i) shape[i] = sizes[i];
    for (int i = 0; i < originalShapeDim && i < K_MAX_SHAPE_DIM; ++i) {
      originalShape[i] = originalSizes[i];
    }
  }
  uint8_t shapeDim = 0;
  uint8_t originalShapeDim = 0;
  uint32_t shape[K_MAX_SHAPE_DIM] = {};
  uint32_t originalShape[K_MAX_SHAPE_DIM] = {};
  DataFormat dataFormat = DataFormat::ND;
};

inline int GetShapeSize(const ShapeInfo& info) {
  int size = info.shapeDim == 0 ? 0 : 1;
  for (int i = 0; i < info.shapeDim; ++i) size *= static_cast<int>(info.shape[i]);
  return size;
}

}  // namespace AscendC

namespace kw {

// Shapes live until the launch ends; a tensor keeps a pointer, so that copies stay small.
AscendC::ShapeInfo* keepShape(const AscendC::ShapeInfo& info);
const AscendC::ShapeInfo& emptyShape();

}  // namespace kw
