// Scratch sizes and tilings of the vector high-level APIs. The sizes are this emulator's own: what
// its implementation of each API asks for, not the vendor's figures.
#pragma once
#include <cstdint>
#include "graph/tensor.h"
#include "kw/tiling_classes.h"
#include "kw/tiling_structs.h"
#include "tiling/platform/platform_ascendc.h"

namespace kw {
// Scratch for an element-wise API that holds `live` intermediate copies of its operand.
void scratchSizes(const ge::Shape& shape, uint32_t typeBytes, uint32_t live, uint32_t& maxBytes,
                  uint32_t& minBytes);
uint32_t softmaxScratch(const ge::Shape& shape, uint32_t typeBytes, bool isWhole);
void fillSoftmax(const ge::Shape& shape, uint32_t typeBytes, uint32_t scratchBytes,
                 ::SoftMaxTiling& tiling);
void fillLayerNorm(const ge::Shape& shape, uint32_t scratchBytes, uint32_t typeBytes,
                   ::LayerNormTiling& tiling);
void copyTiling(const ::SoftMaxTiling& from, optiling::SoftMaxTiling& to);
void copyTiling(const ::LayerNormTiling& from, optiling::LayerNormTiling& to);
void copyTiling(const ::TCubeTiling& from, optiling::TCubeTiling& to);
}  // namespace kw

namespace AscendC {

#define KW_ELEMENTWISE_SCRATCH(API, live4, live2) \
  inline void Get##API##MaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, \
                                      const bool isReuseSource, uint32_t& maxValue, \
                                      uint32_t& minValue) { \
    (void)isReuseSource; \
    ::kw::scratchSizes(srcShape, typeSize, typeSize == 4 ? live4 : live2, maxValue, minValue); \
  } \
  inline void Get##API##TmpBufferFactorSize(const uint32_t typeSize, uint32_t& maxLiveNodeCount, \
                                            uint32_t& extraBuf) { \
    maxLiveNodeCount = typeSize == 4 ? live4 : live2; \
    extraBuf = 0; \
  }

KW_ELEMENTWISE_SCRATCH(Tanh, 1, 4)
KW_ELEMENTWISE_SCRATCH(Sigmoid, 1, 2)
KW_ELEMENTWISE_SCRATCH(Gelu, 2, 6)
KW_ELEMENTWISE_SCRATCH(Erf, 3, 8)
KW_ELEMENTWISE_SCRATCH(Erfc, 7, 16)
KW_ELEMENTWISE_SCRATCH(Sin, 3, 8)
KW_ELEMENTWISE_SCRATCH(Cos, 3, 8)
KW_ELEMENTWISE_SCRATCH(Tan, 4, 10)
KW_ELEMENTWISE_SCRATCH(Asin, 2, 6)
KW_ELEMENTWISE_SCRATCH(Acos, 2, 6)
KW_ELEMENTWISE_SCRATCH(Atan, 5, 12)
KW_ELEMENTWISE_SCRATCH(Sinh, 1, 4)
KW_ELEMENTWISE_SCRATCH(Cosh, 2, 6)
KW_ELEMENTWISE_SCRATCH(Asinh, 3, 6)
KW_ELEMENTWISE_SCRATCH(Acosh, 1, 2)
KW_ELEMENTWISE_SCRATCH(Atanh, 1, 4)
KW_ELEMENTWISE_SCRATCH(Log, 1, 2)
KW_ELEMENTWISE_SCRATCH(Log2, 1, 4)
KW_ELEMENTWISE_SCRATCH(Log10, 1, 4)
KW_ELEMENTWISE_SCRATCH(Exp, 3, 6)
KW_ELEMENTWISE_SCRATCH(Floor, 1, 2)
KW_ELEMENTWISE_SCRATCH(Ceil, 1, 2)
KW_ELEMENTWISE_SCRATCH(Round, 1, 2)
KW_ELEMENTWISE_SCRATCH(Trunc, 1, 2)
KW_ELEMENTWISE_SCRATCH(Frac, 1, 4)
KW_ELEMENTWISE_SCRATCH(Fmod, 2, 4)
KW_ELEMENTWISE_SCRATCH(Sign, 3, 3)
KW_ELEMENTWISE_SCRATCH(Digamma, 6, 12)
KW_ELEMENTWISE_SCRATCH(Lgamma, 8, 16)
KW_ELEMENTWISE_SCRATCH(Xor, 1, 1)
KW_ELEMENTWISE_SCRATCH(Axpy, 1, 2)
KW_ELEMENTWISE_SCRATCH(Clamp, 1, 1)
KW_ELEMENTWISE_SCRATCH(CumSum, 2, 4)
KW_ELEMENTWISE_SCRATCH(Mean, 1, 2)
KW_ELEMENTWISE_SCRATCH(SwiGLU, 3, 6)
KW_ELEMENTWISE_SCRATCH(Silu, 2, 4)
KW_ELEMENTWISE_SCRATCH(Swish, 2, 4)
KW_ELEMENTWISE_SCRATCH(GeGLU, 3, 6)
KW_ELEMENTWISE_SCRATCH(ReGlu, 2, 4)
KW_ELEMENTWISE_SCRATCH(DropOut, 2, 2)
KW_ELEMENTWISE_SCRATCH(SelectWithBytesMask, 1, 1)

