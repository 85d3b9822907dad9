// BroadCast, Sum, Mean, CumSum, LayerNorm, RmsNorm, AscendQuant, AscendDequant. Time: the vector
// instructions that such a call takes.
#include "kw/row_calls.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

uint32_t itemBytes(Dtype dtype) { return kDtypeBits[static_cast<int>(dtype)] / 8; }

float readAt(Dtype dtype, const void* from, uint64_t i) {
  if (dtype == Dtype::f16) return static_cast<const half*>(from)[i];
  if (dtype == Dtype::bf16) return static_cast<const bfloat16_t*>(from)[i];
  return static_cast<const float*>(from)[i];
}

void writeAt(Dtype dtype, void* to, uint64_t i, float value) {
  if (dtype == Dtype::f16) {
    static_cast<half*>(to)[i] = half(value);
  } else if (dtype == Dtype::bf16) {
    static_cast<bfloat16_t*>(to)[i] = bfloat16_t(value);
  } else {
    static_cast<float*>(to)[i] = value;
  }
}

void charge(Instruction& run, VectorOp op, Dtype dtype, const void* dst, const void* src,
            uint64_t bytes) {
  const MapCall call(op, {dst, dtype, {}, "dst"}, {src, dtype, {}, "src"});
  chargeMap(run, call, static_cast<uint32_t>((bytes + 255) / 256));
}

bool touch(Instruction& run, void* dst, uint64_t dstBytes, const void* src, uint64_t srcBytes) {
  run.aligned(dst, 32, "dst");
  run.aligned(src, 32, "src");
  const bool ok = run.read(src, srcBytes, "src");
  return run.write(dst, dstBytes, "dst") && ok;
}

bool isWholeBlocks(const Instruction& run, uint64_t bytes, const char* what) {
  if (bytes != 0 && bytes % 32 == 0) return true;
  run.fault(FaultCode::ARGUMENT, "%s is %llu bytes; it is a multiple of 32", what,
            static_cast<unsigned long long>(bytes));
  return false;
}

// LayerNorm and RmsNorm: operands and the shape.
bool touchNorm(Instruction& run, const NormCall& call) {
  const uint64_t row = uint64_t{call.columns} * itemBytes(call.dtype);
  if (!isWholeBlocks(run, row, "a row (hLength)")) return false;
  bool ok = run.read(call.gamma, row, "gamma");
  if (call.beta != nullptr) ok = run.read(call.beta, row, "beta") && ok;
  ok = touch(run, call.dst, row * call.rows, call.src, row * call.rows) && ok;
  const uint64_t means = uint64_t{call.rows} * itemBytes(call.dtype);
  if (call.mean != nullptr) ok = run.write(call.mean, means, "outputMean") && ok;
  if (call.variance != nullptr) ok = run.write(call.variance, means, "outputVariance") && ok;
  return ok;
}

uint32_t usedOf(const NormCall& call) {
  return call.used == 0 || call.used > call.columns ? call.columns : call.used;
}

void normRow(const NormCall& call, uint32_t row, bool isCentred) {
  const uint32_t n = usedOf(call);
  const uint64_t first = uint64_t{row} * call.columns;
  double mean = 0.0, square = 0.0;
  for (uint32_t i = 0; isCentred && i < n; ++i) mean += readAt(call.dtype, call.src, first + i);
  mean /= n;
  for (uint32_t i = 0; i < n; ++i) {
    const double x = readAt(call.dtype, call.src, first + i) - mean;
    square += x * x;
  }
  const double scale = 1.0 / std::sqrt(square / n + call.epsilon);
  for (uint32_t i = 0; i < n; ++i) {
    const double x = (readAt(call.dtype, call.src, first + i) - mean) * scale;
    const double shift = call.beta == nullptr ? 0.0 : readAt(call.dtype, call.beta, i);
    const double y = x * readAt(call.dtype, call.gamma, i) + shift;
    writeAt(call.dtype, call.dst, first + i, static_cast<float>(y));
  }
  if (call.mean != nullptr) writeAt(call.dtype, call.mean, row, static_cast<float>(mean));
  if (call.variance != nullptr) writeAt(call.dtype, call.variance, row, static_cast<float>(square / n));
}

