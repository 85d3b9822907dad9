// Copy: UB to UB by mask, repeats and strides, on the vector pipe.
#pragma once
#include "kw/local_tensor.h"
#include "kw/mask.h"
#include "kw/params.h"

namespace kw {

void vectorCopy(Dtype dtype, void* dst, const void* src, const MaskArg& mask, uint8_t repeats,
                Stride dstStride, Stride srcStride);

template <typename T>
constexpr bool kIsCopied = kIsOneOf<T, half, bfloat16_t, int16_t, uint16_t, float, int32_t, uint32_t>;

}  // namespace kw

namespace AscendC {

template <typename T, bool isSetMask = true>
KW_API void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                 const uint8_t repeatTime, const CopyRepeatParams& p) {
  static_assert(kw::kIsCopied<T>, "Copy takes 16- and 32-bit elements");
  kw::vectorCopy(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), kw::maskArg(mask, isSetMask),
                 repeatTime, {p.dstStride, p.dstRepeatSize}, {p.srcStride, p.srcRepeatSize});
}
template <typename T, bool isSetMask = true>
KW_API void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask,
                 const uint8_t repeatTime, const CopyRepeatParams& p) {
  static_assert(kw::kIsCopied<T>, "Copy takes 16- and 32-bit elements");
  kw::vectorCopy(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), kw::maskArg(mask, isSetMask),
                 repeatTime, {p.dstStride, p.dstRepeatSize}, {p.srcStride, p.srcRepeatSize});
}

}  // namespace AscendC
