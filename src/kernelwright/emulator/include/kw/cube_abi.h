// What the cube unit's wrappers hand to the runtime.
#pragma once
#include "kw/dtype.h"
#include "kw/cube_params.h"

namespace kw {

// Fractals of 512 bytes from `src` to `dst`; squares of several of them are transposed.
struct FractalLoad {
  Dtype dtype;
  void* dst;
  const void* src;
  uint32_t repeats;
  uint32_t start;       // in steps of the source
  int64_t srcStride;    // likewise; negative: downwards
  uint32_t dstGap;      // fractals
  uint32_t dstFracGap;  // fractals between the parts of a square
  bool transposes;
  bool isFromGm;
};
void loadFractals(const FractalLoad& load, const char* api);

// A window of the matrix that a convolution's patches make of a [C1, H, W, C0] tensor.
struct PatchLoad {
  Dtype dtype;
  void* dst;
  const void* src;
  uint8_t pad[4];  // left, right, top, bottom
  uint32_t height, width, channels;
  uint32_t k, m, kStart, mStart;
  uint32_t strideW, strideH, filterW, filterH, dilationW, dilationH;
  bool transposes;
  uint64_t padBits;
};
void loadPatches(const PatchLoad& load);

struct Product {
  Dtype in, out;
  void* c;
  const void* a;
  const void* b;
  const void* bias;  // in C2: a row; in CO1: a matrix like c; null: none
  uint32_t m, n, k;
  bool fromZero;
  uint8_t unitFlag;
};
void multiply(const Product& product);

struct Drain {
  Dtype in, out;
  void* dst;
  const void* src;
  const uint64_t* scales;  // one a column; null: `scale` for all
  uint64_t scale;
  QuantMode_t quant;
  uint32_t n, m, srcStride, dstStride;
  uint32_t count, srcNdStride, dstNdStride;
  bool relu, toNd, splits;
  uint8_t unitFlag;
};
void drain(const Drain& drain, const char* api);
void setNz2nd(uint32_t count, uint32_t srcStride, uint32_t dstStride);
void setPreQuant(uint64_t scale);
// What the two setters left behind, put into `drain`.
void useRegisters(Drain* drain);

struct NdCopy {
  void* dst;
  const void* src;
  uint32_t itemBytes;
  uint32_t count, rows, columns;
  uint64_t srcMatrix, srcRow;              // bytes
  uint64_t dstColumn, dstRow, dstMatrix;   // bytes
};
void copyNdToNz(const NdCopy& copy, bool isFromGm);
void copyNzToNd(const NdCopy& copy);

struct ConstantFill {
  void* dst;
  uint32_t itemBytes, repeats, blocks, gap;
  uint64_t bits;
};
void fillConstant(const ConstantFill& fill);

template <typename T>
KW_API uint64_t itemBits(T value) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

template <typename T, typename P>
KW_API FractalLoad fractals(const T* dst, const T* src, const P& params) {
  static_assert(sizeof(T) <= 4 && kDtypeOf<T> != Dtype::none);
  const int64_t step = params.srcStride;
  return {kDtypeOf<T>, const_cast<T*>(dst), src, params.repeatTimes, params.startIndex,
          params.addrMode != 0 ? -step : step, params.dstGap, 0, false, false};
}

}  // namespace kw
