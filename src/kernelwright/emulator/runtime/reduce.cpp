// Reductions. A repeat is summed as a binary tree over its lanes, inactive lanes counting as zero;
// the level-2 sum then adds the repeats' sums as a tree again (the documented order for counts).
#include "kw/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

uint64_t g_value = 0, g_index = 0;

uint32_t itemBytes(Dtype dtype) { return kDtypeBits[static_cast<int>(dtype)] / 8; }

const char* nameOf(ReduceOp op, const char* const (&names)[3]) {
  return names[static_cast<int>(op)];
}

float readAt(Dtype dtype, const void* from, uint64_t i) {
  return dtype == Dtype::f16 ? static_cast<float>(static_cast<const half*>(from)[i])
                             : static_cast<const float*>(from)[i];
}

void writeAt(Dtype dtype, void* to, uint64_t i, float value) {
  if (dtype == Dtype::f16) {
    static_cast<half*>(to)[i] = half(value);
  } else {
    static_cast<float*>(to)[i] = value;
  }
}

// An index is stored by its bits: uint16 in a half, uint32 in a float.
void writeIndex(Dtype dtype, void* to, uint64_t i, uint32_t index) {
  if (dtype == Dtype::f16) {
    static_cast<uint16_t*>(to)[i] = static_cast<uint16_t>(index);
  } else {
    static_cast<uint32_t*>(to)[i] = index;
  }
}

uint64_t bitsOf(Dtype dtype, float value) {
  uint64_t bits = 0;
  writeAt(dtype, &bits, 0, value);
  return bits;
}

// The active lanes of one repeat and their values, or partial results of a level of the tree.
struct LaneValues {
  float value[128];
  uint32_t lane[128];
  uint32_t count = 0;
  void add(float x, uint32_t at) {
    value[count] = x;
    lane[count++] = at;
  }
};

// A full repeat: sizes known to the compiler.
template <uint32_t n, bool isHalf>
float fullTree(const float* values) {
  if constexpr (n == 1) {
    return values[0];
  } else {
    float sums[n / 2];
    for (uint32_t i = 0; i < n / 2; ++i) {
      const float sum = values[2 * i] + values[2 * i + 1];
      sums[i] = isHalf ? static_cast<float>(static_cast<_Float16>(sum)) : sum;
    }
    return fullTree<n / 2, isHalf>(sums);
  }
}

// Adds neighbours, level by level; `values` has room for the next power of two.
float treeSum(Dtype dtype, float* values, uint32_t count) {
  if (count == 0) return 0.0f;
  if (count == 64 && dtype == Dtype::f32) return fullTree<64, false>(values);
  if (count == 128 && dtype == Dtype::f16) return fullTree<128, true>(values);
  uint32_t n = 1;
  while (n < count) n *= 2;
  std::fill(values + count, values + n, 0.0f);
  for (; n > 1; n /= 2) {
    if (dtype == Dtype::f16) {
      for (uint32_t i = 0; i < n / 2; ++i) {
        values[i] = static_cast<float>(static_cast<_Float16>(values[2 * i] + values[2 * i + 1]));
      }
    } else {
      for (uint32_t i = 0; i < n / 2; ++i) values[i] = values[2 * i] + values[2 * i + 1];
    }
  }
  return values[0];
}

struct Best { float value; uint32_t index; };

bool isBetter(ReduceOp op, float x, float best) {
  if (best != best) return false;
  return x != x || (op == ReduceOp::kMax ? x > best : x < best);
}

Best startOf(ReduceOp op) {
  return {op == ReduceOp::kMax ? -INFINITY : INFINITY, 0};
}

// The result of `values`, and for max and min the lane where it first stands.
Best reduced(ReduceOp op, Dtype dtype, LaneValues& values) {
  if (op == ReduceOp::kSum) return {treeSum(dtype, values.value, values.count), 0};
  Best best = startOf(op);
  for (uint32_t i = 0; i < values.count; ++i) {
    if (i == 0 || isBetter(op, values.value[i], best.value)) best = {values.value[i], values.lane[i]};
  }
  return best;
}

void readRun(Dtype dtype, const void* from, uint64_t n, float* to) {
  if (dtype == Dtype::f16) {
    const _Float16* items = static_cast<const _Float16*>(from);
    for (uint64_t i = 0; i < n; ++i) to[i] = static_cast<float>(items[i]);
  } else {
    std::memcpy(to, from, n * sizeof(float));
  }
}

