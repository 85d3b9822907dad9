// Axpy, LeakyRelu, shifts, and the two-operand instructions with a second step; Duplicate.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kw/half.h"
#include "kw/vector_scalar.h"
#include "vector_map.h"

namespace kw {

namespace {

struct OpFacts { const char* name; VectorOp cost; bool readsDst; };

const OpFacts& factsOf(MixedOp op) {
  static constexpr OpFacts kFacts[] = {
      {"Axpy", VectorOp::Axpy, true}, {"LeakyRelu", VectorOp::Relu, false},
      {"ShiftLeft", VectorOp::Bitwise, false}, {"ShiftRight", VectorOp::Bitwise, false},
      {"ShiftRight", VectorOp::Bitwise, false}, {"MulAddDst", VectorOp::MulAdd, true},
      {"FusedMulAdd", VectorOp::MulAdd, true}, {"FusedMulAddRelu", VectorOp::MulAdd, true},
      {"AddRelu", VectorOp::MulAdd, false}, {"SubRelu", VectorOp::MulAdd, false}};
  return kFacts[static_cast<int>(op)];
}

template <typename T>
T scalarOf(const void* context) {
  T value;
  std::memcpy(&value, context, sizeof(T));
  return value;
}

float relu(float x) { return x > 0.0f || x != x ? x : 0.0f; }

template <MixedOp op, typename T, typename U>
void loopOf(void* dst, const void* const* sources, uint64_t n, const void* context) {
  T* out = static_cast<T*>(dst);
  const U* a = static_cast<const U*>(sources[0]);
  const U* b = static_cast<const U*>(sources[1]);
  const float scalar = sources[1] == nullptr ? static_cast<float>(scalarOf<U>(context)) : 0.0f;
  for (uint64_t i = 0; i < n; ++i) {
    const float x = a[i], y = b == nullptr ? 0.0f : static_cast<float>(b[i]);
    const float old = out[i];
    float value = 0.0f;
    if constexpr (op == MixedOp::kAxpy) value = x * scalar + old;
    if constexpr (op == MixedOp::kLeakyRelu) value = x >= 0.0f || x != x ? x : x * scalar;
    if constexpr (op == MixedOp::kMulAddDst) value = x * y + old;
    if constexpr (op == MixedOp::kFusedMulAdd) value = x * old + y;
    if constexpr (op == MixedOp::kFusedMulAddRelu) value = relu(x * old + y);
    if constexpr (op == MixedOp::kAddRelu) value = relu(x + y);
    if constexpr (op == MixedOp::kSubRelu) value = relu(x - y);
    out[i] = static_cast<T>(value);
  }
}

template <MixedOp op, typename T>
void shiftLoop(void* dst, const void* const* sources, uint64_t n, const void* context) {
  T* out = static_cast<T*>(dst);
  const T* in = static_cast<const T*>(sources[0]);
  const T by = scalarOf<T>(context);
  const bool isWide = static_cast<uint64_t>(by) >= sizeof(T) * 8;
  for (uint64_t i = 0; i < n; ++i) {
    using U = std::make_unsigned_t<T>;
    if constexpr (op == MixedOp::kShiftLeft) {
      out[i] = isWide ? T(0) : static_cast<T>(static_cast<U>(in[i]) << by);
    } else {
      out[i] = isWide ? static_cast<T>(in[i] < T(0) ? -1 : 0) : static_cast<T>(in[i] >> by);
    }
  }
}

template <MixedOp op>
MapLoop shiftFor(Dtype dtype) {
  switch (dtype) {
    case Dtype::i16: return shiftLoop<op, int16_t>;
    case Dtype::u16: return shiftLoop<op, uint16_t>;
    case Dtype::i32: return shiftLoop<op, int32_t>;
    default: return shiftLoop<op, uint32_t>;
  }
}

template <MixedOp op>
MapLoop typed(Dtype dst, Dtype src) {
  if (dst == Dtype::i16) return loopOf<op, int16_t, int16_t>;
  if (dst == Dtype::f16) return loopOf<op, half, half>;
  return src == Dtype::f16 ? loopOf<op, float, half> : loopOf<op, float, float>;
}

MapLoop loopFor(MixedOp op, Dtype dst, Dtype src) {
  switch (op) {
    case MixedOp::kAxpy: return typed<MixedOp::kAxpy>(dst, src);
    case MixedOp::kLeakyRelu: return typed<MixedOp::kLeakyRelu>(dst, src);
    case MixedOp::kShiftLeft: return shiftFor<MixedOp::kShiftLeft>(dst);
    case MixedOp::kMulAddDst: return typed<MixedOp::kMulAddDst>(dst, src);
    case MixedOp::kFusedMulAdd: return typed<MixedOp::kFusedMulAdd>(dst, src);
    case MixedOp::kFusedMulAddRelu: return typed<MixedOp::kFusedMulAddRelu>(dst, src);
    case MixedOp::kAddRelu: return typed<MixedOp::kAddRelu>(dst, src);
    case MixedOp::kSubRelu: return typed<MixedOp::kSubRelu>(dst, src);
    default: return shiftFor<MixedOp::kShiftRight>(dst);
  }
}

MapCall callFor(MixedOp op, const MapOperand& dst, const MapOperand& a, const MapOperand& b) {
  MapCall call(factsOf(op).cost, dst, a, b);
  call.count = b.at == nullptr ? 1 : 2;
  call.readsDst = factsOf(op).readsDst;
  return call;
}

template <typename T>
void fillLoop(void* dst, const void* const*, uint64_t n, const void* context) {
  std::fill_n(static_cast<T*>(dst), n, scalarOf<T>(context));
}

void chargeFill(Instruction& run, Dtype dtype, const void* dst, uint32_t repeats, Stride stride) {
  VectorCost cost;
  cost.op = VectorOp::Duplicate;
  cost.item_bytes = static_cast<uint8_t>(kDtypeBits[static_cast<int>(dtype)] / 8);
  cost.repeats = repeats;
  cost.dst = run.operand(dst, stride);
  run.cost(cost);
}

void fill(void* dst, uint64_t n, uint32_t item, uint64_t scalar) {
  if (item == 2) {
    fillLoop<uint16_t>(dst, nullptr, n, &scalar);
  } else {
    fillLoop<uint32_t>(dst, nullptr, n, &scalar);
  }
}

}  // namespace

void vectorMixed(MixedOp op, Dtype dst, Dtype src, void* to, const void* a, const void* b,
                 uint64_t scalar, int32_t count) {
  Instruction run(Pipe::V, factsOf(op).name, __builtin_return_address(0));
  const MapCall call = callFor(op, {to, dst, {}, "dst"}, {a, src, {}, "src0"}, {b, src, {}, "src1"});
  mapCount(run, call, count, loopFor(op, dst, src), &scalar);
}

void vectorMixedRepeat(MixedOp op, Dtype dst, Dtype src, void* to, const void* a, const void* b,
                       uint64_t scalar, const MaskArg& mask, uint8_t repeats,
                       const BinaryStrides& strides) {
  Instruction run(Pipe::V, factsOf(op).name, __builtin_return_address(0));
  const MapCall call = callFor(op, {to, dst, strides.dst, "dst"}, {a, src, strides.src0, "src0"},
                               {b, src, strides.src1, "src1"});
  mapLanes(run, call, mask, repeats, loopFor(op, dst, src), &scalar);
}

void duplicate(Dtype dtype, void* dst, uint64_t scalar, int32_t count) {
  Instruction run(Pipe::V, "Duplicate", __builtin_return_address(0));
  const uint32_t item = kDtypeBits[static_cast<int>(dtype)] / 8;
  const uint64_t bytes = run.countBytes(count, item);
  if (bytes == 0) return;
  run.aligned(dst, 32, "dst");
  if (run.write(dst, bytes, "dst") && !run.skipsValues()) {
    fill(dst, static_cast<uint64_t>(count), item, scalar);
  }
  chargeFill(run, dtype, dst, static_cast<uint32_t>((bytes + 255) / 256), {});
}

void duplicateRepeat(Dtype dtype, void* dst, uint64_t scalar, const MaskArg& mask, uint8_t repeats,
                     Stride stride) {
  Instruction run(Pipe::V, "Duplicate", __builtin_return_address(0));
  const uint32_t item = kDtypeBits[static_cast<int>(dtype)] / 8;
  const Lanes lanes = run.lanes(mask, repeats, item);
  if (lanes.repeats == 0) return;
  run.aligned(dst, 32, "dst");
  if (run.writeLanes(dst, lanes, item, stride, "dst") && !run.skipsValues()) {
    forEachRun(lanes, item, stride, stride, stride, [&](const LaneRun& lane) {
      fill(static_cast<char*>(dst) + lane.dst * item, lane.count, item, scalar);
    });
  }
  chargeFill(run, dtype, dst, lanes.repeats, stride);
}

}  // namespace kw
