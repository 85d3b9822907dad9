// Gather, Gatherb, GatherMask, Brcb, ArithProgression, Transpose, TransDataTo5HD.
#include "kw/gather.h"

#include <algorithm>
#include <cstring>

#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

uint32_t itemBytes(Dtype dtype) { return kDtypeBits[static_cast<int>(dtype)] / 8; }

void copyItem(void* to, uint64_t i, const void* from, uint64_t j, uint32_t item) {
  std::memcpy(static_cast<char*>(to) + i * item, static_cast<const char*>(from) + j * item, item);
}

uint32_t repeatsOf(uint64_t bytes) { return static_cast<uint32_t>((bytes + 255) / 256); }

void charge(Instruction& run, VectorOp op, Dtype dtype, const void* dst, const void* src,
            uint32_t repeats) {
  MapCall call(op, {dst, dtype, {}, "dst"}, {src, dtype, {}, "src"});
  chargeMap(run, call, repeats);
}

// Reads one item at a byte offset, which must be a multiple of the item.
bool gatherItem(Instruction& run, void* dst, uint64_t i, const void* src, uint64_t offset,
                uint32_t item) {
  if (offset % item != 0) {
    run.fault(FaultCode::ARGUMENT, "offset %llu is not a multiple of the %u-byte element: offsets "
              "of Gather count bytes", static_cast<unsigned long long>(offset), item);
    return false;
  }
  const char* from = static_cast<const char*>(src) + offset;
  if (!run.read(from, item, "src")) return false;
  if (!run.skipsValues()) std::memcpy(static_cast<char*>(dst) + i * item, from, item);
  return true;
}

// Whether lane `lane` is kept by one of the patterns 1 to 7.
bool isKept(uint8_t pattern, uint64_t lane) {
  switch (pattern) {
    case 1: return lane % 2 == 0;
    case 2: return lane % 2 == 1;
    case 3: return lane % 4 == 0;
    case 4: return lane % 4 == 1;
    case 5: return lane % 4 == 2;
    case 6: return lane % 4 == 3;
    default: return true;
  }
}

template <typename T>
void fillSteps(void* dst, double first, double step, int32_t count) {
  T* out = static_cast<T*>(dst);
  for (int32_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      out[i] = static_cast<T>(static_cast<int64_t>(first) + static_cast<int64_t>(step) * i);
    } else {
      out[i] = static_cast<T>(static_cast<float>(first + step * i));
    }
  }
}

}  // namespace

void gather(Dtype dtype, void* dst, const void* src, const void* offsets, uint32_t base,
            uint32_t count) {
  Instruction run(Pipe::V, "Gather", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype);
  const uint64_t bytes = run.countBytes(count, item);
  if (bytes == 0) return;
  run.aligned(dst, 32, "dst");
  run.aligned(offsets, 32, "srcOffset");
  bool ok = run.read(offsets, uint64_t{count} * 4, "srcOffset");
  ok = run.write(dst, bytes, "dst") && ok;
  const uint32_t* at = static_cast<const uint32_t*>(offsets);
  for (uint32_t i = 0; ok && i < count; ++i) {
    ok = gatherItem(run, dst, i, src, uint64_t{at[i]} + base, item);
  }
  charge(run, VectorOp::Gather, dtype, dst, src, repeatsOf(bytes));
}

void gatherRepeat(Dtype dtype, void* dst, const void* src, const void* offsets, uint32_t base,
                  const MaskArg& mask, uint8_t repeats, uint16_t dstRepeatStride) {
  Instruction run(Pipe::V, "Gather", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype), perBlock = 32 / item;
  const Lanes lanes = run.lanes(mask, repeats, item);
  if (lanes.repeats == 0) return;
  const Stride stride{1, dstRepeatStride};
  bool ok = run.writeLanes(dst, lanes, item, stride, "dst");
  const uint32_t* at = static_cast<const uint32_t*>(offsets);
  for (uint32_t repeat = 0; ok && repeat < lanes.repeats; ++repeat) {
    for (uint32_t lane = 0; ok && lane < lanes.perRepeat; ++lane) {
      if (!laneIsOn(lanes.of(repeat), lane)) continue;
      const uint64_t index = uint64_t{repeat} * lanes.perRepeat + lane;
      ok = run.read(at + index, 4, "srcOffset") &&
           gatherItem(run, dst, laneOffset(repeat, lane, perBlock, stride), src,
                      uint64_t{at[index]} + base, item);
    }
  }
  charge(run, VectorOp::Gather, dtype, dst, src, lanes.repeats);
}