// Sums repeats of 256 bytes as trees, then their sums likewise until one is left.
float sumByRepeats(Dtype dtype, const void* src, uint64_t n) {
  const uint64_t perRepeat = 256 / itemBytes(dtype);
  static std::vector<float> sums;
  sums.clear();
  float lanes[128];
  for (uint64_t first = 0; first < n; first += perRepeat) {
    const uint64_t m = std::min(perRepeat, n - first);
    readRun(dtype, static_cast<const char*>(src) + first * itemBytes(dtype), m, lanes);
    sums.push_back(treeSum(dtype, lanes, static_cast<uint32_t>(m)));
  }
  uint64_t left = sums.size();
  while (left > 1) {
    uint64_t made = 0;
    for (uint64_t first = 0; first < left; first += perRepeat) {
      const uint64_t m = std::min(perRepeat, left - first);
      std::copy_n(sums.data() + first, m, lanes);
      sums[made++] = treeSum(dtype, lanes, static_cast<uint32_t>(m));
    }
    left = made;
  }
  return n == 0 ? 0.0f : sums[0];
}

// The first NaN if there is one, else the first of the greatest (or smallest). Blocks of lanes side
// by side, without branches, find the value; a second pass its place.
template <typename T, bool isMax>
Best bestIn(const T* src, uint64_t n) {
  constexpr uint64_t kWide = 64;
  T best[kWide], nan[kWide];  // nan: a NaN once one was met
  for (uint64_t j = 0; j < kWide; ++j) best[j] = nan[j] = src[0];
  for (uint64_t i = 0; i + kWide <= n; i += kWide) {
    for (uint64_t j = 0; j < kWide; ++j) {
      const T x = src[i + j];
      best[j] = (isMax ? x > best[j] : x < best[j]) ? x : best[j];
      nan[j] = x != x ? x : nan[j];
    }
  }
  T top = src[0];
  bool hasNan = false;
  const auto look = [&](T x) {
    hasNan |= x != x;
    top = (isMax ? x > top : x < top) ? x : top;
  };
  for (uint64_t j = 0; j < kWide; ++j) { look(best[j]); look(nan[j]); }
  for (uint64_t i = n / kWide * kWide; i < n; ++i) look(src[i]);
  uint64_t at = 0;
  while (at + 1 < n && (hasNan ? src[at] == src[at] : src[at] != top)) ++at;
  return {static_cast<float>(src[at]), static_cast<uint32_t>(at)};
}

template <typename T>
Best bestIn(ReduceOp op, const T* src, uint64_t n) {
  return op == ReduceOp::kMax ? bestIn<T, true>(src, n) : bestIn<T, false>(src, n);
}

Best bestOf(ReduceOp op, Dtype dtype, const void* src, uint64_t n) {
  return dtype == Dtype::f16 ? bestIn(op, static_cast<const _Float16*>(src), n)
                             : bestIn(op, static_cast<const float*>(src), n);
}

VectorOp costOf(ReduceOp op) {
  return op == ReduceOp::kSum ? VectorOp::RepeatReduceSum : VectorOp::RepeatReduceMax;
}

void charge(Instruction& run, VectorOp op, Dtype dtype, const void* dst, const void* src,
            uint32_t repeats, Stride stride) {
  VectorCost cost;
  cost.op = op;
  cost.item_bytes = static_cast<uint8_t>(itemBytes(dtype));
  cost.repeats = repeats;
  cost.dst = run.operand(dst, {1, 1});
  cost.src0 = run.operand(src, stride);
  run.cost(cost);
}

// The passes of a reduction to one value: each leaves one value (and index) a repeat.
void chargePasses(Instruction& run, ReduceOp op, Dtype dtype, const void* dst, const void* src,
                  uint64_t repeats) {
  const uint64_t perRepeat = 256 / itemBytes(dtype);
  while (true) {
    charge(run, costOf(op), dtype, dst, src, static_cast<uint32_t>(repeats), {1, 8});
    if (repeats <= 1) return;
    repeats = (repeats + perRepeat - 1) / perRepeat;
  }
}

void finish(ReduceOp op, Dtype dtype, void* dst, const Best& best, bool hasIndex) {
  writeAt(dtype, dst, 0, best.value);
  g_value = bitsOf(dtype, best.value);
  g_index = 0;
  if (op == ReduceOp::kSum) return;
  writeIndex(dtype, &g_index, 0, best.index);
  if (hasIndex) writeIndex(dtype, dst, 1, best.index);
}

