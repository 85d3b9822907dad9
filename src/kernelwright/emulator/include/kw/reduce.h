// Reductions of vectors: whole tensors (ReduceSum, ReduceMax, ReduceMin), repeats (WholeReduce*),
// blocks (BlockReduce*) and pairs.
#pragma once
#include "kw/local_tensor.h"
#include "kw/mask.h"
#include "kw/params.h"

namespace kw {

enum class ReduceOp : uint8_t { kSum, kMax, kMin };

void reduceAll(ReduceOp op, Dtype dtype, void* dst, const void* src, const void* work,
               int32_t count, bool hasIndex);
void reduceAllRepeat(ReduceOp op, Dtype dtype, void* dst, const void* src, const void* work,
                     const MaskArg& mask, int32_t repeats, int32_t srcRepeatStride, bool hasIndex);
void wholeReduce(ReduceOp op, Dtype dtype, void* dst, const void* src, const MaskArg& mask,
                 int32_t repeats, int32_t dstRepeatStride, Stride src2, AscendC::ReduceOrder order);
void blockReduce(ReduceOp op, Dtype dtype, void* dst, const void* src, int32_t repeats,
                 const MaskArg& mask, int32_t dstRepeatStride, Stride srcStride);
void pairReduce(Dtype dtype, void* dst, const void* src, int32_t repeats, const MaskArg& mask,
                int32_t dstRepeatStride, Stride srcStride);
// What the last scalar reduction left in the accumulator registers.
uint64_t reducedValue();
uint64_t reducedIndex();

}  // namespace kw

namespace AscendC {

#define KW_HALF_FLOAT(name) \
  static_assert(kw::kIsOneOf<T, half, float>, #name " takes half or float")

template <typename T, bool isSetMask = true>
KW_API void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const LocalTensor<T>& sharedTmpBuffer, const int32_t count) {
  KW_HALF_FLOAT(ReduceSum);
  kw::reduceAll(kw::ReduceOp::kSum, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),
                sharedTmpBuffer.GetPhyAddr(), count, false);
}
template <typename T>
KW_API void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const LocalTensor<T>& sharedTmpBuffer, const int32_t mask,
                      const int32_t repeatTime, const int32_t srcRepStride) {
  KW_HALF_FLOAT(ReduceSum);
  kw::reduceAllRepeat(kw::ReduceOp::kSum, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),
                      sharedTmpBuffer.GetPhyAddr(), kw::maskArg(static_cast<uint64_t>(mask)),
                      repeatTime, srcRepStride, false);
}
template <typename T>
KW_API void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],
                      const int32_t repeatTime, const int32_t srcRepStride) {
  KW_HALF_FLOAT(ReduceSum);
  kw::reduceAllRepeat(kw::ReduceOp::kSum, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),
                      sharedTmpBuffer.GetPhyAddr(), kw::maskArg(mask), repeatTime, srcRepStride,
                      false);
}

#define KW_REDUCE_INDEX(name, op)                                                                  \
  template <typename T>                                                                            \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<T>& sharedTmpBuffer, const int32_t count,                     \
                   bool calIndex = 0) {                                                            \
    KW_HALF_FLOAT(name);                                                                           \
    kw::reduceAll(kw::ReduceOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),           \
                  sharedTmpBuffer.GetPhyAddr(), count, calIndex);                                  \
  }                                                                                                \
  template <typename T>                                                                            \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<T>& sharedTmpBuffer, const int32_t mask,                      \
                   const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0) {      \
    KW_HALF_FLOAT(name);                                                                           \
    kw::reduceAllRepeat(kw::ReduceOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),     \
                        sharedTmpBuffer.GetPhyAddr(), kw::maskArg(static_cast<uint64_t>(mask)),    \
                        repeatTime, srcRepStride, calIndex);                                       \
  }                                                                                                \
  template <typename T>                                                                            \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],                   \
                   const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0) {      \
    KW_HALF_FLOAT(name);                                                                           \
    kw::reduceAllRepeat(kw::ReduceOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),     \
                        sharedTmpBuffer.GetPhyAddr(), kw::maskArg(mask), repeatTime, srcRepStride, \
                        calIndex);                                                                 \
  }
