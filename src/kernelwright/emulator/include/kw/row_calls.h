// High-level calls over rows: BroadCast, Sum, Mean, CumSum, LayerNorm, RmsNorm, AscendQuant,
// AscendDequant.
#pragma once
#include "kw/vector_binary.h"
#include "kw/tiling_structs.h"

namespace kw {

// `axis` of `dim` axes (1 or 2) is repeated; the source has length 1 there.
void broadcastRows(Dtype dtype, void* dst, const void* src, const uint32_t* dstShape,
                   const uint32_t* srcShape, int dim, int axis);
// Rows of `inner` elements, `used` of them summed; one result a row, times `scale`.
void sumRows(const char* name, Dtype dtype, void* dst, const void* src, uint32_t rows,
             uint32_t inner, uint32_t used, float scale);
void cumulate(Dtype dtype, void* dst, void* lastRow, const void* src, uint32_t rows, uint32_t inner,
              bool isLastAxis);
struct NormCall {
  Dtype dtype;
  void* dst;
  void* mean;            // LayerNorm only
  void* variance;
  const void* src;
  const void* gamma;
  const void* beta;
  float epsilon;
  uint32_t rows, columns, used;
};
void layerNorm(const NormCall& call);
void rmsNorm(const NormCall& call);
void quantize(Dtype dtype, void* dst, const void* src, float scale, float offset, uint32_t count);
// `scales` null: one scale for all; the result's rows are padded to 32 bytes.
void dequantize(Dtype to, Dtype scaleType, void* dst, const void* src, const void* scales,
                float scale, uint32_t rows, uint32_t columns, uint32_t used);

}  // namespace kw

namespace AscendC {

template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
KW_API void BroadCast(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const uint32_t dstShape[dim], const uint32_t srcShape[dim]) {
  static_assert(kw::kIsOneOf<T, half, float, int8_t, uint8_t>,
                "BroadCast takes half, float, int8_t or uint8_t");
  static_assert((dim == 1 || dim == 2) && axis >= 0 && axis < dim,
                "BroadCast takes one or two axes, and an axis of these");
  kw::broadcastRows(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), dstShape, srcShape, dim,
                    axis);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
KW_API void BroadCast(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const uint32_t dstShape[dim], const uint32_t srcShape[dim],
                      LocalTensor<uint8_t>& sharedTmpBuffer) {
  static_assert(kw::kIsOneOf<T, half, float, int8_t, uint8_t>,
                "BroadCast takes half, float, int8_t or uint8_t");
  static_assert((dim == 1 || dim == 2) && axis >= 0 && axis < dim,
                "BroadCast takes one or two axes, and an axis of these");
  (void)sharedTmpBuffer;
  kw::broadcastRows(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), dstShape, srcShape, dim,
                    axis);
}

struct SumParams { uint32_t outter = 1; uint32_t inner = 0; uint32_t n = 0; };
struct MeanParams { uint32_t outter = 1; uint32_t inner = 0; uint32_t n = 0; };

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
KW_API void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                const LocalTensor<uint8_t>& sharedTmpBuffer, const SumParams& p) {
  static_assert(kw::kIsOneOf<T, half, float>, "Sum takes half or float");
  (void)sharedTmpBuffer;
  kw::sumRows("Sum", kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), p.outter, p.inner, p.n,
              1.0f);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
KW_API void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const SumParams& p) {
  static_assert(kw::kIsOneOf<T, half, float>, "Sum takes half or float");
  kw::sumRows("Sum", kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), p.outter, p.inner, p.n,
              1.0f);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
KW_API void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const MeanParams& p) {
  static_assert(kw::kIsOneOf<T, half, float>, "Mean takes half or float");
  (void)sharedTmpBuffer;
  kw::sumRows("Mean", kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), p.outter, p.inner, p.n,
              1.0f / static_cast<float>(p.n));
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
KW_API void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const MeanParams& p) {
  static_assert(kw::kIsOneOf<T, half, float>, "Mean takes half or float");
  kw::sumRows("Mean", kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), p.outter, p.inner, p.n,
              1.0f / static_cast<float>(p.n));
}

struct CumSumConfig {
  bool isLastAxis = true;
  bool isReuseSource = false;
  bool outputLastRow = true;
};
struct CumSumInfo { uint32_t outter = 0; uint32_t inner = 0; };
constexpr CumSumConfig defaultCumSumConfig = {true, false, true};

