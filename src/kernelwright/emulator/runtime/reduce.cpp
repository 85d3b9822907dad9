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

float rounded(Dtype dtype, float value) {
  return dtype == Dtype::f16 ? static_cast<float>(half(value)) : value;
}

float treeSum(Dtype dtype, std::vector<float>& values) {
  if (values.empty()) return 0.0f;
  size_t n = 1;
  while (n < values.size()) n *= 2;
  values.resize(n, 0.0f);
  for (; n > 1; n /= 2) {
    for (size_t i = 0; i < n / 2; ++i) {
      values[i] = rounded(dtype, values[2 * i] + values[2 * i + 1]);
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

// The result of `values`, and for max and min where it first stands.
Best reduced(ReduceOp op, Dtype dtype, std::vector<float>& values) {
  if (op == ReduceOp::kSum) return {treeSum(dtype, values), 0};
  Best best = startOf(op);
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == 0 || isBetter(op, values[i], best.value)) best = {values[i], static_cast<uint32_t>(i)};
  }
  return best;
}

// Sums repeats of 256 bytes as trees, then their sums likewise until one is left.
float sumByRepeats(Dtype dtype, const void* src, uint64_t n) {
  const uint64_t perRepeat = 256 / itemBytes(dtype);
  std::vector<float> sums;
  for (uint64_t first = 0; first < n; first += perRepeat) {
    const uint64_t m = std::min(perRepeat, n - first);
    std::vector<float> lanes(m);
    for (uint64_t i = 0; i < m; ++i) lanes[i] = readAt(dtype, src, first + i);
    sums.push_back(treeSum(dtype, lanes));
  }
  while (sums.size() > 1) {
    std::vector<float> next;
    for (size_t first = 0; first < sums.size(); first += perRepeat) {
      const size_t last = std::min(sums.size(), static_cast<size_t>(first + perRepeat));
      std::vector<float> lanes(sums.begin() + first, sums.begin() + last);
      next.push_back(treeSum(dtype, lanes));
    }
    sums.swap(next);
  }
  return sums.empty() ? 0.0f : sums[0];
}

Best bestOf(ReduceOp op, Dtype dtype, const void* src, uint64_t n) {
  Best best = startOf(op);
  for (uint64_t i = 0; i < n; ++i) {
    const float x = readAt(dtype, src, i);
    if (i == 0 || isBetter(op, x, best.value)) best = {x, static_cast<uint32_t>(i)};
  }
  return best;
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

// Values of the active lanes of one repeat; inactive ones are left out.
std::vector<float> lanesOf(Dtype dtype, const void* src, const Lanes& lanes, uint32_t repeat,
                           Stride stride, bool keepsPlaces) {
  const uint32_t perBlock = 32 / itemBytes(dtype);
  std::vector<float> values;
  for (uint32_t lane = 0; lane < lanes.perRepeat; ++lane) {
    if (laneIsOn(lanes.of(repeat), lane)) {
      values.push_back(readAt(dtype, src, laneOffset(repeat, lane, perBlock, stride)));
    } else if (keepsPlaces) {
      values.push_back(0.0f);
    }
  }
  return values;
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
    Best best = startOf(op);
    for (uint32_t repeat = 0; repeat < lanes.repeats; ++repeat) {
      std::vector<float> values = lanesOf(dtype, src, lanes, repeat, stride, true);
      const Best part = reduced(op, dtype, values);
      parts.push_back(part.value);
      if (repeat == 0 || isBetter(op, part.value, best.value)) {
        best = {part.value, repeat * lanes.perRepeat + part.index};
      }
    }
    if (op == ReduceOp::kSum) best.value = treeSum(dtype, parts);
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
  for (uint32_t repeat = 0; ok && !run.skipsValues() && repeat < lanes.repeats; ++repeat) {
    std::vector<float> values = lanesOf(dtype, src, lanes, repeat, stride, op == ReduceOp::kSum);
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
      std::vector<float> values;
      for (uint32_t lane = block * perBlock; lane < (block + 1) * perBlock; ++lane) {
        const bool isOn = laneIsOn(lanes.of(repeat), lane);
        if (!isOn && op != ReduceOp::kSum) continue;
        const uint64_t at = laneOffset(repeat, lane, perBlock, stride);
        values.push_back(isOn ? readAt(dtype, src, at) : 0.0f);
      }
      if (values.empty()) continue;
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
