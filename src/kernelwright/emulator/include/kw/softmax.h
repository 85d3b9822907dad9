// SoftMax and its kin over the rows of a matrix. Sums and maxima take one 32-byte block a row, filled
// with the row's value. The row lengths come from the shape given, the source's shape, or the tiling.
#pragma once
#include "kw/local_tensor.h"
#include "kw/tiling_structs.h"

namespace AscendC {

struct SoftMaxShapeInfo {
  uint32_t srcM = 0;     // rows
  uint32_t srcK = 0;     // elements a row, padded to 32 bytes
  uint32_t oriSrcM = 0;  // without padding
  uint32_t oriSrcK = 0;
};
struct SoftmaxConfig {
  bool isCheckTiling = true;
  uint32_t oriSrcM = 0;
  uint32_t oriSrcK = 0;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0};

}  // namespace AscendC

namespace kw {

enum class SoftmaxKind : uint8_t { kSoftMax, kSimple, kFlash, kFlashV2, kLog };

struct SoftmaxCall {
  SoftmaxKind kind;
  Dtype dtype;         // of src and dst
  Dtype statistics;    // of sums and maxima
  AscendC::SoftMaxShapeInfo shape;
  void* dst;
  const void* src;
  void* sum = nullptr;         // read by SimpleSoftMax, null where the caller keeps none
  void* max = nullptr;
  void* expMax = nullptr;      // flash only
  const void* inSum = nullptr;
  const void* inMax = nullptr;
  const void* work = nullptr;
  bool updates = false;
};
void softmax(const SoftmaxCall& call);

template <typename T, typename Tiling>
KW_API AscendC::SoftMaxShapeInfo softmaxShape(const AscendC::SoftMaxShapeInfo& given,
                                              const Tiling& tiling) {
  if (given.srcM != 0 && given.srcK != 0) return given;
  return {tiling.srcM, tiling.srcK, tiling.srcM, tiling.srcK};
}

}  // namespace kw

namespace AscendC {

#define KW_SOFTMAX_TYPES(name)                                                              \
  static_assert(kw::kIsOneOf<T, half, float> && kw::kIsOneOf<U, half, float>,               \
                #name " takes half or float; sums and maxima may be float")
#define KW_SOFTMAX_SWITCHES                                                                 \
  bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,       \
  const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG
#define KW_SOFTMAX_CALL(callKind)                                                           \
  static_assert(!isDataFormatNZ, "NZ format is not emulated");                              \
  kw::SoftmaxCall call{kw::SoftmaxKind::callKind, kw::kDtypeOf<T>, kw::kDtypeOf<U>,         \
                       kw::softmaxShape<T>(info, tiling), dst.GetPhyAddr(), src.GetPhyAddr()}

// name(dst, sum, max, src, [sharedTmpBuffer,] tiling, info)
#define KW_SOFTMAX(name, callKind, SumType)                                                 \
  template <typename T, KW_SOFTMAX_SWITCHES, typename U = T, typename Tiling = SoftMaxTiling> \
  KW_API void name(const LocalTensor<T>& dst, SumType& sum, SumType& max,                   \
                   const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,  \
                   const Tiling& tiling, const SoftMaxShapeInfo& info = {}) {               \
    KW_SOFTMAX_TYPES(name);                                                                 \
    KW_SOFTMAX_CALL(callKind);                                                              \
    call.sum = sum.GetPhyAddr();                                                            \
    call.max = max.GetPhyAddr();                                                            \
    call.work = sharedTmpBuffer.GetPhyAddr();                                               \
    kw::softmax(call);                                                                      \
  }                                                                                         \
  template <typename T, KW_SOFTMAX_SWITCHES, typename U = T, typename Tiling = SoftMaxTiling> \
  KW_API void name(const LocalTensor<T>& dst, SumType& sum, SumType& max,                   \
                   const LocalTensor<T>& src, const Tiling& tiling,                         \
                   const SoftMaxShapeInfo& info = {}) {                                     \
    KW_SOFTMAX_TYPES(name);                                                                 \
    KW_SOFTMAX_CALL(callKind);                                                              \
    call.sum = sum.GetPhyAddr();                                                            \
    call.max = max.GetPhyAddr();                                                            \
    kw::softmax(call);                                                                      \
  }
KW_SOFTMAX(SoftMax, kSoftMax, const LocalTensor<U>)
KW_SOFTMAX(SimpleSoftMax, kSimple, const LocalTensor<U>)
KW_SOFTMAX(LogSoftMax, kLog, const LocalTensor<U>)
#undef KW_SOFTMAX

template <typename T, KW_SOFTMAX_SWITCHES, typename U = T>
KW_API void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                    const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& info = {}) {
  KW_SOFTMAX_CALL(kSoftMax);
  call.work = sharedTmpBuffer.GetPhyAddr();
  kw::softmax(call);
}
template <typename T, KW_SOFTMAX_SWITCHES, typename U = T>
KW_API void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                    const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info = {}) {
  KW_SOFTMAX_CALL(kSoftMax);
  kw::softmax(call);
}

