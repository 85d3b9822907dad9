// Sorting by score, highest first. A sorted list holds 8 bytes an element: the score, then at byte 4
// its index.
#pragma once
#include "kw/local_tensor.h"

namespace AscendC {

template <typename T>
struct MrgSortSrcList {
  MrgSortSrcList() = default;
  MrgSortSrcList(const LocalTensor<T>& a, const LocalTensor<T>& b, const LocalTensor<T>& c,
                 const LocalTensor<T>& d)
      : src1(a), src2(b), src3(c), src4(d) {}
  LocalTensor<T> src1, src2, src3, src4;
};

struct MrgSort4Info {
  MrgSort4Info() = default;
  MrgSort4Info(const uint16_t lengths[4], bool suspends, uint16_t bits, uint16_t times)
      : elementLengths{lengths[0], lengths[1], lengths[2], lengths[3]},
        ifExhaustedSuspension(suspends), validBit(bits), repeatTimes(times) {}
  uint16_t elementLengths[4] = {0, 0, 0, 0};
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;
  uint8_t repeatTimes = 1;
};

}  // namespace AscendC

namespace kw {

void sort32(Dtype dtype, void* dst, const void* scores, const void* indices, int32_t repeats);
void sortAll(Dtype dtype, void* dst, const void* scores, const void* indices, const void* work,
             int32_t repeats, bool isFull);
void extractSorted(Dtype dtype, void* scores, void* indices, const void* sorted, int32_t repeats);
// `taken` gets how many elements of each list were merged; null where nobody asks.
struct MergeCall {
  const void* lists[4];
  uint16_t lengths[4];
  uint16_t validBit;
  int32_t repeats;
  bool suspends;
  uint32_t* taken;
};
void mergeSorted(Dtype dtype, void* dst, const MergeCall& call);

template <typename T>
constexpr bool kIsScore = kIsOneOf<T, half, float>;

}  // namespace kw

namespace AscendC {

template <typename T>
KW_API void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                   const LocalTensor<uint32_t>& src1, const int32_t repeatTime) {
  static_assert(kw::kIsScore<T>, "Sort32 takes half or float");
  kw::sort32(kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), src1.GetPhyAddr(), repeatTime);
}
template <typename T, bool isFullSort>
KW_API void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat,
                 const LocalTensor<uint32_t>& index, LocalTensor<T>& tmp,
                 const int32_t repeatTime) {
  static_assert(kw::kIsScore<T>, "Sort takes half or float");
  kw::sortAll(kw::kDtypeOf<T>, dst.GetPhyAddr(), concat.GetPhyAddr(), index.GetPhyAddr(),
              tmp.GetPhyAddr(), repeatTime, isFullSort);
}
// Scores need no joining on this chip: the result is the source.
template <typename T>
KW_API void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& tmp,
                   const int32_t repeatTime) {
  static_assert(kw::kIsScore<T>, "Concat takes half or float");
  (void)tmp;
  (void)repeatTime;
  concat = src;
}
template <typename T>
KW_API void Extract(const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex,
                    const LocalTensor<T>& sorted, const int32_t repeatTime) {
  static_assert(kw::kIsScore<T>, "Extract takes half or float");
  kw::extractSorted(kw::kDtypeOf<T>, dstValue.GetPhyAddr(), dstIndex.GetPhyAddr(),
                    sorted.GetPhyAddr(), repeatTime);
}
template <typename T, bool isExhaustedSuspension = false>
KW_API void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& list,
                    const uint16_t elementCountList[4], uint32_t sortedNum[4], uint16_t validBit,
                    const int32_t repeatTime) {
  static_assert(kw::kIsScore<T>, "MrgSort takes half or float");
  kw::mergeSorted(kw::kDtypeOf<T>, dst.GetPhyAddr(),
                  {{list.src1.GetPhyAddr(), list.src2.GetPhyAddr(), list.src3.GetPhyAddr(),
                    list.src4.GetPhyAddr()},
                   {elementCountList[0], elementCountList[1], elementCountList[2],
                    elementCountList[3]},
                   validBit, repeatTime, isExhaustedSuspension, sortedNum});
}
template <typename T>
KW_API void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& list,
                    const MrgSort4Info& params) {
  static_assert(kw::kIsScore<T>, "MrgSort takes half or float");
  const uint16_t* n = params.elementLengths;
  kw::mergeSorted(kw::kDtypeOf<T>, dst.GetPhyAddr(),
                  {{list.src1.GetPhyAddr(), list.src2.GetPhyAddr(), list.src3.GetPhyAddr(),
                    list.src4.GetPhyAddr()},
                   {n[0], n[1], n[2], n[3]}, params.validBit, params.repeatTimes,
                   params.ifExhaustedSuspension, nullptr});
}
// Elements of T that a sorted list of that many scores takes.
template <typename T>
KW_API uint32_t GetSortLen(const uint32_t elemCount) {
  return elemCount * 8 / static_cast<uint32_t>(sizeof(T));
}
template <typename T>
KW_API uint32_t GetSortOffset(const uint32_t elemOffset) { return GetSortLen<T>(elemOffset); }

}  // namespace AscendC
