// LoadData, LoadDataWithTranspose, InitConstValue: L1 to L0A and L0B by fractals of 512 bytes.
#include <cstring>

#include "cube_unit.h"
#include "global_memory.h"
#include "kw/cube.h"

namespace kw {

bool isOnCubeCore(Instruction& run) {
  if (run.core().coreType == AscendC::AIC) return true;
  run.fault(FaultCode::NOT_EMULATED,
            "a vector core has no cube unit: nothing is done (run the kernel as AIC or MIX)");
  return false;
}

namespace {

constexpr uint32_t kFractal = 512;
constexpr uint32_t kL0 = Instruction::bit(Memory::L0A) | Instruction::bit(Memory::L0B);
constexpr uint32_t kL1 = Instruction::bit(Memory::L1);

CopyPath pathTo(Instruction& run, const void* dst) {
  const Memory memory = placeOf(run.core(), dst).memory;
  return memory == Memory::L0B ? CopyPath::L1ToL0b : CopyPath::L1ToL0a;
}

// The side of a square that is transposed as one, in elements, and how many fractals it takes.
struct Square {
  uint32_t side, fractals, item;
};

Square squareOf(const FractalLoad& load) {
  const uint32_t item = kDtypeBits[static_cast<int>(load.dtype)] / 8;
  if (!load.transposes) return {16, 1, item};
  return item == 1 ? Square{32, 2, 1} : item == 2 ? Square{16, 1, 2} : Square{16, 2, 4};
}

// Element (row, column) of a square: 8-bit fractals lie above one another, 32-bit ones side by side.
uint64_t squareAt(const Square& square, uint32_t row, uint32_t column, uint64_t step) {
  const uint32_t width = 32 / square.item;
  if (square.item == 4) return column / width * step + (row * width + column % width) * 4;
  return row / 16 * step + (row % 16 * width + column) * square.item;
}

void turn(const Square& square, char* dst, const char* src, uint64_t dstStep) {
  for (uint32_t row = 0; row < square.side; ++row) {
    for (uint32_t column = 0; column < square.side; ++column) {
      std::memcpy(dst + squareAt(square, column, row, dstStep),
                  src + squareAt(square, row, column, kFractal), square.item);
    }
  }
}

bool declareSource(Instruction& run, const FractalLoad& load, const char* src, uint64_t bytes) {
  if (load.isFromGm) return gmRange(run, {src, bytes, false, false, nullptr}) == bytes;
  return run.read(src, bytes, "src");
}

bool loadSquare(Instruction& run, const FractalLoad& load, const Square& square, uint32_t index) {
  const int64_t step = static_cast<int64_t>(square.fractals) * kFractal;
  const char* src = static_cast<const char*>(load.src) +
                    (load.start + index * load.srcStride) * step;
  char* dst = static_cast<char*>(load.dst) + index * (1ull + load.dstGap) * kFractal;
  const uint64_t between = (1ull + load.dstFracGap) * kFractal;
  run.allow(kL1);
  if (!declareSource(run, load, src, static_cast<uint64_t>(step))) return false;
  run.allow(load.isFromGm ? kL0 | kL1 : kL0);
  if (!run.writeRows(dst, square.fractals, kFractal, between, "dst")) return false;
  if (run.skipsValues()) return true;
  if (load.transposes) {
    turn(square, dst, src, between);
  } else {
    std::memcpy(dst, src, kFractal);
  }
  return true;
}

uint32_t divideUp(uint32_t value, uint32_t by) { return (value + by - 1) / by; }

// Where an element of the patch matrix comes from; null for padding and beyond the last window.
const char* patchAt(const PatchLoad& load, uint32_t m, uint32_t k, uint32_t item, bool* isBeyond) {
  const uint32_t c0 = 32 / item;
  const int64_t spanW = (load.filterW - 1) * load.dilationW + 1;
  const int64_t spanH = (load.filterH - 1) * load.dilationH + 1;
  const int64_t outW = (load.width + load.pad[0] + load.pad[1] - spanW) / load.strideW + 1;
  const int64_t outH = (load.height + load.pad[2] + load.pad[3] - spanH) / load.strideH + 1;
  *isBeyond = m >= outW * outH || k >= divideUp(load.channels, c0) * c0 * load.filterW * load.filterH;
  if (*isBeyond) return nullptr;
  const uint32_t window = k / c0;
  const int64_t column = m % outW * load.strideW + window % load.filterW * load.dilationW - load.pad[0];
  const int64_t row = m / outW * load.strideH +
                      window / load.filterW % load.filterH * load.dilationH - load.pad[2];
  if (row < 0 || column < 0 || row >= load.height || column >= load.width) return nullptr;
  const int64_t c1 = window / load.filterW / load.filterH;
  const int64_t at = ((c1 * load.height + row) * load.width + column) * c0 + k % c0;
  return static_cast<const char*>(load.src) + at * item;
}

void movePatches(const PatchLoad& load, uint32_t item, bool turnsFractals) {
  const uint32_t c0 = 32 / item;
  const uint32_t rows = divideUp(load.m, 16), columns = divideUp(load.k, c0);
  char* dst = static_cast<char*>(load.dst);
  const uint64_t zero = 0;
  for (uint32_t m = 0; m < rows * 16; ++m) {
    for (uint32_t k = 0; k < columns * c0; ++k) {
      bool isBeyond = false;
      const char* from = patchAt(load, load.mStart + m, load.kStart + k, item, &isBeyond);
      if (from == nullptr) from = reinterpret_cast<const char*>(isBeyond ? &zero : &load.padBits);
      const uint64_t block = load.transposes ? uint64_t{k / c0} * rows + m / 16
                                             : uint64_t{m / 16} * columns + k / c0;
      const bool isTurned = load.transposes || turnsFractals;
      const uint32_t inner = isTurned ? k % c0 * 16 + m % 16 : m % 16 * c0 + k % c0;
      std::memcpy(dst + block * kFractal + inner * item, from, item);
    }
  }
}

}  // namespace

void loadFractals(const FractalLoad& load, const char* api) {
  Instruction run(load.isFromGm ? Pipe::MTE2 : Pipe::MTE1, api, __builtin_return_address(0));
  if (!isOnCubeCore(run)) return;
  const Square square = squareOf(load);
  if (load.repeats == 0) return;
  const bool isPlain = std::strcmp(api, "LoadData") == 0;
  if (isPlain && load.transposes && square.item != 2) {
    run.fault(FaultCode::ARGUMENT, "ifTranspose needs elements of 16 bits");
    return;
  }
  run.aligned(load.src, 32, "src");
  if (placeOf(run.core(), load.dst).memory != Memory::L1) run.aligned(load.dst, kFractal, "dst");
  for (uint32_t i = 0; i < load.repeats; ++i) {
    if (!loadSquare(run, load, square, i)) return;
  }
  CopyCost cost;
  cost.path = load.isFromGm ? CopyPath::GmToL1 : pathTo(run, load.dst);
  cost.rows = load.repeats;
  cost.row_bytes = square.fractals * kFractal;
  cost.gm = load.isFromGm ? reinterpret_cast<uint64_t>(load.src) : 0;
  run.cost(cost);
}

void loadPatches(const PatchLoad& load) {
  Instruction run(Pipe::MTE1, "LoadData", __builtin_return_address(0));
  if (!isOnCubeCore(run)) return;
  const uint32_t item = kDtypeBits[static_cast<int>(load.dtype)] / 8;
  const uint32_t c0 = 32 / item;
  const bool isRight = placeOf(run.core(), load.dst).memory == Memory::L0B;
  if (load.channels % c0 != 0 || ((isRight || load.transposes) && item != 2)) {
    run.fault(FaultCode::NOT_EMULATED,
              "channelSize %u is no multiple of %u, or a transposed load of %u-byte elements",
              load.channels, c0, item);
    return;
  }
  if (load.strideW == 0 || load.strideH == 0 || load.filterW == 0 || load.filterH == 0) {
    run.fault(FaultCode::ARGUMENT, "stride and filter are at least 1");
    return;
  }
  const uint64_t image = uint64_t{load.height} * load.width * 32 * (load.channels / c0);
  const uint64_t fractals = uint64_t{divideUp(load.m, 16)} * divideUp(load.k, c0);
  run.aligned(load.dst, kFractal, "dst");
  run.allow(kL1);
  if (!run.read(load.src, image, "src")) return;
  run.allow(kL0);
  if (!run.write(load.dst, fractals * kFractal, "dst")) return;
  if (!run.skipsValues()) movePatches(load, item, isRight);
  CopyCost cost;
  cost.path = pathTo(run, load.dst);
  cost.rows = static_cast<uint32_t>(fractals);
  cost.row_bytes = kFractal;
  run.cost(cost);
}

void fillConstant(const ConstantFill& fill) {
  Instruction run(Pipe::MTE1, "InitConstValue", __builtin_return_address(0));
  if (!isOnCubeCore(run)) return;
  const bool isL1 = placeOf(run.core(), fill.dst).memory == Memory::L1;
  const uint64_t unit = isL1 ? 32 : kFractal;
  const uint64_t bytes = (fill.blocks == 0 ? kFractal / unit : fill.blocks) * unit;
  run.allow(kL0 | kL1);
  run.aligned(fill.dst, static_cast<uint32_t>(unit), "dst");
  const uint64_t step = bytes + fill.gap * unit;
  if (fill.repeats == 0 || !run.writeRows(fill.dst, fill.repeats, bytes, step, "dst")) return;
  for (uint64_t i = 0; i < fill.repeats && !run.skipsValues(); ++i) {
    char* row = static_cast<char*>(fill.dst) + i * step;
    for (uint64_t at = 0; at < bytes; at += fill.itemBytes) {
      std::memcpy(row + at, &fill.bits, fill.itemBytes);
    }
  }
  CopyCost cost;
  cost.path = isL1 ? CopyPath::L1ToL0a : pathTo(run, fill.dst);
  cost.rows = fill.repeats;
  cost.row_bytes = bytes;
  run.cost(cost);
}

}  // namespace kw
