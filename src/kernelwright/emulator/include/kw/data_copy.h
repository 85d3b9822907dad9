// DataCopy by count, by blocks and by slices.
#pragma once
#include "kw/copy_abi.h"
#include "kw/global_tensor.h"
#include "kw/local_tensor.h"
#include "kw/params.h"

namespace kw {

template <typename T>
KW_API CopyArgs countArgs(const T* dst, const T* src, uint32_t count) {
  CopyArgs args;
  args.dst = const_cast<T*>(dst);
  args.src = src;
  args.rowBytes = bytesOf<T>(count);
  args.itemBytes = sizeof(T);
  return args;
}

// Lengths and gaps in units of `unit` bytes on each side.
template <typename T>
KW_API CopyArgs blockArgs(const T* dst, const T* src, const AscendC::DataCopyParams& params) {
  CopyArgs args = countArgs(dst, src, 0);
  args.form = CopyForm::kBlocks;
  args.rows = params.blockCount;
  args.rowBytes = params.blockLen * 32ull;
  args.srcGap = params.srcStride * 32ull;
  args.dstGap = params.dstStride * 32ull;
  return args;
}

template <typename T>
KW_API bool bypasses(const AscendC::GlobalTensor<T>& tensor) {
  return tensor.GetL2CacheHint() == AscendC::CacheMode::CACHE_MODE_DISABLE;
}

// Slices: rows of `burstLen` blocks of an n-dimensional tensor, by its SliceInfo on both sides.
void copySlices(const CopyArgs& base, const AscendC::SliceInfo* dst, const AscendC::SliceInfo* src,
                uint32_t dims, bool isIn);

}  // namespace kw

namespace AscendC {

template <typename T>
KW_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count) {
  kw::CopyArgs args = kw::countArgs(dst.GetPhyAddr(), src.GetPhyAddr(), count);
  args.bypassL2 = kw::bypasses(src);
  kw::copyIn(args);
}
template <typename T>
KW_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
  kw::CopyArgs args = kw::countArgs(dst.GetPhyAddr(), static_cast<const T*>(src.GetPhyAddr()), count);
  args.bypassL2 = kw::bypasses(dst);
  kw::copyOut(args);
}
template <typename T>
KW_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
  kw::copyLocal(kw::countArgs(dst.GetPhyAddr(), src.GetPhyAddr(), count));
}
template <typename T>
KW_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                     const DataCopyParams& repeatParams) {
  kw::CopyArgs args = kw::blockArgs<T>(dst.GetPhyAddr(), src.GetPhyAddr(), repeatParams);
  args.bypassL2 = kw::bypasses(src);
  kw::copyIn(args);
}
template <typename T>
KW_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                     const DataCopyParams& repeatParams) {
  kw::CopyArgs args = kw::blockArgs<T>(dst.GetPhyAddr(), src.GetPhyAddr(), repeatParams);
  args.bypassL2 = kw::bypasses(dst);
  kw::copyOut(args);
}
template <typename T>
KW_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const DataCopyParams& repeatParams) {
  kw::copyLocal(kw::blockArgs<T>(dst.GetPhyAddr(), src.GetPhyAddr(), repeatParams));
}
template <typename T>
KW_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                     const SliceInfo dstSliceInfo[], const SliceInfo srcSliceInfo[],
                     const uint32_t dimValue = 1) {
  kw::copySlices(kw::countArgs(dst.GetPhyAddr(), src.GetPhyAddr(), 0), dstSliceInfo, srcSliceInfo,
                 dimValue, true);
}
template <typename T>
KW_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                     const SliceInfo dstSliceInfo[], const SliceInfo srcSliceInfo[],
                     const uint32_t dimValue = 1) {
  kw::copySlices(kw::countArgs(dst.GetPhyAddr(), static_cast<const T*>(src.GetPhyAddr()), 0),
                 dstSliceInfo, srcSliceInfo, dimValue, false);
}

}  // namespace AscendC