void chargeNorm(Instruction& run, const NormCall& call, int plain) {
  const uint64_t bytes = uint64_t{call.rows} * call.columns * itemBytes(call.dtype);
  for (int i = 0; i < plain; ++i) charge(run, VectorOp::Mul, call.dtype, call.dst, call.src, bytes);
  charge(run, VectorOp::RepeatReduceSum, call.dtype, call.dst, call.src, bytes);
}

}  // namespace

void broadcastRows(Dtype dtype, void* dst, const void* src, const uint32_t* dstShape,
                   const uint32_t* srcShape, int dim, int axis) {
  Instruction run(Pipe::V, "BroadCast", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype);
  uint64_t rows = dim == 2 ? dstShape[0] : 1, columns = dim == 2 ? dstShape[1] : dstShape[0];
  for (int i = 0; i < dim; ++i) {
    if (srcShape[i] == (i == axis ? 1u : dstShape[i]) || srcShape[i] == dstShape[i]) continue;
    run.fault(FaultCode::ARGUMENT, "axis %d goes from %u to %u; only axis %d may grow, from 1", i,
              srcShape[i], dstShape[i], axis);
    return;
  }
  const bool isRow = dim == 2 && axis == 0 && srcShape[0] == 1;
  const bool isColumn = axis == dim - 1 && srcShape[dim - 1] == 1;
  if (dim == 2 && axis == 1) isWholeBlocks(run, columns * item, "a row of the result");
  const uint64_t n = (isRow ? 1 : rows) * (isColumn ? 1 : columns);
  const bool ok = touch(run, dst, rows * columns * item, src, n * item);
  for (uint64_t i = 0; ok && !run.skipsValues() && i < rows * columns; ++i) {
    const uint64_t row = i / columns, column = i % columns;
    const uint64_t from = (isRow ? 0 : row) * (isColumn ? 1 : columns) + (isColumn ? 0 : column);
    std::memcpy(static_cast<char*>(dst) + i * item, static_cast<const char*>(src) + from * item, item);
  }
  if (isColumn) charge(run, VectorOp::Brcb, dtype, dst, src, rows * 32);
  charge(run, VectorOp::Copy, dtype, dst, src, rows * columns * item);
}

void sumRows(const char* name, Dtype dtype, void* dst, const void* src, uint32_t rows,
             uint32_t inner, uint32_t used, float scale) {
  Instruction run(Pipe::V, name, __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype);
  if (used < 1 || used > inner) {
    run.fault(FaultCode::ARGUMENT, "n is %u; it is 1 to inner (%u)", used, inner);
    return;
  }
  if (!isWholeBlocks(run, uint64_t{inner} * item, "a row (inner)")) return;
  const uint64_t bytes = uint64_t{rows} * inner * item;
  const bool ok = touch(run, dst, uint64_t{rows} * item, src, bytes);
  for (uint32_t row = 0; ok && !run.skipsValues() && row < rows; ++row) {
    double sum = 0.0;
    for (uint32_t i = 0; i < used; ++i) sum += readAt(dtype, src, uint64_t{row} * inner + i);
    writeAt(dtype, dst, row, static_cast<float>(sum * scale));
  }
  charge(run, VectorOp::RepeatReduceSum, dtype, dst, src, bytes);
}

