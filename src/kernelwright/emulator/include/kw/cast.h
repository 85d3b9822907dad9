// Cast: conversion between element types, each pair with the round modes it has.
#pragma once
#include "kw/local_tensor.h"
#include "kw/mask.h"
#include "kw/params.h"

namespace kw {

void cast(Dtype to, Dtype from, void* dst, const void* src, AscendC::RoundMode mode, uint32_t count);
void castRepeat(Dtype to, Dtype from, void* dst, const void* src, AscendC::RoundMode mode,
                const MaskArg& mask, uint8_t repeats, Stride dstStride, Stride srcStride);
void setDeqScale(float scale);

// Pairs that Cast has on Atlas A2.
template <typename To, typename From>
constexpr bool kHasCast =
    (std::is_same_v<From, float> &&
     kIsOneOf<To, float, half, bfloat16_t, int16_t, int32_t, int64_t>) ||
    (std::is_same_v<From, half> &&
     kIsOneOf<To, float, int8_t, uint8_t, int16_t, int32_t, int4b_t>) ||
    (std::is_same_v<From, bfloat16_t> && kIsOneOf<To, float, int32_t>) ||
    (std::is_same_v<From, int4b_t> && kIsOneOf<To, half>) ||
    (std::is_same_v<From, int8_t> && kIsOneOf<To, half>) ||
    (std::is_same_v<From, uint8_t> && kIsOneOf<To, half>) ||
    (std::is_same_v<From, int16_t> && kIsOneOf<To, float, half>) ||
    (std::is_same_v<From, int32_t> && kIsOneOf<To, float, half, int16_t, int64_t>) ||
    (std::is_same_v<From, int64_t> && kIsOneOf<To, float, int32_t>);

}  // namespace kw

namespace AscendC {

// The name in the message is what the device's compiler complains of for a pair that it lacks.
template <typename T, typename U>
KW_API void CastIntrinsicsCheck() {
  static_assert(kw::kHasCast<T, U>,
                "no matching function for call to 'CastIntrinsicsImpl': Cast does not convert "
                "between these two types on this chip; go through float or half");
}

template <typename T, typename U>
KW_API void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                 const uint32_t count) {
  CastIntrinsicsCheck<T, U>();
  kw::cast(kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(), src.GetPhyAddr(), roundMode, count);
}
template <typename T, typename U, bool isSetMask = true>
KW_API void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                 const uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams& p) {
  CastIntrinsicsCheck<T, U>();
  kw::castRepeat(kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(), src.GetPhyAddr(), roundMode,
                 kw::maskArg(mask, isSetMask), repeatTime, {p.dstBlkStride, p.dstRepStride},
                 {p.srcBlkStride, p.srcRepStride});
}
template <typename T, typename U, bool isSetMask = true>
KW_API void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                 const uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams& p) {
  CastIntrinsicsCheck<T, U>();
  kw::castRepeat(kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(), src.GetPhyAddr(), roundMode,
                 kw::maskArg(mask, isSetMask), repeatTime, {p.dstBlkStride, p.dstRepStride},
                 {p.srcBlkStride, p.srcRepStride});
}

KW_API void SetDeqScale(half scale) { kw::setDeqScale(scale); }

}  // namespace AscendC