#define KW_FLASH_OPERANDS                                                                   \
  const LocalTensor<T>&dst, const LocalTensor<U>&sum, const LocalTensor<U>&max,             \
      const LocalTensor<T>&src, const LocalTensor<T>&expMax, const LocalTensor<U>&inSum,    \
      const LocalTensor<U>&inMax
#define KW_FLASH_FILL                                                                       \
  call.sum = sum.GetPhyAddr();                                                              \
  call.max = max.GetPhyAddr();                                                              \
  call.expMax = expMax.GetPhyAddr();                                                        \
  call.inSum = inSum.GetPhyAddr();                                                          \
  call.inMax = inMax.GetPhyAddr()

template <typename T, bool isUpdate = false, KW_SOFTMAX_SWITCHES, typename U = T>
KW_API void SoftmaxFlashV2(KW_FLASH_OPERANDS, const LocalTensor<uint8_t>& sharedTmpBuffer,
                           const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info = {}) {
  KW_SOFTMAX_TYPES(SoftmaxFlashV2);
  KW_SOFTMAX_CALL(kFlashV2);
  KW_FLASH_FILL;
  call.work = sharedTmpBuffer.GetPhyAddr();
  call.updates = isUpdate;
  kw::softmax(call);
}
template <typename T, bool isUpdate = false, KW_SOFTMAX_SWITCHES, typename U = T>
KW_API void SoftmaxFlashV2(KW_FLASH_OPERANDS, const SoftMaxTiling& tiling,
                           const SoftMaxShapeInfo& info = {}) {
  KW_SOFTMAX_TYPES(SoftmaxFlashV2);
  KW_SOFTMAX_CALL(kFlashV2);
  KW_FLASH_FILL;
  call.updates = isUpdate;
  kw::softmax(call);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename U = T>
KW_API void SoftmaxFlash(KW_FLASH_OPERANDS, const LocalTensor<uint8_t>& sharedTmpBuffer,
                         const SoftMaxTiling& tiling, bool isUpdate = false,
                         const SoftMaxShapeInfo& info = {}) {
  constexpr bool isDataFormatNZ = false;
  KW_SOFTMAX_TYPES(SoftmaxFlash);
  KW_SOFTMAX_CALL(kFlash);
  KW_FLASH_FILL;
  call.work = sharedTmpBuffer.GetPhyAddr();
  call.updates = isUpdate;
  kw::softmax(call);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename U = T>
KW_API void SoftmaxFlash(KW_FLASH_OPERANDS, const SoftMaxTiling& tiling, bool isUpdate = false,
                         const SoftMaxShapeInfo& info = {}) {
  constexpr bool isDataFormatNZ = false;
  KW_SOFTMAX_TYPES(SoftmaxFlash);
  KW_SOFTMAX_CALL(kFlash);
  KW_FLASH_FILL;
  call.updates = isUpdate;
  kw::softmax(call);
}
#undef KW_FLASH_FILL
#undef KW_FLASH_OPERANDS
#undef KW_SOFTMAX_CALL
#undef KW_SOFTMAX_SWITCHES
#undef KW_SOFTMAX_TYPES

}  // namespace AscendC
