// Moving lanes: Gather, GatherMask, Brcb, Transpose, and vectors of indices.
#pragma once
#include "kw/vector_binary.h"

namespace AscendC {

struct BrcbRepeatParams {
  BrcbRepeatParams() = default;
  BrcbRepeatParams(uint16_t block, uint16_t repeat) : dstBlkStride(block), dstRepStride(repeat) {}
  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
};
struct GatherRepeatParams {
  GatherRepeatParams() = default;
  GatherRepeatParams(uint8_t block, uint8_t repeat) : dstBlkStride(block), dstRepStride(repeat) {}
  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
};
struct GatherMaskParams {
  GatherMaskParams() = default;
  GatherMaskParams(uint8_t block, uint16_t times, uint16_t src0Rep, uint8_t src1Rep)
      : src0BlockStride(block), repeatTimes(times), src0RepeatStride(src0Rep),
        src1RepeatStride(src1Rep) {}
  uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
  uint16_t repeatTimes = 0;
  uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};
enum class GatherMaskMode : uint8_t { VERSION_V1, VERSION_V2 };
struct TransDataTo5HDParams {
  TransDataTo5HDParams() = default;
  TransDataTo5HDParams(bool dstHigh, bool srcHigh, uint8_t times, uint16_t dstRep, uint16_t srcRep)
      : dstHighHalf(dstHigh), srcHighHalf(srcHigh), repeatTimes(times), dstRepStride(dstRep),
        srcRepStride(srcRep) {}
  bool dstHighHalf = false;
  bool srcHighHalf = false;
  uint8_t repeatTimes = 1;
  uint16_t dstRepStride = 0;
  uint16_t srcRepStride = 0;
};

}  // namespace AscendC

namespace kw {

void gather(Dtype dtype, void* dst, const void* src, const void* offsets, uint32_t base,
            uint32_t count);
void gatherRepeat(Dtype dtype, void* dst, const void* src, const void* offsets, uint32_t base,
                  const MaskArg& mask, uint8_t repeats, uint16_t dstRepeatStride);
void gatherBlocks(Dtype dtype, void* dst, const void* src, const void* offsets, uint8_t repeats,
                  Stride stride);
// `pattern` 0: the bits in `bits`. Returns how many elements were gathered.
uint64_t gatherMask(Dtype dtype, void* dst, const void* src, const void* bits, uint8_t pattern,
                    bool isCounted, uint32_t mask, const AscendC::GatherMaskParams& params);
void brcb(Dtype dtype, void* dst, const void* src, uint8_t repeats, Stride stride);
void arithProgression(Dtype dtype, void* dst, double first, double step, int32_t count);
void transpose16(Dtype dtype, void* dst, const void* src);
void transData(Dtype dtype, const uint64_t* dsts, const uint64_t* srcs,
               const AscendC::TransDataTo5HDParams& params);

template <typename T>
constexpr bool kIsWide = sizeof(T) == 2 || sizeof(T) == 4;

}  // namespace kw

