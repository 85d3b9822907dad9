// The cube unit: L1 to L0 by fractals, products, L0C to global memory.
#pragma once
#include "kw/cube_abi.h"
#include "kw/cube_params.h"
#include "kw/global_tensor.h"
#include "kw/local_tensor.h"
#include "kw/params.h"

namespace AscendC {

template <typename T>
KW_API void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const LoadData2DParams& params) {
  kw::FractalLoad load = kw::fractals<T>(dst.GetPhyAddr(), src.GetPhyAddr(), params);
  load.transposes = params.ifTranspose;
  kw::loadFractals(load, "LoadData");
}
template <typename T>
KW_API void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                     const LoadData2DParams& params) {
  kw::FractalLoad load = kw::fractals<T>(dst.GetPhyAddr(), src.GetPhyAddr(), params);
  load.isFromGm = true;
  kw::loadFractals(load, "LoadData");
}
template <typename T>
KW_API void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const LoadData2dTransposeParams& params) {
  kw::FractalLoad load = kw::fractals<T>(dst.GetPhyAddr(), src.GetPhyAddr(), params);
  load.transposes = true;
  load.dstFracGap = params.dstFracGap;
  kw::loadFractals(load, "LoadDataWithTranspose");
}
template <typename T>
KW_API void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const LoadData3DParamsV2<T>& p) {
  kw::loadPatches({kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),
                   {p.padList[0], p.padList[1], p.padList[2], p.padList[3]},
                   p.l1H, p.l1W, p.channelSize, p.kExtension, p.mExtension, p.kStartPt, p.mStartPt,
                   p.strideW, p.strideH, p.filterW + (p.filterSizeW ? 256u : 0u),
                   p.filterH + (p.filterSizeH ? 256u : 0u), p.dilationFilterW, p.dilationFilterH,
                   p.enTranspose, kw::itemBits(p.padValue)});
}

template <typename T, typename U, typename S>
KW_API kw::Product kwProduct(const LocalTensor<T>& dst, const LocalTensor<U>& fm,
                             const LocalTensor<S>& filter, const MmadParams& p) {
  static_assert((kw::kIsOneOf<U, half, float, bfloat16_t> && std::is_same_v<T, float>) ||
                    (kw::kIsOneOf<U, int8_t> && std::is_same_v<T, int32_t>),
                "Mmad: half, bfloat16_t, float give float; int8_t gives int32_t");
  static_assert(std::is_same_v<U, S>, "Mmad: both factors have one type");
  return {kw::kDtypeOf<U>, kw::kDtypeOf<T>, dst.GetPhyAddr(), fm.GetPhyAddr(), filter.GetPhyAddr(),
          nullptr, p.m, p.n, p.k, p.cmatrixInitVal && !p.isBias, p.unitFlag};
}
template <typename T, typename U, typename S>
KW_API void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
                 const MmadParams& params) {
  kw::multiply(kwProduct(dst, fm, filter, params));
}
template <typename T, typename U, typename S, typename V>
KW_API void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
                 const LocalTensor<V>& bias, const MmadParams& params) {
  static_assert(std::is_same_v<T, V>, "Mmad: the bias has the type of the result");
  kw::Product product = kwProduct(dst, fm, filter, params);
  product.bias = bias.GetPhyAddr();
  kw::multiply(product);
}

template <typename T, typename U>
KW_API kw::Drain kwDrain(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
                         const FixpipeParamsV220& p, bool toNd) {
  static_assert(kw::kIsOneOf<U, float, int32_t>, "Fixpipe: the source is float or int32_t");
  static_assert(kw::kIsOneOf<T, half, bfloat16_t, float, int32_t, int8_t, uint8_t>);
  return {kw::kDtypeOf<U>, kw::kDtypeOf<T>, const_cast<T*>(dst.GetPhyAddr()), src.GetPhyAddr(),
          nullptr, p.deqScalar, p.quantPre, p.nSize, p.mSize, p.srcStride, p.dstStride, p.ndNum,
          p.srcNdStride, p.dstNdStride, p.reluEn, toNd, p.isChannelSplit, p.unitFlag};
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
KW_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
                    const FixpipeParamsV220& params) {
  kw::drain(kwDrain(dst, src, params, config.format == CO2Layout::ROW_MAJOR), "Fixpipe");
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
KW_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
                    const LocalTensor<uint64_t>& cbufWorkspace, const FixpipeParamsV220& params) {
  kw::Drain out = kwDrain(dst, src, params, config.format == CO2Layout::ROW_MAJOR);
  out.scales = cbufWorkspace.GetPhyAddr();
  kw::drain(out, "Fixpipe");
}

KW_API void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride) {
  kw::setNz2nd(ndNum, srcNdStride, dstNdStride);
}
template <typename T = void>
KW_API void SetFixpipePreQuantFlag(uint64_t config) { kw::setPreQuant(config); }
template <typename T, typename U>
KW_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
                     const DataCopyCO12DstParams& p) {
  FixpipeParamsV220 params(p.nSize, p.mSize, p.srcStride, p.dstStride, p.reluPre != 0);
  params.quantPre = p.quantPre;
  params.isChannelSplit = p.channelSplit;
  params.unitFlag = p.unitFlag;
  kw::Drain out = kwDrain(dst, src, params, p.nz2ndEn);
  kw::useRegisters(&out);
  kw::drain(out, "DataCopy");
}

// Neither changes what is computed here: products of float stay float, and the order is the cube's.
KW_API void SetHF32Mode(HF32Mode) {}
KW_API void SetHF32Mode(bool) {}
KW_API void SetHF32TransMode(HF32TransMode) {}
KW_API void SetHF32TransMode(bool) {}
KW_API void SetMMLayoutTransform(bool) {}

template <typename T>
KW_API kw::NdCopy kwNdCopy(const T* dst, const T* src, const Nd2NzParams& p) {
  return {const_cast<T*>(dst), src, sizeof(T), p.ndNum, p.nValue, p.dValue,
          p.srcNdMatrixStride * sizeof(T), p.srcDValue * sizeof(T), p.dstNzC0Stride * 32ull,
          p.dstNzNStride * 32ull, p.dstNzMatrixStride * sizeof(T)};
}
template <typename T>
KW_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                     const Nd2NzParams& params) {
  kw::copyNdToNz(kwNdCopy<T>(dst.GetPhyAddr(), src.GetPhyAddr(), params), true);
}
template <typename T>
KW_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const Nd2NzParams& params) {
  kw::copyNdToNz(kwNdCopy<T>(dst.GetPhyAddr(), src.GetPhyAddr(), params), false);
}
template <typename T>
KW_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                     const Nz2NdParamsFull& p) {
  kw::copyNzToNd({const_cast<T*>(dst.GetPhyAddr()), src.GetPhyAddr(), sizeof(T), p.ndNum, p.nValue,
                  p.dValue, p.srcNdMatrixStride * 256ull * sizeof(T),
                  p.srcNStride * 16ull * sizeof(T), 0, p.dstDStride * sizeof(T),
                  p.dstNdMatrixStride * sizeof(T)});
}

template <typename T>
KW_API void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<T>& params) {
  static_assert(kw::kIsOneOf<T, half, int16_t, uint16_t, bfloat16_t, float, int32_t, uint32_t>);
  kw::fillConstant({dst.GetPhyAddr(), sizeof(T), params.repeatTimes, params.blockNum,
                    params.dstGap, kw::itemBits(params.initValue)});
}

}  // namespace AscendC
