// Add, Sub, Mul, ... of two tensors, and of a tensor and a scalar.
#include "kw/vector_binary.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include "instruction.h"
#include "kw/half.h"

namespace kw {

namespace {

struct OpFacts { const char* name; const char* scalarName; VectorOp cost; VectorOp scalarCost; };

const OpFacts& factsOf(BinaryOp op) {
  static constexpr OpFacts kFacts[] = {
      {"Add", "Adds", VectorOp::Add, VectorOp::Adds}, {"Sub", "Subs", VectorOp::Sub, VectorOp::Adds},
      {"Mul", "Muls", VectorOp::Mul, VectorOp::Muls}, {"Div", "Divs", VectorOp::Div, VectorOp::Div},
      {"Max", "Maxs", VectorOp::Max, VectorOp::Maxs}, {"Min", "Mins", VectorOp::Min, VectorOp::Mins},
      {"And", "Ands", VectorOp::Bitwise, VectorOp::Bitwise},
      {"Or", "Ors", VectorOp::Bitwise, VectorOp::Bitwise}};
  return kFacts[static_cast<int>(op)];
}

// Integers wrap around, as the chip's do; unsigned arithmetic says so without undefined behaviour.
template <BinaryOp op, typename T>
T apply(T a, T b) {
  if constexpr (op == BinaryOp::kMax) return a > b || a != a ? a : b;  // a NaN wins
  if constexpr (op == BinaryOp::kMin) return a < b || a != a ? a : b;
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    if constexpr (op == BinaryOp::kAdd) return static_cast<T>(x + y);
    if constexpr (op == BinaryOp::kSub) return static_cast<T>(x - y);
    if constexpr (op == BinaryOp::kAnd) return static_cast<T>(x & y);
    if constexpr (op == BinaryOp::kOr) return static_cast<T>(x | y);
    return static_cast<T>(static_cast<uint64_t>(x) * y);
  } else {
    if constexpr (op == BinaryOp::kAdd) return static_cast<T>(a + b);
    if constexpr (op == BinaryOp::kSub) return static_cast<T>(a - b);
    if constexpr (op == BinaryOp::kDiv) return static_cast<T>(a / b);
    return static_cast<T>(a * b);
  }
}

template <BinaryOp op, typename T>
void rows(void* dst, const void* a, const void* b, const LaneRun& run, bool isScalar) {
  T* out = static_cast<T*>(dst) + run.dst;
  const T* left = static_cast<const T*>(a) + run.src0;
  if (isScalar) {
    T value;
    std::memcpy(&value, b, sizeof(T));
    for (uint32_t i = 0; i < run.count; ++i) out[i] = apply<op, T>(left[i], value);
    return;
  }
  const T* right = static_cast<const T*>(b) + run.src1;
  for (uint32_t i = 0; i < run.count; ++i) out[i] = apply<op, T>(left[i], right[i]);
}

using RowFunction = void (*)(void*, const void*, const void*, const LaneRun&, bool);

template <BinaryOp op>
RowFunction functionOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16: return rows<op, half>;
    case Dtype::i16: case Dtype::u16: return rows<op, int16_t>;
    case Dtype::i32: return rows<op, int32_t>;
    default: return rows<op, float>;
  }
}

RowFunction functionOf(BinaryOp op, Dtype dtype) {
  switch (op) {
    case BinaryOp::kSub: return functionOf<BinaryOp::kSub>(dtype);
    case BinaryOp::kMul: return functionOf<BinaryOp::kMul>(dtype);
    case BinaryOp::kDiv: return functionOf<BinaryOp::kDiv>(dtype);
    case BinaryOp::kMax: return functionOf<BinaryOp::kMax>(dtype);
    case BinaryOp::kMin: return functionOf<BinaryOp::kMin>(dtype);
    case BinaryOp::kAnd: return rows<BinaryOp::kAnd, int16_t>;
    case BinaryOp::kOr: return rows<BinaryOp::kOr, int16_t>;
    default: return functionOf<BinaryOp::kAdd>(dtype);
  }
}

uint32_t itemBytes(Dtype dtype) { return kDtypeBits[static_cast<int>(dtype)] / 8; }

void charge(Instruction& run, VectorOp op, Dtype dtype, uint32_t repeats, const void* const* operands,
            const BinaryStrides& strides) {
  VectorCost cost;
  cost.op = op;
  cost.item_bytes = static_cast<uint8_t>(itemBytes(dtype));
  cost.repeats = repeats;
  cost.dst = run.operand(operands[0], strides.dst);
  cost.src0 = run.operand(operands[1], strides.src0);
  if (operands[2] != nullptr) cost.src1 = run.operand(operands[2], strides.src1);
  run.cost(cost);
}

