// Compare and Select. Mask bits are packed from the lowest of each byte on.
#include "kw/compare.h"

#include <algorithm>
#include <cstring>

#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

using AscendC::CMPMODE;
using AscendC::SELMODE;

uint64_t g_compareMask[2] = {0, 0};

uint32_t itemBytes(Dtype dtype) { return kDtypeBits[static_cast<int>(dtype)] / 8; }

template <typename T>
bool holds(CMPMODE mode, T a, T b) {
  switch (mode) {
    case CMPMODE::LT: return a < b;
    case CMPMODE::GT: return a > b;
    case CMPMODE::EQ: return a == b;
    case CMPMODE::LE: return a <= b;
    case CMPMODE::GE: return a >= b;
    default: return a != b;
  }
}

bool holdsAt(CMPMODE mode, Dtype dtype, const void* a, uint64_t i, const void* b, uint64_t j) {
  switch (dtype) {
    case Dtype::f16:
      return holds<float>(mode, static_cast<const half*>(a)[i], static_cast<const half*>(b)[j]);
    case Dtype::i32:
      return holds(mode, static_cast<const int32_t*>(a)[i], static_cast<const int32_t*>(b)[j]);
    default:
      return holds(mode, static_cast<const float*>(a)[i], static_cast<const float*>(b)[j]);
  }
}

void putBit(void* to, uint64_t bit, bool value) {
  uint8_t& byte = static_cast<uint8_t*>(to)[bit / 8];
  const uint8_t mask = static_cast<uint8_t>(1u << bit % 8);
  byte = static_cast<uint8_t>(value ? byte | mask : byte & ~mask);
}

bool bitOf(const void* from, uint64_t bit) {
  return static_cast<const uint8_t*>(from)[bit / 8] >> bit % 8 & 1;
}

void checkMode(const Instruction& run, CMPMODE mode, Dtype dtype) {
  if (dtype == Dtype::i32 && mode != CMPMODE::EQ) {
    run.fault(FaultCode::ARGUMENT, "int32_t can be compared for EQ only on this chip");
  }
}

void copyItem(Dtype dtype, void* to, uint64_t i, const void* from, uint64_t j) {
  const uint32_t item = itemBytes(dtype);
  std::memcpy(static_cast<char*>(to) + i * item, static_cast<const char*>(from) + j * item, item);
}

void charge(Instruction& run, VectorOp op, Dtype dtype, const void* dst, const void* src0,
            const void* src1, uint32_t repeats) {
  MapCall call(op, {dst, dtype, {}, "dst"}, {src0, dtype, {}, "src0"}, {src1, dtype, {}, "src1"});
  if (src1 == nullptr) call.count = 1;
  chargeMap(run, call, repeats);
}

// Where the mask bit of lane `lane` of repeat `repeat` lies: mode 0 uses one repeat's bits again.
uint64_t maskBit(SELMODE mode, const Lanes& lanes, uint32_t repeat, uint32_t lane) {
  const bool isReused = mode == SELMODE::VSEL_CMPMASK_SPR;
  return isReused ? lane : static_cast<uint64_t>(repeat) * lanes.perRepeat + lane;
}

}  // namespace

void compare(CMPMODE mode, Dtype dtype, void* dst, const void* src0, const void* src1,
             uint64_t scalar, uint32_t count) {
  Instruction run(Pipe::V, src1 == nullptr ? "CompareScalar" : "Compare",
                  __builtin_return_address(0));
  checkMode(run, mode, dtype);
  const uint32_t item = itemBytes(dtype);
  const uint64_t bytes = run.countBytes(count, item);
  if (bytes == 0) return;
  const uint64_t whole = bytes / 256 * 256 / item;
  if (whole != count) {
    run.fault(FaultCode::COUNT_NOT_WHOLE,
              "%u elements are %llu bytes: only the first %llu elements are compared", count,
              static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(whole));
  }
  if (whole == 0) return;
  run.aligned(dst, 32, "dst");
  run.aligned(src0, 32, "src0");
  bool ok = run.read(src0, whole * item, "src0");
  if (src1 != nullptr) ok = run.read(src1, whole * item, "src1") && ok;
  ok = run.write(dst, whole / 8, "dst") && ok;
  const void* right = src1 == nullptr ? &scalar : src1;
  for (uint64_t i = 0; ok && !run.skipsValues() && i < whole; ++i) {
    putBit(dst, i, holdsAt(mode, dtype, src0, i, right, src1 == nullptr ? 0 : i));
  }
  charge(run, VectorOp::Compare, dtype, dst, src0, src1, static_cast<uint32_t>(whole * item / 256));
}