template <typename T, const CumSumConfig& config = defaultCumSumConfig>
KW_API void CumSum(LocalTensor<T>& dst, LocalTensor<T>& lastRow, const LocalTensor<T>& src,
                   LocalTensor<uint8_t>& sharedTmpBuffer, const CumSumInfo& info) {
  static_assert(kw::kIsOneOf<T, half, float>, "CumSum takes half or float");
  (void)sharedTmpBuffer;
  kw::cumulate(kw::kDtypeOf<T>, dst.GetPhyAddr(),
               config.outputLastRow ? lastRow.GetPhyAddr() : nullptr, src.GetPhyAddr(), info.outter,
               info.inner, config.isLastAxis);
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
KW_API void CumSum(LocalTensor<T>& dst, LocalTensor<T>& lastRow, const LocalTensor<T>& src,
                   const CumSumInfo& info) {
  static_assert(kw::kIsOneOf<T, half, float>, "CumSum takes half or float");
  kw::cumulate(kw::kDtypeOf<T>, dst.GetPhyAddr(),
               config.outputLastRow ? lastRow.GetPhyAddr() : nullptr, src.GetPhyAddr(), info.outter,
               info.inner, config.isLastAxis);
}

#define KW_LAYER_NORM(...)                                                                         \
  static_assert(kw::kIsOneOf<T, half, float>, "LayerNorm takes half or float");                    \
  kw::layerNorm({kw::kDtypeOf<T>, output.GetPhyAddr(), outputMean.GetPhyAddr(),                    \
                 outputVariance.GetPhyAddr(), inputX.GetPhyAddr(), gamma.GetPhyAddr(),             \
                 beta.GetPhyAddr(), static_cast<float>(epsilon), tiling.bLength * tiling.sLength,  \
                 tiling.hLength, tiling.originalHLength})
template <typename T, bool isReuseSource = false>
KW_API void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                      const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
                      const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon,
                      LayerNormTiling& tiling) {
  (void)sharedTmpBuffer;
  KW_LAYER_NORM();
}
template <typename T, bool isReuseSource = false>
KW_API void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                      const LocalTensor<T>& gamma, const LocalTensor<T>& beta, const T epsilon,
                      LayerNormTiling& tiling) {
  KW_LAYER_NORM();
}
#undef KW_LAYER_NORM
#define KW_RMS_NORM()                                                                              \
  static_assert(kw::kIsOneOf<T, half, float>, "RmsNorm takes half or float");                      \
  kw::rmsNorm({kw::kDtypeOf<T>, dstLocal.GetPhyAddr(), nullptr, nullptr, srcLocal.GetPhyAddr(),    \
               gammaLocal.GetPhyAddr(), nullptr, static_cast<float>(epsilon),                      \
               tiling.bLength * tiling.sLength, tiling.hLength, tiling.originalHLength})
template <typename T, bool isBasicBlock = false>
KW_API void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<T>& gammaLocal, const LocalTensor<uint8_t>& sharedTmpBuffer,
                    const T epsilon, const RmsNormTiling& tiling) {
  (void)sharedTmpBuffer;
  KW_RMS_NORM();
}
template <typename T, bool isBasicBlock = false>
KW_API void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<T>& gammaLocal, const T epsilon, const RmsNormTiling& tiling) {
  KW_RMS_NORM();
}
#undef KW_RMS_NORM

template <typename T, bool isReuseSource = false>
KW_API void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,
                        const LocalTensor<uint8_t>& sharedTmpBuffer, const float scale,
                        const float offset, const uint32_t calCount) {
  static_assert(kw::kIsOneOf<T, half, float>, "AscendQuant takes half or float");
  (void)sharedTmpBuffer;
  kw::quantize(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), scale, offset, calCount);
}
template <typename T, bool isReuseSource = false>
KW_API void AscendQuant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,
                        const float scale, const float offset, const uint32_t calCount) {
  static_assert(kw::kIsOneOf<T, half, float>, "AscendQuant takes half or float");
  kw::quantize(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), scale, offset, calCount);
}

struct DequantParams { uint32_t m = 0; uint32_t n = 0; uint32_t calCount = 0; };

template <typename T, typename U>
KW_API void AscendDequant(const LocalTensor<T>& dst, const LocalTensor<int32_t>& src,
                          const LocalTensor<U>& deqScale,
                          const LocalTensor<uint8_t>& sharedTmpBuffer, DequantParams p) {
  static_assert(kw::kIsOneOf<T, half, bfloat16_t, float>, "AscendDequant makes half, bfloat16_t or float");
  (void)sharedTmpBuffer;
  kw::dequantize(kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(), src.GetPhyAddr(),
                 deqScale.GetPhyAddr(), 1.0f, p.m, p.n, p.calCount);
}
template <typename T, typename U>
KW_API void AscendDequant(const LocalTensor<T>& dst, const LocalTensor<int32_t>& src,
                          const LocalTensor<U>& deqScale, DequantParams p) {
  static_assert(kw::kIsOneOf<T, half, bfloat16_t, float>, "AscendDequant makes half, bfloat16_t or float");
  kw::dequantize(kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(), src.GetPhyAddr(),
                 deqScale.GetPhyAddr(), 1.0f, p.m, p.n, p.calCount);
}

}  // namespace AscendC