void cumulate(Dtype dtype, void* dst, void* lastRow, const void* src, uint32_t rows, uint32_t inner,
              bool isLastAxis) {
  Instruction run(Pipe::V, "CumSum", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype);
  if (!isWholeBlocks(run, uint64_t{inner} * item, "a row (inner)")) return;
  const uint64_t bytes = uint64_t{rows} * inner * item;
  bool ok = touch(run, dst, bytes, src, bytes);
  if (lastRow != nullptr) ok = run.write(lastRow, uint64_t{inner} * item, "lastRow") && ok;
  const uint64_t lines = isLastAxis ? rows : inner, length = isLastAxis ? inner : rows;
  const uint64_t line = isLastAxis ? inner : 1, step = isLastAxis ? 1 : inner;
  for (uint64_t i = 0; ok && !run.skipsValues() && i < lines; ++i) {
    float sum = 0.0f;
    for (uint64_t k = 0; k < length; ++k) {
      sum += readAt(dtype, src, i * line + k * step);
      writeAt(dtype, dst, i * line + k * step, sum);
    }
  }
  if (ok && lastRow != nullptr && !run.skipsValues() && rows > 0) {
    std::memcpy(lastRow, static_cast<char*>(dst) + bytes - uint64_t{inner} * item, uint64_t{inner} * item);
  }
  for (int i = 0; i < (isLastAxis ? 3 : 1); ++i) charge(run, VectorOp::Add, dtype, dst, src, bytes);
}

void layerNorm(const NormCall& call) {
  Instruction run(Pipe::V, "LayerNorm", __builtin_return_address(0));
  const bool ok = touchNorm(run, call);
  for (uint32_t row = 0; ok && !run.skipsValues() && row < call.rows; ++row) normRow(call, row, true);
  chargeNorm(run, call, 8);
}

void rmsNorm(const NormCall& call) {
  Instruction run(Pipe::V, "RmsNorm", __builtin_return_address(0));
  const bool ok = touchNorm(run, call);
  for (uint32_t row = 0; ok && !run.skipsValues() && row < call.rows; ++row) normRow(call, row, false);
  chargeNorm(run, call, 5);
}

void quantize(Dtype dtype, void* dst, const void* src, float scale, float offset, uint32_t count) {
  Instruction run(Pipe::V, "AscendQuant", __builtin_return_address(0));
  const uint64_t bytes = run.countBytes(count, itemBytes(dtype));
  if (bytes == 0) return;
  const bool ok = touch(run, dst, count, src, bytes);
  for (uint32_t i = 0; ok && !run.skipsValues() && i < count; ++i) {
    const float value = std::nearbyint(readAt(dtype, src, i) * scale + offset);
    static_cast<int8_t*>(dst)[i] = static_cast<int8_t>(std::clamp(value, -128.0f, 127.0f));
  }
  for (const VectorOp op : {VectorOp::Muls, VectorOp::Adds, VectorOp::Cast}) {
    charge(run, op, dtype, dst, src, bytes);
  }
}

void dequantize(Dtype to, Dtype scaleType, void* dst, const void* src, const void* scales,
                float scale, uint32_t rows, uint32_t columns, uint32_t used) {
  Instruction run(Pipe::V, "AscendDequant", __builtin_return_address(0));
  if (!isWholeBlocks(run, uint64_t{columns} * 4, "a row (n)")) return;
  const uint32_t item = itemBytes(to), perBlock = 32 / item;
  const uint64_t step = (uint64_t{columns} + perBlock - 1) / perBlock * perBlock;
  const bool isScaleWide = scaleType == Dtype::u64;  // the float's bits in the low half
  bool ok = run.read(scales, uint64_t{used} * itemBytes(scaleType), "deqScale");
  ok = touch(run, dst, rows * step * item, src, uint64_t{rows} * columns * 4) && ok;
  for (uint64_t i = 0; ok && !run.skipsValues() && i < uint64_t{rows} * used; ++i) {
    const uint64_t row = i / used, column = i % used;
    float factor = scale;
    if (isScaleWide) std::memcpy(&factor, static_cast<const char*>(scales) + column * 8, 4);
    if (!isScaleWide) factor = readAt(scaleType, scales, column);
    const float value = static_cast<float>(static_cast<const int32_t*>(src)[row * columns + column]);
    writeAt(to, dst, row * step + column, value * factor);
  }
  for (const VectorOp op : {VectorOp::Cast, VectorOp::Mul, VectorOp::Cast}) {
    charge(run, op, Dtype::f32, dst, src, uint64_t{rows} * columns * 4);
  }
}

}  // namespace kw
