// Duplicate, Axpy, LeakyRelu, shifts, and the two-operand instructions that also read dst.
#pragma once
#include "kw/vector_binary.h"

namespace kw {

enum class MixedOp : uint8_t {
  kAxpy, kLeakyRelu, kShiftLeft, kShiftRight, kShiftRightRound, kMulAddDst, kFusedMulAdd,
  kFusedMulAddRelu, kAddRelu, kSubRelu
};

// dst and src may differ in type (Axpy, MulAddDst: float += half * half). `scalar` holds its bits.
void vectorMixed(MixedOp op, Dtype dst, Dtype src, void* to, const void* a, const void* b,
                 uint64_t scalar, int32_t count);
void vectorMixedRepeat(MixedOp op, Dtype dst, Dtype src, void* to, const void* a, const void* b,
                       uint64_t scalar, const MaskArg& mask, uint8_t repeats,
                       const BinaryStrides& strides);
void duplicate(Dtype dtype, void* dst, uint64_t scalar, int32_t count);
void duplicateRepeat(Dtype dtype, void* dst, uint64_t scalar, const MaskArg& mask, uint8_t repeats,
                     Stride stride);

}  // namespace kw

namespace AscendC {

template <typename T, bool isSetMask = true>
KW_API void Duplicate(const LocalTensor<T>& dst, const T& scalar, const int32_t& count) {
  static_assert(kw::kIsOneOf<T, half, bfloat16_t, int16_t, uint16_t, float, int32_t, uint32_t>,
                "Duplicate takes 16-bit and 32-bit types");
  kw::duplicate(kw::kDtypeOf<T>, dst.GetPhyAddr(), kw::scalarBits(scalar), count);
}
template <typename T, bool isSetMask = true>
KW_API void Duplicate(const LocalTensor<T>& dst, const T& scalar, uint64_t mask,
                      const uint8_t repeatTime, const uint16_t dstBlockStride,
                      const uint8_t dstRepeatStride) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Duplicate takes 16-bit and 32-bit types");
  kw::duplicateRepeat(kw::kDtypeOf<T>, dst.GetPhyAddr(), kw::scalarBits(scalar),
                      kw::maskArg(mask, isSetMask), repeatTime, {dstBlockStride, dstRepeatStride});
}
template <typename T, bool isSetMask = true>
KW_API void Duplicate(const LocalTensor<T>& dst, const T& scalar, uint64_t mask[],
                      const uint8_t repeatTime, const uint16_t dstBlockStride,
                      const uint8_t dstRepeatStride) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Duplicate takes 16-bit and 32-bit types");
  kw::duplicateRepeat(kw::kDtypeOf<T>, dst.GetPhyAddr(), kw::scalarBits(scalar),
                      kw::maskArg(mask, isSetMask), repeatTime, {dstBlockStride, dstRepeatStride});
}