void compareRepeat(CMPMODE mode, Dtype dtype, void* dst, const void* src0, const void* src1,
                   uint64_t scalar, const MaskArg& mask, uint8_t repeats,
                   const BinaryStrides& strides) {
  Instruction run(Pipe::V, src1 == nullptr ? "CompareScalar" : "Compare",
                  __builtin_return_address(0));
  checkMode(run, mode, dtype);
  const uint32_t item = itemBytes(dtype), perBlock = 32 / item;
  // Every lane of a repeat is compared: the mask has no effect on this instruction.
  (void)mask;
  const Lanes lanes = run.lanes(maskArg(uint64_t{256 / item}), repeats, item);
  if (lanes.repeats == 0) return;
  bool ok = run.readLanes(src0, lanes, item, strides.src0, "src0");
  if (src1 != nullptr) ok = run.readLanes(src1, lanes, item, strides.src1, "src1") && ok;
  ok = run.write(dst, static_cast<uint64_t>(lanes.repeats) * lanes.perRepeat / 8, "dst") && ok;
  for (uint32_t repeat = 0; ok && !run.skipsValues() && repeat < lanes.repeats; ++repeat) {
    for (uint32_t lane = 0; lane < lanes.perRepeat; ++lane) {
      const uint64_t a = laneOffset(repeat, lane, perBlock, strides.src0);
      const uint64_t b = src1 == nullptr ? 0 : laneOffset(repeat, lane, perBlock, strides.src1);
      const void* right = src1 == nullptr ? &scalar : src1;
      putBit(dst, static_cast<uint64_t>(repeat) * lanes.perRepeat + lane,
             holdsAt(mode, dtype, src0, a, right, b));
    }
  }
  charge(run, VectorOp::Compare, dtype, dst, src0, src1, lanes.repeats);
}

void compareRegister(CMPMODE mode, Dtype dtype, const void* src0, const void* src1,
                     const MaskArg& mask, const BinaryStrides& strides) {
  Instruction run(Pipe::V, "Compare", __builtin_return_address(0));
  checkMode(run, mode, dtype);
  const uint32_t item = itemBytes(dtype), perBlock = 32 / item;
  const Lanes lanes = run.lanes(mask, 1, item);
  bool ok = run.readLanes(src0, lanes, item, strides.src0, "src0");
  ok = run.readLanes(src1, lanes, item, strides.src1, "src1") && ok;
  for (uint32_t lane = 0; ok && !run.skipsValues() && lane < lanes.perRepeat; ++lane) {
    if (!laneIsOn(lanes.of(0), lane)) continue;
    putBit(g_compareMask, lane,
           holdsAt(mode, dtype, src0, laneOffset(0, lane, perBlock, strides.src0), src1,
                   laneOffset(0, lane, perBlock, strides.src1)));
  }
  charge(run, VectorOp::Compare, dtype, src0, src0, src1, 1);
}

void setCompareMask(const void* src) {
  Instruction run(Pipe::V, "SetCmpMask", __builtin_return_address(0));
  if (run.read(src, 16, "src")) std::memcpy(g_compareMask, src, 16);
  run.occupy(2);
}

void getCompareMask(void* dst) {
  Instruction run(Pipe::V, "GetCmpMask", __builtin_return_address(0));
  if (run.write(dst, 16, "dst")) std::memcpy(dst, g_compareMask, 16);
  run.occupy(2);
}

