// Compare and Select: masks are bits, one a lane, in uint8_t or other integer tensors.
#pragma once
#include "kw/vector_binary.h"

namespace kw {

void compare(AscendC::CMPMODE mode, Dtype dtype, void* dst, const void* src0, const void* src1,
             uint64_t scalar, uint32_t count);
void compareRepeat(AscendC::CMPMODE mode, Dtype dtype, void* dst, const void* src0,
                   const void* src1, uint64_t scalar, const MaskArg& mask, uint8_t repeats,
                   const BinaryStrides& strides);
// The form that leaves its bits in the compare mask register.
void compareRegister(AscendC::CMPMODE mode, Dtype dtype, const void* src0, const void* src1,
                     const MaskArg& mask, const BinaryStrides& strides);
void setCompareMask(const void* src);
void getCompareMask(void* dst);
// `src1` null: the scalar. The mask of mode 0 is used again in every repeat.
void select(AscendC::SELMODE mode, Dtype dtype, void* dst, const void* selMask, const void* src0,
            const void* src1, uint64_t scalar, uint32_t count);
void selectRepeat(AscendC::SELMODE mode, Dtype dtype, void* dst, const void* selMask,
                  const void* src0, const void* src1, uint64_t scalar, const MaskArg& mask,
                  uint8_t repeats, const BinaryStrides& strides);
void selectBytes(Dtype dtype, void* dst, const void* src0, const void* src1, uint64_t scalar,
                 bool isScalarFirst, const void* mask, Dtype maskDtype, uint32_t rows,
                 uint32_t columns, uint32_t maskColumns);

template <typename T>
constexpr bool kIsComparable = kIsOneOf<T, half, float, int32_t>;

}  // namespace kw

namespace AscendC {

template <typename T, typename U>
KW_API void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<T>& src1, CMPMODE cmpMode, uint32_t count) {
  static_assert(kw::kIsComparable<T>, "Compare takes half, float, and int32_t for EQ");
  kw::compare(cmpMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), src1.GetPhyAddr(), 0,
              count);
}
template <typename T, typename U, bool isSetMask = true>
KW_API void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask,
                    uint8_t repeatTime, const BinaryRepeatParams& p) {
  kw::compareRepeat(cmpMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(),
                    src1.GetPhyAddr(), 0, kw::maskArg(mask, isSetMask), repeatTime,
                    kw::binaryStrides(p));
}
template <typename T, typename U, bool isSetMask = true>
KW_API void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask[],
                    uint8_t repeatTime, const BinaryRepeatParams& p) {
  kw::compareRepeat(cmpMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(),
                    src1.GetPhyAddr(), 0, kw::maskArg(mask, isSetMask), repeatTime,
                    kw::binaryStrides(p));
}
template <typename T, bool isSetMask = true>
KW_API void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    const uint64_t mask, const BinaryRepeatParams& p) {
  kw::compareRegister(cmpMode, kw::kDtypeOf<T>, src0.GetPhyAddr(), src1.GetPhyAddr(),
                      kw::maskArg(mask, isSetMask), kw::binaryStrides(p));
}
template <typename T, bool isSetMask = true>
KW_API void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    const uint64_t mask[], const BinaryRepeatParams& p) {
  kw::compareRegister(cmpMode, kw::kDtypeOf<T>, src0.GetPhyAddr(), src1.GetPhyAddr(),
                      kw::maskArg(mask, isSetMask), kw::binaryStrides(p));
}
template <typename T, typename U, bool isSetMask = true>
KW_API void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,
                          CMPMODE cmpMode, uint32_t count) {
  static_assert(kw::kIsComparable<T>, "CompareScalar takes half, float, and int32_t for EQ");
  kw::compare(cmpMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), nullptr,
              kw::scalarBits(src1Scalar), count);
}
template <typename T, typename U, bool isSetMask = true>
KW_API void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,
                          CMPMODE cmpMode, const uint64_t mask, uint8_t repeatTime,
                          const UnaryRepeatParams& p) {
  kw::compareRepeat(cmpMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), nullptr,
                    kw::scalarBits(src1Scalar), kw::maskArg(mask, isSetMask), repeatTime,
                    {{p.dstBlkStride, p.dstRepStride}, {p.srcBlkStride, p.srcRepStride}, {}});
}
template <typename T>
KW_API void SetCmpMask(const LocalTensor<T>& src) { kw::setCompareMask(src.GetPhyAddr()); }
template <typename T>
KW_API void GetCmpMask(const LocalTensor<T>& dst) { kw::getCompareMask(dst.GetPhyAddr()); }

