// Two-operand vector instructions: dst = src0 op src1, and dst = src op scalar.
//
// Level 2 takes a count; level 0 a mask, repeats and strides. Types are checked by overload set:
// a scalar must have the tensor's own element type.
#pragma once
#include "kw/local_tensor.h"
#include "kw/mask.h"
#include "kw/params.h"

namespace kw {

enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin, kAnd, kOr };

struct BinaryStrides { Stride dst, src0, src1; };

void vectorBinary(BinaryOp op, Dtype dtype, void* dst, const void* src0, const void* src1,
                  int32_t count);
void vectorBinaryRepeat(BinaryOp op, Dtype dtype, void* dst, const void* src0, const void* src1,
                        const MaskArg& mask, uint8_t repeats, const BinaryStrides& strides);
// The scalar's bits are passed as they lie in memory.
void vectorScalar(BinaryOp op, Dtype dtype, void* dst, const void* src, uint64_t scalar,
                  int32_t count);
void vectorScalarRepeat(BinaryOp op, Dtype dtype, void* dst, const void* src, uint64_t scalar,
                        const MaskArg& mask, uint8_t repeats, Stride dstStride, Stride srcStride);

template <typename T>
KW_API uint64_t scalarBits(const T& scalar) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &scalar, sizeof(T));
  return bits;
}
KW_API BinaryStrides binaryStrides(const AscendC::BinaryRepeatParams& p) {
  return {{p.dstBlkStride, p.dstRepStride}, {p.src0BlkStride, p.src0RepStride},
          {p.src1BlkStride, p.src1RepStride}};
}

template <typename T>
constexpr bool kIsArithmeticDtype = kIsOneOf<T, half, float, int16_t, int32_t>;

}  // namespace kw

namespace AscendC {

#define KW_BINARY(name, op, words, ...) \
  template <typename T> \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, \
                   const LocalTensor<T>& src1, const int32_t& count) { \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words); \
    kw::vectorBinary(kw::BinaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), \
                     src1.GetPhyAddr(), count); \
  } \
  template <typename T, bool isSetMask = true> \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, \
                   const LocalTensor<T>& src1, uint64_t mask[], const uint8_t repeatTime, \
                   const BinaryRepeatParams& repeatParams) { \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words); \
    kw::vectorBinaryRepeat(kw::BinaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), \
                           src0.GetPhyAddr(), src1.GetPhyAddr(), kw::maskArg(mask, isSetMask), \
                           repeatTime, kw::binaryStrides(repeatParams)); \
  } \
  template <typename T, bool isSetMask = true> \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, \
                   const LocalTensor<T>& src1, uint64_t mask, const uint8_t repeatTime, \
                   const BinaryRepeatParams& repeatParams) { \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words); \
    kw::vectorBinaryRepeat(kw::BinaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), \
                           src0.GetPhyAddr(), src1.GetPhyAddr(), kw::maskArg(mask, isSetMask), \
                           repeatTime, kw::binaryStrides(repeatParams)); \
  }

KW_BINARY(Add, kAdd, "half, float, int16_t or int32_t", half, float, int16_t, int32_t)
KW_BINARY(Sub, kSub, "half, float, int16_t or int32_t", half, float, int16_t, int32_t)
KW_BINARY(Mul, kMul, "half, float, int16_t or int32_t", half, float, int16_t, int32_t)
KW_BINARY(Div, kDiv, "half or float", half, float)
KW_BINARY(Max, kMax, "half, float, int16_t or int32_t", half, float, int16_t, int32_t)
KW_BINARY(Min, kMin, "half, float, int16_t or int32_t", half, float, int16_t, int32_t)
KW_BINARY(And, kAnd, "int16_t or uint16_t", int16_t, uint16_t)
KW_BINARY(Or, kOr, "int16_t or uint16_t", int16_t, uint16_t)
#undef KW_BINARY

#define KW_SCALAR(name, op) \
  template <typename T, bool isSetMask = true> \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, \
                   const int32_t& count) { \
    static_assert(kw::kIsArithmeticDtype<T>, #name " takes half, float, int16_t or int32_t"); \
    kw::vectorScalar(kw::BinaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), \
                     kw::scalarBits(scalar), count); \
  } \
  template <typename T, bool isSetMask = true> \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, \
                   uint64_t mask[], const uint8_t repeatTime, \
                   const UnaryRepeatParams& repeatParams) { \
    static_assert(kw::kIsArithmeticDtype<T>, #name " takes half, float, int16_t or int32_t"); \
    kw::vectorScalarRepeat(kw::BinaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), \
                           src.GetPhyAddr(), kw::scalarBits(scalar), \
                           kw::maskArg(mask, isSetMask), repeatTime, \
                           {repeatParams.dstBlkStride, repeatParams.dstRepStride}, \
                           {repeatParams.srcBlkStride, repeatParams.srcRepStride}); \
  } \
  template <typename T, bool isSetMask = true> \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar, \
                   uint64_t mask, const uint8_t repeatTime, \
                   const UnaryRepeatParams& repeatParams) { \
    static_assert(kw::kIsArithmeticDtype<T>, #name " takes half, float, int16_t or int32_t"); \
    kw::vectorScalarRepeat(kw::BinaryOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), \
                           src.GetPhyAddr(), kw::scalarBits(scalar), \
                           kw::maskArg(mask, isSetMask), repeatTime, \
                           {repeatParams.dstBlkStride, repeatParams.dstRepStride}, \
                           {repeatParams.srcBlkStride, repeatParams.srcRepStride}); \
  }

KW_SCALAR(Adds, kAdd)
KW_SCALAR(Muls, kMul)
KW_SCALAR(Maxs, kMax)
KW_SCALAR(Mins, kMin)
#undef KW_SCALAR

}  // namespace AscendC