KW_REDUCE_INDEX(ReduceMax, kMax)
KW_REDUCE_INDEX(ReduceMin, kMin)
#undef KW_REDUCE_INDEX

#define KW_WHOLE(name, op, order, ...)                                                             \
  template <typename T, bool isSetMask = true>                                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,       \
                   const int32_t repeatTime, const int32_t dstRepStride,                           \
                   const int32_t srcBlkStride, const int32_t srcRepStride __VA_ARGS__) {           \
    KW_HALF_FLOAT(name);                                                                           \
    kw::wholeReduce(kw::ReduceOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),         \
                    kw::maskArg(static_cast<uint64_t>(mask), isSetMask), repeatTime, dstRepStride, \
                    {static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)},    \
                    order);                                                                        \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],    \
                   const int32_t repeatTime, const int32_t dstRepStride,                           \
                   const int32_t srcBlkStride, const int32_t srcRepStride __VA_ARGS__) {           \
    KW_HALF_FLOAT(name);                                                                           \
    kw::wholeReduce(kw::ReduceOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),         \
                    kw::maskArg(mask, isSetMask), repeatTime, dstRepStride,                        \
                    {static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)},    \
                    order);                                                                        \
  }
#define KW_ORDER , ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX
KW_WHOLE(WholeReduceSum, kSum, ReduceOrder::ORDER_ONLY_VALUE)
KW_WHOLE(WholeReduceMax, kMax, order, KW_ORDER)
KW_WHOLE(WholeReduceMin, kMin, order, KW_ORDER)
#undef KW_WHOLE
#undef KW_ORDER

template <typename T, bool isSetMask = true>
KW_API void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                            const int32_t repeatTime, const int32_t mask,
                            const int32_t dstBlkStride, const int32_t srcBlkStride,
                            const int32_t dstRepStride, const int32_t srcRepStride) {
  (void)dstBlkStride;
  WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride);
}

#define KW_BLOCK(name, op)                                                                         \
  template <typename T, bool isSetMask = true>                                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, \
                   const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,     \
                   const int32_t srcRepStride) {                                                   \
    KW_HALF_FLOAT(name);                                                                           \
    kw::blockReduce(kw::ReduceOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),         \
                    repeatTime, kw::maskArg(static_cast<uint64_t>(mask), isSetMask), dstRepStride, \
                    {static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)});   \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, \
                   const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,  \
                   const int32_t srcRepStride) {                                                   \
    KW_HALF_FLOAT(name);                                                                           \
    kw::blockReduce(kw::ReduceOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),         \
                    repeatTime, kw::maskArg(mask, isSetMask), dstRepStride,                        \
                    {static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)});   \
  }
KW_BLOCK(BlockReduceSum, kSum)
KW_BLOCK(BlockReduceMax, kMax)
KW_BLOCK(BlockReduceMin, kMin)
#undef KW_BLOCK

template <typename T, bool isSetMask = true>
KW_API void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                          const int32_t repeatTime, const int32_t mask, const int32_t dstRepStride,
                          const int32_t srcBlkStride, const int32_t srcRepStride) {
  KW_HALF_FLOAT(PairReduceSum);
  kw::pairReduce(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), repeatTime,
                 kw::maskArg(static_cast<uint64_t>(mask), isSetMask), dstRepStride,
                 {static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)});
}
template <typename T, bool isSetMask = true>
KW_API void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                          const int32_t repeatTime, const uint64_t mask[],
                          const int32_t dstRepStride, const int32_t srcBlkStride,
                          const int32_t srcRepStride) {
  KW_HALF_FLOAT(PairReduceSum);
  kw::pairReduce(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), repeatTime,
                 kw::maskArg(mask, isSetMask), dstRepStride,
                 {static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)});
}

template <typename T>
KW_API T GetAccVal() {
  T value;
  const uint64_t bits = kw::reducedValue();
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <typename T>
KW_API void GetReduceMaxMinCount(T& value, T& index) {
  const uint64_t bits = kw::reducedValue(), at = kw::reducedIndex();
  __builtin_memcpy(&value, &bits, sizeof(T));
  __builtin_memcpy(&index, &at, sizeof(T));
}
template <typename T>
KW_API void GetReduceMaxMinCount(T& value) { value = GetAccVal<T>(); }
#undef KW_HALF_FLOAT

}  // namespace AscendC