template <typename T, typename U>
KW_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                   const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE selMode,
                   uint32_t count) {
  static_assert(kw::kIsOneOf<T, half, float>, "Select takes half or float");
  kw::select(selMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), selMask.GetPhyAddr(), src0.GetPhyAddr(),
             src1.GetPhyAddr(), 0, count);
}
template <typename T, typename U>
KW_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                   const LocalTensor<T>& src0, T src1, SELMODE selMode, uint32_t count) {
  static_assert(kw::kIsOneOf<T, half, float>, "Select takes half or float");
  kw::select(selMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), selMask.GetPhyAddr(), src0.GetPhyAddr(),
             nullptr, kw::scalarBits(src1), count);
}
#define KW_SELECT_REPEAT(maskType)                                                                 \
  template <typename T, typename U, bool isSetMask = true>                                         \
  KW_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,                     \
                     const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE selMode,      \
                     maskType, uint8_t repeatTime, const BinaryRepeatParams& p) {                  \
    static_assert(kw::kIsOneOf<T, half, float>, "Select takes half or float");                     \
    kw::selectRepeat(selMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), selMask.GetPhyAddr(),             \
                     src0.GetPhyAddr(), src1.GetPhyAddr(), 0, kw::maskArg(mask, isSetMask),        \
                     repeatTime, kw::binaryStrides(p));                                            \
  }                                                                                                \
  template <typename T, typename U, bool isSetMask = true>                                         \
  KW_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,                     \
                     const LocalTensor<T>& src0, T src1, SELMODE selMode, maskType,                \
                     uint8_t repeatTime, const BinaryRepeatParams& p) {                            \
    static_assert(kw::kIsOneOf<T, half, float>, "Select takes half or float");                     \
    kw::selectRepeat(selMode, kw::kDtypeOf<T>, dst.GetPhyAddr(), selMask.GetPhyAddr(),             \
                     src0.GetPhyAddr(), nullptr, kw::scalarBits(src1),                             \
                     kw::maskArg(mask, isSetMask), repeatTime, kw::binaryStrides(p));              \
  }
KW_SELECT_REPEAT(uint64_t mask)
KW_SELECT_REPEAT(uint64_t mask[])
#undef KW_SELECT_REPEAT

struct SelectWithBytesMaskShapeInfo {
  uint32_t firstAxis = 0;
  uint32_t srcLastAxis = 0;
  uint32_t maskLastAxis = 0;
};
template <typename T, typename U, bool isReuseMask = true>
KW_API void SelectWithBytesMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1,
                                const LocalTensor<U>& mask,
                                const LocalTensor<uint8_t>& sharedTmpBuffer,
                                const SelectWithBytesMaskShapeInfo& info) {
  (void)sharedTmpBuffer;
  kw::selectBytes(kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), nullptr,
                  kw::scalarBits(src1), false, mask.GetPhyAddr(), kw::kDtypeOf<U>, info.firstAxis,
                  info.srcLastAxis, info.maskLastAxis);
}
template <typename T, typename U, bool isReuseMask = true>
KW_API void SelectWithBytesMask(const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1,
                                const LocalTensor<U>& mask,
                                const LocalTensor<uint8_t>& sharedTmpBuffer,
                                const SelectWithBytesMaskShapeInfo& info) {
  (void)sharedTmpBuffer;
  kw::selectBytes(kw::kDtypeOf<T>, dst.GetPhyAddr(), src1.GetPhyAddr(), nullptr,
                  kw::scalarBits(src0), true, mask.GetPhyAddr(), kw::kDtypeOf<U>, info.firstAxis,
                  info.srcLastAxis, info.maskLastAxis);
}

}  // namespace AscendC