// Values of the active lanes of one repeat; inactive ones are left out, or count as zero.
void lanesOf(Dtype dtype, const void* src, const Lanes& lanes, uint32_t repeat, Stride stride,
             bool keepsPlaces, LaneValues* out) {
  const uint32_t perBlock = 32 / itemBytes(dtype);
  out->count = 0;
  if (stride.block == 1 && lanes.isFull(repeat)) {
    const uint64_t first = laneOffset(repeat, 0, perBlock, stride);
    readRun(dtype, static_cast<const char*>(src) + first * itemBytes(dtype), lanes.perRepeat, out->value);
    for (uint32_t lane = 0; lane < lanes.perRepeat; ++lane) out->lane[lane] = lane;
    out->count = lanes.perRepeat;
    return;
  }
  for (uint32_t lane = 0; lane < lanes.perRepeat; ++lane) {
    if (laneIsOn(lanes.of(repeat), lane)) {
      out->add(readAt(dtype, src, laneOffset(repeat, lane, perBlock, stride)), lane);
    } else if (keepsPlaces) {
      out->add(0.0f, lane);
    }
  }
}

void repeatLimits(const Instruction& run, int32_t repeats) {
  if (repeats < 0 || repeats > 255) {
    run.fault(FaultCode::REPEAT, "repeatTime is %d; a reduction takes 0 to 255 repeats", repeats);
  }
}

constexpr const char* kAll[3] = {"ReduceSum", "ReduceMax", "ReduceMin"};
constexpr const char* kWhole[3] = {"WholeReduceSum", "WholeReduceMax", "WholeReduceMin"};
constexpr const char* kBlock[3] = {"BlockReduceSum", "BlockReduceMax", "BlockReduceMin"};

}  // namespace

uint64_t reducedValue() { return g_value; }
uint64_t reducedIndex() { return g_index; }

void reduceAll(ReduceOp op, Dtype dtype, void* dst, const void* src, const void* work,
               int32_t count, bool hasIndex) {
  Instruction run(Pipe::V, nameOf(op, kAll), __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype);
  const uint64_t bytes = run.countBytes(count, item);
  if (bytes == 0) return;
  run.aligned(src, 32, "src");
  run.aligned(work, 32, "sharedTmpBuffer");
  bool ok = run.read(src, bytes, "src");
  ok = run.write(dst, item * (hasIndex ? 2 : 1), "dst") && ok;
  if (ok && !run.skipsValues()) {
    const uint64_t n = static_cast<uint64_t>(count);
    const Best best = op == ReduceOp::kSum ? Best{sumByRepeats(dtype, src, n), 0}
                                           : bestOf(op, dtype, src, n);
    finish(op, dtype, dst, best, hasIndex);
  }
  chargePasses(run, op, dtype, dst, src, (bytes + 255) / 256);
}

void reduceAllRepeat(ReduceOp op, Dtype dtype, void* dst, const void* src, const void* work,
                     const MaskArg& mask, int32_t repeats, int32_t srcRepeatStride, bool hasIndex) {
  Instruction run(Pipe::V, nameOf(op, kAll), __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype);
  if (repeats <= 0) {
    run.fault(FaultCode::REPEAT, "repeatTime is %d; a reduction takes at least 1", repeats);
    return;
  }
  const Lanes lanes = run.lanes(mask, static_cast<uint32_t>(repeats), item);
  const Stride stride{1, static_cast<uint16_t>(srcRepeatStride)};
  run.aligned(src, 32, "src");
  run.aligned(work, 32, "sharedTmpBuffer");
  bool ok = run.readLanes(src, lanes, item, stride, "src");
  ok = run.write(dst, item * (hasIndex ? 2 : 1), "dst") && ok;
  if (ok && !run.skipsValues()) {
    std::vector<float> parts;
    LaneValues values;
    Best best = startOf(op);
    for (uint32_t repeat = 0; repeat < lanes.repeats; ++repeat) {
      lanesOf(dtype, src, lanes, repeat, stride, op == ReduceOp::kSum, &values);
      const Best part = reduced(op, dtype, values);
      parts.push_back(part.value);
      if (repeat == 0 || isBetter(op, part.value, best.value)) {
        best = {part.value, repeat * lanes.perRepeat + part.index};
      }
    }
    const auto count = static_cast<uint32_t>(parts.size());
    parts.resize(2 * parts.size());
    if (op == ReduceOp::kSum) best.value = treeSum(dtype, parts.data(), count);
    finish(op, dtype, dst, best, hasIndex);
  }
  chargePasses(run, op, dtype, dst, src, lanes.repeats);
}