namespace AscendC {

template <typename T>
KW_API void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                   const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr,
                   const uint32_t count) {
  static_assert(kw::kIsWide<T>, "Gather takes 16-bit and 32-bit types");
  kw::gather(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), srcOffset.GetPhyAddr(),
             srcBaseAddr, count);
}
template <typename T>
KW_API void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                   const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr,
                   const uint64_t mask, const uint8_t repeatTime, const uint16_t dstRepStride) {
  static_assert(kw::kIsWide<T>, "Gather takes 16-bit and 32-bit types");
  kw::gatherRepeat(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), srcOffset.GetPhyAddr(),
                   srcBaseAddr, kw::maskArg(mask), repeatTime, dstRepStride);
}
template <typename T>
KW_API void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                   const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr,
                   const uint64_t mask[], const uint8_t repeatTime, const uint16_t dstRepStride) {
  static_assert(kw::kIsWide<T>, "Gather takes 16-bit and 32-bit types");
  kw::gatherRepeat(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), srcOffset.GetPhyAddr(),
                   srcBaseAddr, kw::maskArg(mask), repeatTime, dstRepStride);
}
template <typename T>
KW_API void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<uint32_t>& offset, const uint8_t repeatTime,
                    const GatherRepeatParams& p) {
  static_assert(kw::kIsWide<T>, "Gatherb takes 16-bit and 32-bit types");
  kw::gatherBlocks(kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), offset.GetPhyAddr(),
                   repeatTime, {p.dstBlkStride, p.dstRepStride});
}
template <typename T, GatherMaskMode mode = GatherMaskMode::VERSION_V2>
KW_API void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                       const uint8_t src1Pattern, const bool reduceMode, const uint32_t mask,
                       const GatherMaskParams& params, uint64_t& rsvdCnt) {
  static_assert(kw::kIsWide<T>, "GatherMask takes 16-bit and 32-bit types");
  rsvdCnt = kw::gatherMask(kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), nullptr,
                           src1Pattern, reduceMode, mask, params);
}
template <typename T, typename U, GatherMaskMode mode = GatherMaskMode::VERSION_V2>
KW_API void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                       const LocalTensor<U>& src1Pattern, const bool reduceMode,
                       const uint32_t mask, const GatherMaskParams& params, uint64_t& rsvdCnt) {
  static_assert(sizeof(U) == sizeof(T), "the mask of GatherMask is uint16_t or uint32_t, as wide as the data");
  rsvdCnt = kw::gatherMask(kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(),
                           src1Pattern.GetPhyAddr(), 0, reduceMode, mask, params);
}
template <typename T>
KW_API void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t repeatTime,
                 const BrcbRepeatParams& p) {
  static_assert(kw::kIsWide<T>, "Brcb takes 16-bit and 32-bit types");
  kw::brcb(kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), repeatTime,
           {p.dstBlkStride, p.dstRepStride});
}
template <typename T>
KW_API void ArithProgression(const LocalTensor<T>& dst, const T firstValue, const T diffValue,
                             const int32_t count) {
  static_assert(kw::kIsOneOf<T, int16_t, int32_t, half, float>,
                "ArithProgression takes int16_t, int32_t, half or float");
  kw::arithProgression(kw::kDtypeOf<T>, dst.GetPhyAddr(), static_cast<double>(firstValue),
                       static_cast<double>(diffValue), count);
}
template <typename T>
KW_API void Arange(const LocalTensor<T>& dst, const T firstValue, const T diffValue,
                   const int32_t count) {
  ArithProgression<T>(dst, firstValue, diffValue, count);
}
template <typename T>
KW_API void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count) {
  static_assert(kw::kIsOneOf<T, int16_t, int32_t, half, float>,
                "CreateVecIndex takes int16_t, int32_t, half or float");
  kw::arithProgression(kw::kDtypeOf<T>, dst.GetPhyAddr(), static_cast<double>(firstValue), 1.0,
                       static_cast<int32_t>(count));
}
template <typename T>
KW_API void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
  static_assert(sizeof(T) == 2, "Transpose takes a 16 x 16 matrix of 16-bit elements");
  kw::transpose16(kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr());
}
template <typename T>
KW_API void TransDataTo5HD(const LocalTensor<T> (&dstList)[16], const LocalTensor<T> (&srcList)[16],
                           const TransDataTo5HDParams& params) {
  uint64_t to[16], from[16];
  for (int i = 0; i < 16; ++i) {
    to[i] = reinterpret_cast<uint64_t>(dstList[i].GetPhyAddr());
    from[i] = reinterpret_cast<uint64_t>(srcList[i].GetPhyAddr());
  }
  kw::transData(kw::kDtypeOf<T>, to, from, params);
}
template <typename T>
KW_API void TransDataTo5HD(uint64_t dstList[16], uint64_t srcList[16],
                           const TransDataTo5HDParams& params) {
  kw::transData(kw::kDtypeOf<T>, dstList, srcList, params);
}

}  // namespace AscendC