void gatherBlocks(Dtype dtype, void* dst, const void* src, const void* offsets, uint8_t repeats,
                  Stride stride) {
  Instruction run(Pipe::V, "Gatherb", __builtin_return_address(0));
  const uint32_t* at = static_cast<const uint32_t*>(offsets);
  bool ok = run.read(offsets, uint64_t{repeats} * 8 * 4, "offset");
  for (uint32_t block = 0; ok && block < repeats * 8u; ++block) {
    const uint64_t place = uint64_t{block / 8} * stride.repeat + uint64_t{block % 8} * stride.block;
    char* to = static_cast<char*>(dst) + place * 32;
    const char* from = static_cast<const char*>(src) + at[block];
    run.aligned(from, 32, "src0 at its offset");
    ok = run.read(from, 32, "src0") && run.write(to, 32, "dst");
    if (ok && !run.skipsValues()) std::memcpy(to, from, 32);
  }
  charge(run, VectorOp::Gather, dtype, dst, src, repeats);
}

uint64_t gatherMask(Dtype dtype, void* dst, const void* src, const void* bits, uint8_t pattern,
                    bool isCounted, uint32_t mask, const AscendC::GatherMaskParams& params) {
  Instruction run(Pipe::V, "GatherMask", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype), perBlock = 32 / item, perRepeat = 256 / item;
  if (bits == nullptr && (pattern < 1 || pattern > 7)) {
    run.fault(FaultCode::ARGUMENT, "pattern %u of GatherMask does not exist; there are 1 to 7",
              pattern);
    return 0;
  }
  const uint64_t each = isCounted ? mask : perRepeat;
  const Stride stride{params.src0BlockStride, params.src0RepeatStride};
  uint64_t kept = 0;
  bool ok = true;
  for (uint32_t repeat = 0; ok && repeat < params.repeatTimes; ++repeat) {
    const char* maskRow = static_cast<const char*>(bits) + uint64_t{repeat} * params.src1RepeatStride * 32;
    if (bits != nullptr) ok = run.read(maskRow, (each + 7) / 8, "src1Pattern");
    for (uint64_t lane = 0; ok && lane < each; ++lane) {
      // Blocks of a long counted repeat follow the block stride all the way.
      const uint64_t at = (uint64_t{repeat} * stride.repeat + lane / perBlock * stride.block) * perBlock +
                          lane % perBlock;
      const char* from = static_cast<const char*>(src) + at * item;
      if (lane % perBlock == 0) {
        const uint64_t rest = std::min<uint64_t>(perBlock, each - lane);
        ok = run.read(from, rest * item, "src0");
      }
      const bool isOn = bits != nullptr ? maskRow[lane / 8] >> lane % 8 & 1 : isKept(pattern, lane);
      if (!ok || !isOn) continue;
      ok = run.write(static_cast<char*>(dst) + kept * item, item, "dst");
      if (ok) copyItem(dst, kept, from, 0, item);
      ++kept;
    }
  }
  charge(run, VectorOp::GatherMask, dtype, dst, src,
         static_cast<uint32_t>((each * params.repeatTimes * item + 255) / 256));
  return kept;
}