void select(SELMODE mode, Dtype dtype, void* dst, const void* selMask, const void* src0,
            const void* src1, uint64_t scalar, uint32_t count) {
  Instruction run(Pipe::V, "Select", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype);
  const uint64_t bytes = run.countBytes(count, item);
  if (bytes == 0) return;
  const uint64_t perRepeat = 256 / item;
  const bool isReused = mode == SELMODE::VSEL_CMPMASK_SPR;
  run.aligned(dst, 32, "dst");
  run.aligned(src0, 32, "src0");
  const uint64_t maskBits = isReused ? std::min<uint64_t>(perRepeat, count) : count;
  bool ok = run.read(selMask, (maskBits + 7) / 8, "selMask");
  ok = run.read(src0, bytes, "src0") && ok;
  if (src1 != nullptr) ok = run.read(src1, bytes, "src1") && ok;
  ok = run.write(dst, bytes, "dst") && ok;
  for (uint64_t i = 0; ok && !run.skipsValues() && i < count; ++i) {
    const bool isFirst = bitOf(selMask, isReused ? i % perRepeat : i);
    if (isFirst) {
      copyItem(dtype, dst, i, src0, i);
    } else {
      copyItem(dtype, dst, i, src1 == nullptr ? &scalar : src1, src1 == nullptr ? 0 : i);
    }
  }
  charge(run, VectorOp::Select, dtype, dst, src0, src1, static_cast<uint32_t>((bytes + 255) / 256));
}

void selectRepeat(SELMODE mode, Dtype dtype, void* dst, const void* selMask, const void* src0,
                  const void* src1, uint64_t scalar, const MaskArg& mask, uint8_t repeats,
                  const BinaryStrides& strides) {
  Instruction run(Pipe::V, "Select", __builtin_return_address(0));
  const uint32_t item = itemBytes(dtype), perBlock = 32 / item;
  const Lanes lanes = run.lanes(mask, repeats, item);
  if (lanes.repeats == 0) return;
  const bool isReused = mode == SELMODE::VSEL_CMPMASK_SPR;
  const uint64_t maskBits = lanes.perRepeat * (isReused ? 1ull : lanes.repeats);
  bool ok = run.read(selMask, maskBits / 8, "selMask");
  ok = run.readLanes(src0, lanes, item, strides.src0, "src0") && ok;
  if (src1 != nullptr) ok = run.readLanes(src1, lanes, item, strides.src1, "src1") && ok;
  ok = run.writeLanes(dst, lanes, item, strides.dst, "dst") && ok;
  for (uint32_t repeat = 0; ok && !run.skipsValues() && repeat < lanes.repeats; ++repeat) {
    for (uint32_t lane = 0; lane < lanes.perRepeat; ++lane) {
      if (!laneIsOn(lanes.of(repeat), lane)) continue;
      const bool isFirst = bitOf(selMask, maskBit(mode, lanes, repeat, lane));
      const bool isScalar = !isFirst && src1 == nullptr;
      const void* from = isFirst ? src0 : src1 == nullptr ? &scalar : src1;
      const Stride stride = isFirst ? strides.src0 : strides.src1;
      copyItem(dtype, dst, laneOffset(repeat, lane, perBlock, strides.dst), from,
               isScalar ? 0 : laneOffset(repeat, lane, perBlock, stride));
    }
  }
  charge(run, VectorOp::Select, dtype, dst, src0, src1, lanes.repeats);
}

void selectBytes(Dtype dtype, void* dst, const void* src0, const void* src1, uint64_t scalar,
                 bool isScalarFirst, const void* mask, Dtype maskDtype, uint32_t rows,
                 uint32_t columns, uint32_t maskColumns) {
  Instruction run(Pipe::V, "SelectWithBytesMask", __builtin_return_address(0));
  (void)src1;
  const uint32_t item = itemBytes(dtype), maskItem = itemBytes(maskDtype);
  const uint64_t bytes = static_cast<uint64_t>(rows) * columns * item;
  bool ok = run.read(src0, bytes, "src");
  ok = run.readRows(mask, rows, columns * maskItem, maskColumns * maskItem, "mask") && ok;
  ok = run.write(dst, bytes, "dst") && ok;
  const char* bits = static_cast<const char*>(mask);
  for (uint64_t i = 0; ok && !run.skipsValues() && i < static_cast<uint64_t>(rows) * columns; ++i) {
    const char* at = bits + (i / columns * maskColumns + i % columns) * maskItem;
    const bool isSet = std::any_of(at, at + maskItem, [](char byte) { return byte != 0; });
    const bool takesTensor = isSet == isScalarFirst;  // a set byte takes the second source
    copyItem(dtype, dst, i, takesTensor ? src0 : &scalar, takesTensor ? i : 0);
  }
  charge(run, VectorOp::Select, dtype, dst, src0, nullptr, static_cast<uint32_t>((bytes + 255) / 64));
}

}  // namespace kw
