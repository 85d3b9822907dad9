// DataCopyPad: rows of any number of bytes, each filled up to 32 bytes in UB.
#pragma once
#include "kw/data_copy.h"

namespace kw {

// GM gaps are bytes, UB gaps are 32-byte blocks.
struct PadRows { uint64_t count, bytes, srcGap, dstGap; };

template <typename T>
KW_API CopyArgs padArgs(const T* dst, const T* src, const PadRows& rows) {
  CopyArgs args = countArgs(dst, src, 0);
  args.form = CopyForm::kPad;
  args.rows = rows.count;
  args.rowBytes = rows.bytes;
  args.srcGap = rows.srcGap;
  args.dstGap = rows.dstGap;
  return args;
}
template <typename P>
KW_API PadRows rowsIn(const P& p) { return {p.blockCount, p.blockLen, p.srcStride, p.dstStride * 32ull}; }
template <typename P>
KW_API PadRows rowsOut(const P& p) { return {p.blockCount, p.blockLen, p.srcStride * 32ull, p.dstStride}; }

template <typename T, typename P>
KW_API CopyArgs padded(CopyArgs args, const P& pad) {
  args.isPadded = pad.isPad;
  args.left = pad.leftPadding;
  args.right = pad.rightPadding;
  __builtin_memcpy(&args.padBits, &pad.paddingValue, sizeof(T));
  return args;
}

}  // namespace kw

namespace AscendC {

template <typename T>
KW_API void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyParams& dataCopyParams, const DataCopyPadParams& padParams) {
  kw::CopyArgs args = kw::padArgs<T>(dst.GetPhyAddr(), src.GetPhyAddr(), kw::rowsIn(dataCopyParams));
  args.bypassL2 = kw::bypasses(src);
  kw::copyIn(kw::padded<T>(args, padParams));
}
template <typename T, typename U = T>
KW_API void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyExtParams& dataCopyParams,
                        const DataCopyPadExtParams<U>& padParams) {
  static_assert(sizeof(U) == sizeof(T), "the padding value has the tensor's element size");
  kw::CopyArgs args = kw::padArgs<T>(dst.GetPhyAddr(), src.GetPhyAddr(), kw::rowsIn(dataCopyParams));
  args.bypassL2 = kw::bypasses(src);
  kw::copyIn(kw::padded<T>(args, padParams));
}
template <typename T>
KW_API void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                        const DataCopyParams& dataCopyParams) {
  kw::CopyArgs args = kw::padArgs<T>(dst.GetPhyAddr(), src.GetPhyAddr(), kw::rowsOut(dataCopyParams));
  args.bypassL2 = kw::bypasses(dst);
  kw::copyOut(args);
}
template <typename T>
KW_API void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                        const DataCopyExtParams& dataCopyParams) {
  kw::CopyArgs args = kw::padArgs<T>(dst.GetPhyAddr(), src.GetPhyAddr(), kw::rowsOut(dataCopyParams));
  args.bypassL2 = kw::bypasses(dst);
  kw::copyOut(args);
}

}  // namespace AscendC