inline void GetPowerMaxMinTmpSize(const ge::Shape& srcShape0, const ge::Shape&, bool,
                                  uint32_t typeSize, bool, uint32_t& maxValue,
                                  uint32_t& minValue) {
  ::kw::scratchSizes(srcShape0, typeSize, typeSize == 4 ? 4 : 12, maxValue, minValue);
}
inline void GetSumMaxMinTmpSize(uint32_t count, uint32_t typeSize, bool, uint32_t& maxValue,
                                uint32_t& minValue) {
  ::kw::scratchSizes(ge::Shape({static_cast<int64_t>(count)}), typeSize, 1, maxValue, minValue);
}
inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&,
                                      const ge::Shape&, const ge::Shape& dstShape,
                                      uint32_t typeSize, bool, uint32_t& maxValue,
                                      uint32_t& minValue) {
  ::kw::scratchSizes(dstShape, typeSize, 1, maxValue, minValue);
}

// SoftMax and its relatives take the same tiling.
inline uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool) {
  return ::kw::softmaxScratch(srcShape, typeSize, true);
}
inline uint32_t GetSoftMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool) {
  return ::kw::softmaxScratch(srcShape, typeSize, false);
}
inline uint32_t GetLogSoftMaxMaxTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool) {
  return ::kw::softmaxScratch(srcShape, typeSize, true);
}
inline uint32_t GetLogSoftMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool) {
  return ::kw::softmaxScratch(srcShape, typeSize, false);
}
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t,
                                            bool, bool = false) {
  return ::kw::softmaxScratch(srcShape, typeSize, true);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t,
                                            bool, bool = false) {
  return ::kw::softmaxScratch(srcShape, typeSize, false);
}
inline void SoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t typeSize, uint32_t workBytes,
                              ::SoftMaxTiling& tiling) {
  ::kw::fillSoftmax(srcShape, typeSize, workBytes, tiling);
}
inline void SoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t typeSize, uint32_t workBytes,
                              optiling::SoftMaxTiling& tiling) {
  ::SoftMaxTiling plain = {};
  ::kw::fillSoftmax(srcShape, typeSize, workBytes, plain);
  ::kw::copyTiling(plain, tiling);
}
template <typename T>
void LogSoftMaxTilingFunc(const ge::Shape& shape, uint32_t typeSize, uint32_t bytes, T& tiling) {
  SoftMaxTilingFunc(shape, typeSize, bytes, tiling);
}
template <typename T>
void SoftMaxFlashV2TilingFunc(const ge::Shape& shape, uint32_t typeSize, uint32_t, uint32_t bytes,
                              T& tiling, bool, bool = false) {
  SoftMaxTilingFunc(shape, typeSize, bytes, tiling);
}

inline void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool,
                                      uint32_t& maxValue, uint32_t& minValue) {
  ::kw::scratchSizes(srcShape, typeSize, typeSize == 4 ? 3 : 6, maxValue, minValue);
}
inline void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, uint32_t bytes, uint32_t typeSize,
                                     bool, optiling::LayerNormTiling& tiling) {
  ::LayerNormTiling plain = {};
  ::kw::fillLayerNorm(srcShape, bytes, typeSize, plain);
  ::kw::copyTiling(plain, tiling);
}
inline void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, uint32_t bytes, uint32_t typeSize,
                                     bool, ::LayerNormTiling& tiling) {
  ::kw::fillLayerNorm(srcShape, bytes, typeSize, tiling);
}

}  // namespace AscendC