#define KW_MIXED_SCALAR(name, op, U, S, condition, words)                                          \
  template <typename T, typename U, bool isSetMask = true>                                         \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const S& scalar,          \
                   const int32_t& count) {                                                         \
    static_assert(condition, #name " takes " words);                                               \
    kw::vectorMixed(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(),           \
                    src.GetPhyAddr(), nullptr, kw::scalarBits(scalar), count);                     \
  }                                                                                                \
  template <typename T, typename U, bool isSetMask = true>                                         \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const S& scalar,          \
                   uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams& p) {          \
    static_assert(condition, #name " takes " words);                                               \
    kw::vectorMixedRepeat(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(),     \
                          src.GetPhyAddr(), nullptr, kw::scalarBits(scalar),                       \
                          kw::maskArg(mask, isSetMask), repeatTime,                                \
                          {{p.dstBlkStride, p.dstRepStride}, {p.srcBlkStride, p.srcRepStride}, {}}); \
  }                                                                                                \
  template <typename T, typename U, bool isSetMask = true>                                         \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const S& scalar,          \
                   uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams& p) {        \
    static_assert(condition, #name " takes " words);                                               \
    kw::vectorMixedRepeat(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(),     \
                          src.GetPhyAddr(), nullptr, kw::scalarBits(scalar),                       \
                          kw::maskArg(mask, isSetMask), repeatTime,                                \
                          {{p.dstBlkStride, p.dstRepStride}, {p.srcBlkStride, p.srcRepStride}, {}}); \
  }

KW_MIXED_SCALAR(Axpy, kAxpy, U, U,
                ((std::is_same_v<T, U> && kw::kIsOneOf<T, half, float>) ||
                 (std::is_same_v<T, float> && std::is_same_v<U, half>)),
                "half, float, or float += half")
#undef KW_MIXED_SCALAR

#define KW_SAME_SCALAR(name, op, words, ...)                                                       \
  template <typename T, bool isSetMask = true>                                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar,          \
                   const int32_t& count) {                                                         \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words);                            \
    kw::vectorMixed(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<T>, dst.GetPhyAddr(),           \
                    src.GetPhyAddr(), nullptr, kw::scalarBits(scalar), count);                     \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar,          \
                   uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams& p,            \
                   bool roundEn = false) {                                                         \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words);                            \
    kw::vectorMixedRepeat(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<T>, dst.GetPhyAddr(),     \
                          src.GetPhyAddr(), nullptr, kw::scalarBits(scalar),                       \
                          kw::maskArg(mask, isSetMask), repeatTime,                                \
                          {{p.dstBlkStride, p.dstRepStride}, {p.srcBlkStride, p.srcRepStride}, {}}); \
    (void)roundEn;                                                                                 \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalar,          \
                   uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams& p,          \
                   bool roundEn = false) {                                                         \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes " words);                            \
    kw::vectorMixedRepeat(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<T>, dst.GetPhyAddr(),     \
                          src.GetPhyAddr(), nullptr, kw::scalarBits(scalar),                       \
                          kw::maskArg(mask, isSetMask), repeatTime,                                \
                          {{p.dstBlkStride, p.dstRepStride}, {p.srcBlkStride, p.srcRepStride}, {}}); \
    (void)roundEn;                                                                                 \
  }

KW_SAME_SCALAR(LeakyRelu, kLeakyRelu, "half or float", half, float)
KW_SAME_SCALAR(ShiftLeft, kShiftLeft, "16-bit and 32-bit integers", int16_t, uint16_t, int32_t,
               uint32_t)
KW_SAME_SCALAR(ShiftRight, kShiftRight, "16-bit and 32-bit integers", int16_t, uint16_t, int32_t,
               uint32_t)
#undef KW_SAME_SCALAR

#define KW_MIXED_BINARY(name, op, condition, words)                                                \
  template <typename T, typename U = T>                                                            \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0,                          \
                   const LocalTensor<U>& src1, const int32_t& count) {                             \
    static_assert(condition, #name " takes " words);                                               \
    kw::vectorMixed(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(),           \
                    src0.GetPhyAddr(), src1.GetPhyAddr(), 0, count);                               \
  }                                                                                                \
  template <typename T, typename U = T, bool isSetMask = true>                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0,                          \
                   const LocalTensor<U>& src1, uint64_t mask, const uint8_t repeatTime,            \
                   const BinaryRepeatParams& p) {                                                  \
    static_assert(condition, #name " takes " words);                                               \
    kw::vectorMixedRepeat(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(),     \
                          src0.GetPhyAddr(), src1.GetPhyAddr(), 0, kw::maskArg(mask, isSetMask),   \
                          repeatTime, kw::binaryStrides(p));                                       \
  }                                                                                                \
  template <typename T, typename U = T, bool isSetMask = true>                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0,                          \
                   const LocalTensor<U>& src1, uint64_t mask[], const uint8_t repeatTime,          \
                   const BinaryRepeatParams& p) {                                                  \
    static_assert(condition, #name " takes " words);                                               \
    kw::vectorMixedRepeat(kw::MixedOp::op, kw::kDtypeOf<T>, kw::kDtypeOf<U>, dst.GetPhyAddr(),     \
                          src0.GetPhyAddr(), src1.GetPhyAddr(), 0, kw::maskArg(mask, isSetMask),   \
                          repeatTime, kw::binaryStrides(p));                                       \
  }

KW_MIXED_BINARY(MulAddDst, kMulAddDst,
                ((std::is_same_v<T, U> && kw::kIsOneOf<T, half, float>) ||
                 (std::is_same_v<T, float> && std::is_same_v<U, half>)),
                "half, float, or float += half * half")
KW_MIXED_BINARY(FusedMulAdd, kFusedMulAdd,
                (std::is_same_v<T, U> && kw::kIsOneOf<T, half, float>), "half or float")
KW_MIXED_BINARY(FusedMulAddRelu, kFusedMulAddRelu,
                (std::is_same_v<T, U> && kw::kIsOneOf<T, half, float>), "half or float")
KW_MIXED_BINARY(AddRelu, kAddRelu,
                (std::is_same_v<T, U> && kw::kIsOneOf<T, half, float, int16_t>),
                "half, float or int16_t")
KW_MIXED_BINARY(SubRelu, kSubRelu,
                (std::is_same_v<T, U> && kw::kIsOneOf<T, half, float, int16_t>),
                "half, float or int16_t")
#undef KW_MIXED_BINARY

}  // namespace AscendC
