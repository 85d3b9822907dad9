// One-operand vector instructions: dst = f(src), level 2 by count and level 0 by mask and repeats.
#pragma once
#include "kw/local_tensor.h"
#include "kw/mask.h"
#include "kw/params.h"

namespace kw {

enum class UnaryOp : uint8_t { kExp, kLn, kAbs, kReciprocal, kSqrt, kRsqrt, kRelu, kNot };

void vectorUnary(UnaryOp op, Dtype dtype, void* dst, const void* src, int32_t count);
void vectorUnaryRepeat(UnaryOp op, Dtype dtype, void* dst, const void* src, const MaskArg& mask,
                       uint8_t repeats, Stride dstStride, Stride srcStride);

}  // namespace kw

namespace AscendC {

#define KW_UNARY(name, op, words, ...)                                                            \
  template <typename T>                                                                           \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {  \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words);                           \
    kw::vectorUnary(kw::UnaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), count); \
  }                                                                                               \
  template <typename T, bool isSetMask = true>                                                    \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[],         \
                   const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {             \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words);                           \
    kw::vectorUnaryRepeat(kw::UnaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),   \
                          kw::maskArg(mask, isSetMask), repeatTime,                               \
                          {repeatParams.dstBlkStride, repeatParams.dstRepStride},                 \
                          {repeatParams.srcBlkStride, repeatParams.srcRepStride});                \
  }                                                                                               \
  template <typename T, bool isSetMask = true>                                                    \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask,           \
                   const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {             \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words);                           \
    kw::vectorUnaryRepeat(kw::UnaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),   \
                          kw::maskArg(mask, isSetMask), repeatTime,                               \
                          {repeatParams.dstBlkStride, repeatParams.dstRepStride},                 \
                          {repeatParams.srcBlkStride, repeatParams.srcRepStride});                \
  }

KW_UNARY(Exp, kExp, "half or float", half, float)
KW_UNARY(Ln, kLn, "half or float", half, float)
KW_UNARY(Abs, kAbs, "half or float", half, float)
KW_UNARY(Reciprocal, kReciprocal, "half or float", half, float)
KW_UNARY(Sqrt, kSqrt, "half or float", half, float)
KW_UNARY(Rsqrt, kRsqrt, "half or float", half, float)
KW_UNARY(Relu, kRelu, "half, float or int32_t", half, float, int32_t)
KW_UNARY(Not, kNot, "int16_t or uint16_t", int16_t, uint16_t)
#undef KW_UNARY

}  // namespace AscendC