void brcb(Dtype dtype, void* dst, const void* src, uint8_t repeats, Stride stride) {
  Instruction run(Pipe::V, "Brcb", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype), perBlock = 32 / item;
  run.aligned(dst, 32, "dst");
  run.aligned(src, 32, "src0");
  bool ok = run.read(src, uint64_t{repeats} * 8 * item, "src0");
  for (uint32_t block = 0; ok && block < repeats * 8u; ++block) {
    const uint64_t place = uint64_t{block / 8} * stride.repeat + uint64_t{block % 8} * stride.block;
    char* to = static_cast<char*>(dst) + place * 32;
    ok = run.write(to, 32, "dst");
    for (uint32_t i = 0; ok && !run.skipsValues() && i < perBlock; ++i) copyItem(to, i, src, block, item);
  }
  charge(run, VectorOp::Brcb, dtype, dst, src, repeats);
}

void arithProgression(Dtype dtype, void* dst, double first, double step, int32_t count) {
  Instruction run(Pipe::V, "ArithProgression", __builtin_return_address(0));
  const uint64_t bytes = run.countBytes(count, itemBytes(dtype));
  if (bytes == 0) return;
  run.aligned(dst, 32, "dst");
  if (run.write(dst, bytes, "dst") && !run.skipsValues()) {
    if (dtype == Dtype::i16) fillSteps<int16_t>(dst, first, step, count);
    if (dtype == Dtype::i32) fillSteps<int32_t>(dst, first, step, count);
    if (dtype == Dtype::f16) fillSteps<half>(dst, first, step, count);
    if (dtype == Dtype::f32) fillSteps<float>(dst, first, step, count);
  }
  // The first block is set by the scalar unit, the rest doubles by Adds.
  charge(run, VectorOp::Adds, dtype, dst, dst, repeatsOf(bytes));
}

void transpose16(Dtype dtype, void* dst, const void* src) {
  Instruction run(Pipe::V, "Transpose", __builtin_return_address(0));
  run.aligned(dst, 32, "dst");
  run.aligned(src, 32, "src");
  const bool ok = run.read(src, 512, "src") && run.write(dst, 512, "dst");
  if (ok && !run.skipsValues()) {
    uint16_t made[256];
    const uint16_t* in = static_cast<const uint16_t*>(src);
    for (int i = 0; i < 256; ++i) made[i % 16 * 16 + i / 16] = in[i];
    std::memcpy(dst, made, sizeof(made));
  }
  charge(run, VectorOp::Transpose, dtype, dst, src, 2);
}

void transData(Dtype dtype, const uint64_t* dsts, const uint64_t* srcs,
               const AscendC::TransDataTo5HDParams& params) {
  Instruction run(Pipe::V, "TransDataTo5HD", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype);
  for (uint32_t repeat = 0; repeat < params.repeatTimes; ++repeat) {
    char* to[16];
    const char* from[16];
    bool ok = true;
    for (int i = 0; i < 16; ++i) {
      to[i] = reinterpret_cast<char*>(dsts[i]) + uint64_t{repeat} * params.dstRepStride * 32;
      from[i] = reinterpret_cast<const char*>(srcs[i]) + uint64_t{repeat} * params.srcRepStride * 32;
      ok = run.read(from[i], 32, "srcList") && ok;
      ok = run.write(to[i], 32, "dstList") && ok;
    }
    if (!ok || run.skipsValues()) continue;
    char rows[16][32];
    for (int i = 0; i < 16; ++i) std::memcpy(rows[i], from[i], 32);
    if (item == 4) {  // 16 rows of 8: destinations 2j and 2j + 1 hold column j
      for (int j = 0; j < 8; ++j) {
        for (int i = 0; i < 16; ++i) std::memcpy(to[2 * j + i / 8] + i % 8 * 4, rows[i] + j * 4, 4);
      }
      continue;
    }
    const int half = item == 1 ? 16 : 0;
    for (int j = 0; j < 16; ++j) {
      for (int i = 0; i < 16; ++i) {
        const int source = j * item + (params.srcHighHalf ? half : 0);
        std::memcpy(to[j] + i * item + (params.dstHighHalf ? half : 0), rows[i] + source, item);
      }
    }
  }
  charge(run, VectorOp::Transpose, dtype, reinterpret_cast<const void*>(dsts[0]),
         reinterpret_cast<const void*>(srcs[0]), 2u * params.repeatTimes);
}

}  // namespace kw