// Contiguous operands. `src1` is null for a scalar, whose bits are then in `scalar`.
void byCount(Instruction& run, BinaryOp op, Dtype dtype, const void* const* operands,
             const uint64_t* scalar, int32_t count) {
  const uint64_t bytes = run.countBytes(count, itemBytes(dtype));
  if (bytes == 0) return;
  void* dst = const_cast<void*>(operands[0]);
  run.aligned(dst, 32, "dst");
  run.aligned(operands[1], 32, "src0");
  bool ok = run.read(operands[1], bytes, "src0");
  if (scalar == nullptr) {
    run.aligned(operands[2], 32, "src1");
    ok = run.read(operands[2], bytes, "src1") && ok;
  }
  ok = run.write(dst, bytes, "dst") && ok;
  if (ok && !run.skipsValues()) {
    const void* right = scalar == nullptr ? operands[2] : scalar;
    functionOf(op, dtype)(dst, operands[1], right, {0, 0, 0, static_cast<uint32_t>(count)},
                          scalar != nullptr);
  }
  charge(run, scalar == nullptr ? factsOf(op).cost : factsOf(op).scalarCost, dtype,
         static_cast<uint32_t>((bytes + 255) / 256), operands, {});
}

void byRepeat(Instruction& run, BinaryOp op, Dtype dtype, const void* const* operands,
              const uint64_t* scalar, const Lanes& lanes, const BinaryStrides& strides) {
  const uint32_t item = itemBytes(dtype);
  if (lanes.repeats == 0) return;
  void* dst = const_cast<void*>(operands[0]);
  run.aligned(dst, 32, "dst");
  run.aligned(operands[1], 32, "src0");
  bool ok = run.readLanes(operands[1], lanes, item, strides.src0, "src0");
  if (scalar == nullptr) {
    run.aligned(operands[2], 32, "src1");
    ok = run.readLanes(operands[2], lanes, item, strides.src1, "src1") && ok;
  }
  ok = run.writeLanes(dst, lanes, item, strides.dst, "dst") && ok;
  if (ok && !run.skipsValues()) {
    const RowFunction function = functionOf(op, dtype);
    const void* right = scalar == nullptr ? operands[2] : scalar;
    forEachRun(lanes, item, strides.dst, strides.src0, strides.src1, [&](const LaneRun& lane) {
      function(dst, operands[1], right, lane, scalar != nullptr);
    });
  }
  charge(run, scalar == nullptr ? factsOf(op).cost : factsOf(op).scalarCost, dtype, lanes.repeats,
         operands, strides);
}

}  // namespace

void vectorBinary(BinaryOp op, Dtype dtype, void* dst, const void* src0, const void* src1,
                  int32_t count) {
  Instruction run(Pipe::V, factsOf(op).name, __builtin_return_address(0));
  const void* operands[] = {dst, src0, src1};
  byCount(run, op, dtype, operands, nullptr, count);
}

void vectorBinaryRepeat(BinaryOp op, Dtype dtype, void* dst, const void* src0, const void* src1,
                        const MaskArg& mask, uint8_t repeats, const BinaryStrides& strides) {
  Instruction run(Pipe::V, factsOf(op).name, __builtin_return_address(0));
  const void* operands[] = {dst, src0, src1};
  byRepeat(run, op, dtype, operands, nullptr, run.lanes(mask, repeats, itemBytes(dtype)), strides);
}

void vectorScalar(BinaryOp op, Dtype dtype, void* dst, const void* src, uint64_t scalar,
                  int32_t count) {
  Instruction run(Pipe::V, factsOf(op).scalarName, __builtin_return_address(0));
  const void* operands[] = {dst, src, nullptr};
  byCount(run, op, dtype, operands, &scalar, count);
}

void vectorScalarRepeat(BinaryOp op, Dtype dtype, void* dst, const void* src, uint64_t scalar,
                        const MaskArg& mask, uint8_t repeats, Stride dstStride, Stride srcStride) {
  Instruction run(Pipe::V, factsOf(op).scalarName, __builtin_return_address(0));
  const void* operands[] = {dst, src, nullptr};
  byRepeat(run, op, dtype, operands, &scalar, run.lanes(mask, repeats, itemBytes(dtype)),
           {dstStride, srcStride, {}});
}

}  // namespace kw