void wholeReduce(ReduceOp op, Dtype dtype, void* dst, const void* src, const MaskArg& mask,
                 int32_t repeats, int32_t dstRepeatStride, Stride stride,
                 AscendC::ReduceOrder order) {
  Instruction run(Pipe::V, nameOf(op, kWhole), __builtin_return_address(0));
  repeatLimits(run, repeats);
  const uint32_t item = itemBytes(dtype);
  const Lanes lanes = run.lanes(mask, static_cast<uint32_t>(std::max(repeats, 0)), item);
  if (lanes.repeats == 0) return;
  using AscendC::ReduceOrder;
  const bool isPair = order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
  const uint32_t width = isPair ? 2 : 1;  // dstRepeatStride counts results
  run.aligned(src, 32, "src");
  bool ok = run.readLanes(src, lanes, item, stride, "src");
  const uint64_t step = static_cast<uint64_t>(dstRepeatStride) * width;
  ok = run.writeRows(dst, lanes.repeats, width * item, step * item, "dst") && ok;
  LaneValues values;
  for (uint32_t repeat = 0; ok && !run.skipsValues() && repeat < lanes.repeats; ++repeat) {
    lanesOf(dtype, src, lanes, repeat, stride, op == ReduceOp::kSum, &values);
    const Best best = reduced(op, dtype, values);
    const uint64_t at = repeat * step;
    const bool isIndexFirst = order == ReduceOrder::ORDER_INDEX_VALUE;
    if (order != ReduceOrder::ORDER_ONLY_INDEX) writeAt(dtype, dst, at + isIndexFirst, best.value);
    if (isPair) writeIndex(dtype, dst, at + !isIndexFirst, best.index);
    if (order == ReduceOrder::ORDER_ONLY_INDEX) writeIndex(dtype, dst, at, best.index);
    g_value = bitsOf(dtype, best.value);
    writeIndex(dtype, &g_index, 0, best.index);
  }
  charge(run, costOf(op), dtype, dst, src, lanes.repeats, stride);
}

void blockReduce(ReduceOp op, Dtype dtype, void* dst, const void* src, int32_t repeats,
                 const MaskArg& mask, int32_t dstRepeatStride, Stride stride) {
  Instruction run(Pipe::V, nameOf(op, kBlock), __builtin_return_address(0));
  repeatLimits(run, repeats);
  const uint32_t item = itemBytes(dtype), perBlock = 32 / item;
  const Lanes lanes = run.lanes(mask, static_cast<uint32_t>(std::max(repeats, 0)), item);
  if (lanes.repeats == 0) return;
  run.aligned(src, 32, "src");
  bool ok = run.readLanes(src, lanes, item, stride, "src");
  const uint64_t step = static_cast<uint64_t>(dstRepeatStride) * 8;
  ok = run.writeRows(dst, lanes.repeats, 8 * item, step * item, "dst") && ok;
  for (uint32_t repeat = 0; ok && !run.skipsValues() && repeat < lanes.repeats; ++repeat) {
    for (uint32_t block = 0; block < 8; ++block) {
      LaneValues values;
      for (uint32_t lane = block * perBlock; lane < (block + 1) * perBlock; ++lane) {
        const bool isOn = laneIsOn(lanes.of(repeat), lane);
        if (!isOn && op != ReduceOp::kSum) continue;
        const uint64_t at = laneOffset(repeat, lane, perBlock, stride);
        values.add(isOn ? readAt(dtype, src, at) : 0.0f, lane);
      }
      if (values.count == 0) continue;
      writeAt(dtype, dst, repeat * step + block, reduced(op, dtype, values).value);
    }
  }
  charge(run, VectorOp::BlockReduce, dtype, dst, src, lanes.repeats, stride);
}

void pairReduce(Dtype dtype, void* dst, const void* src, int32_t repeats, const MaskArg& mask,
                int32_t dstRepeatStride, Stride stride) {
  Instruction run(Pipe::V, "PairReduceSum", __builtin_return_address(0));
  repeatLimits(run, repeats);
  const uint32_t item = itemBytes(dtype), perBlock = 32 / item;
  const Lanes lanes = run.lanes(mask, static_cast<uint32_t>(std::max(repeats, 0)), item);
  if (lanes.repeats == 0) return;
  run.aligned(src, 32, "src");
  bool ok = run.readLanes(src, lanes, item, stride, "src");
  const uint32_t pairs = lanes.perRepeat / 2;
  const uint64_t step = static_cast<uint64_t>(dstRepeatStride) * pairs;
  ok = run.writeRows(dst, lanes.repeats, pairs * item, step * item, "dst") && ok;
  for (uint32_t repeat = 0; ok && !run.skipsValues() && repeat < lanes.repeats; ++repeat) {
    for (uint32_t pair = 0; pair < pairs; ++pair) {
      float sum = 0.0f;
      for (uint32_t lane = 2 * pair; lane < 2 * pair + 2; ++lane) {
        if (laneIsOn(lanes.of(repeat), lane)) {
          sum += readAt(dtype, src, laneOffset(repeat, lane, perBlock, stride));
        }
      }
      writeAt(dtype, dst, repeat * step + pair, sum);
    }
  }
  charge(run, VectorOp::BlockReduce, dtype, dst, src, lanes.repeats, stride);
}

}  // namespace kw
