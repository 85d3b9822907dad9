// Runs of active lanes: where level-0 instructions do their work.
#pragma once
#include "instruction.h"

namespace kw {

// Element offset of a lane of a repeat.
inline uint64_t laneOffset(uint32_t repeat, uint32_t lane, uint32_t perBlock, Stride stride) {
  return (static_cast<uint64_t>(repeat) * stride.repeat + (lane / perBlock) * stride.block) * perBlock +
         lane % perBlock;
}

inline bool isDense(Stride stride) { return stride.block == 1 && stride.repeat == 8; }

inline bool laneIsOn(const uint64_t* bits, uint32_t lane) { return bits[lane >> 6] >> (lane & 63) & 1; }

// Calls f(first lane, count) for each run of active lanes inside one repeat. A run does not cross
// a block unless `joinsBlocks` (all block strides are 1).
template <typename F>
void forEachLaneRun(const uint64_t* bits, uint32_t perRepeat, uint32_t perBlock, bool joinsBlocks,
                    F&& f) {
  uint32_t lane = 0;
  while (lane < perRepeat) {
    if (!laneIsOn(bits, lane)) {
      ++lane;
      continue;
    }
    const uint32_t first = lane;
    const uint32_t limit = joinsBlocks ? perRepeat : (lane / perBlock + 1) * perBlock;
    while (lane < limit && laneIsOn(bits, lane)) ++lane;
    f(first, lane - first);
  }
}

template <typename F>
void forEachRun(const Lanes& lanes, uint32_t itemBytes, Stride dst, Stride src0, Stride src1, F&& f) {
  const uint32_t perBlock = 32 / itemBytes;
  const bool isWhole = lanes.perRepeat * itemBytes == 256 && lanes.repeats > 1 && lanes.isFull(0);
  if (isWhole && isDense(dst) && isDense(src0) && isDense(src1)) {
    const uint32_t whole = lanes.repeats - 1;
    f(LaneRun{0, 0, 0, whole * lanes.perRepeat});
    forEachLaneRun(lanes.lastBits, lanes.perRepeat, perBlock, true, [&](uint32_t lane, uint32_t n) {
      const uint64_t at = static_cast<uint64_t>(whole) * lanes.perRepeat + lane;
      f(LaneRun{at, at, at, n});
    });
    return;
  }
  const bool joins = dst.block == 1 && src0.block == 1 && src1.block == 1;
  for (uint32_t repeat = 0; repeat < lanes.repeats; ++repeat) {
    forEachLaneRun(lanes.of(repeat), lanes.perRepeat, perBlock, joins, [&](uint32_t lane, uint32_t n) {
      f(LaneRun{laneOffset(repeat, lane, perBlock, dst), laneOffset(repeat, lane, perBlock, src0),
                laneOffset(repeat, lane, perBlock, src1), n});
    });
  }
}

}  // namespace kw
