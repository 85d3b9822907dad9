// DataCopy with a change of layout: rows to blocks of 32-byte columns (ND to NZ) and back.
#include <algorithm>
#include <cstring>

#include "global_memory.h"
#include "kw/cube.h"

namespace kw {

namespace {

void charge(Instruction& run, const NdCopy& copy, CopyPath path, const void* gm) {
  CopyCost cost;
  cost.path = path;
  cost.rows = copy.rows * copy.count;
  cost.row_bytes = copy.columns * uint64_t{copy.itemBytes};
  cost.gm = reinterpret_cast<uint64_t>(gm);
  cost.gm_stride = copy.srcRow;
  cost.converts = true;
  run.cost(cost);
}

// The last fractal's rows that no row of the matrix fills are read by LoadData, and are dropped
// with the rows of the result: they count as filled.
void fillFractal(Core& core, const NdCopy& copy, const char* block) {
  const LocalPlace at = placeOf(core, block);
  if (!at.isLocal || at.memory != Memory::L1 || copy.dstRow != 32) return;
  const uint32_t low = at.offset + copy.rows * 32;
  const uint32_t high = std::min<uint64_t>(at.offset + (copy.rows + 15) / 16 * 512, kSlotBytes);
  LocalMemory& memory = core.memories[static_cast<int>(Memory::L1)];
  const Extent* extent = extentAt(memory, at.offset);
  const uint32_t end = extent == nullptr ? high : std::min(high, extent->high);
  if (low < end && filled(memory, low, end) == Filled::kNone) markInitialised(memory, low, end);
}

bool declareBlocks(Instruction& run, const NdCopy& copy, char* dst) {
  const uint64_t bytes = copy.columns * uint64_t{copy.itemBytes};
  for (uint64_t block = 0; block * 32 < bytes; ++block) {
    char* at = dst + block * copy.dstColumn;
    if (!run.writeRows(at, copy.rows, 32, copy.dstRow, "dst")) return false;
    fillFractal(run.core(), copy, at);
  }
  return true;
}

void spread(const NdCopy& copy, char* dst, const char* row, uint64_t have) {
  for (uint64_t at = 0; at < copy.columns * uint64_t{copy.itemBytes}; at += 32) {
    char* block = dst + at / 32 * copy.dstColumn;
    const uint64_t part = at < have ? std::min<uint64_t>(32, have - at) : 0;
    std::memcpy(block, row + at, part);
    std::memset(block + part, 0, 32 - part);
  }
}

}  // namespace

void copyNdToNz(const NdCopy& copy, bool isFromGm) {
  Instruction run(isFromGm ? Pipe::MTE2 : Pipe::MTE3, "DataCopy", __builtin_return_address(0));
  run.allow(Instruction::bit(Memory::UB) | Instruction::bit(Memory::L1));
  run.aligned(copy.dst, 32, "dst");
  if (copy.count > 4095 || copy.rows > 16384) {
    run.fault(FaultCode::COPY_PARAMS, "ndNum %u (at most 4095), nValue %u (at most 16384)",
              copy.count, copy.rows);
  }
  const uint64_t bytes = copy.columns * uint64_t{copy.itemBytes};
  for (uint32_t index = 0; index < copy.count && bytes != 0; ++index) {
    char* dst = static_cast<char*>(copy.dst) + index * copy.dstMatrix;
    const char* src = static_cast<const char*>(copy.src) + index * copy.srcMatrix;
    if (!isFromGm && !run.readRows(src, copy.rows, bytes, copy.srcRow, "src")) return;
    if (!declareBlocks(run, copy, dst)) return;
    for (uint32_t row = 0; row < copy.rows; ++row) {
      const char* from = src + row * copy.srcRow;
      const uint64_t have = isFromGm ? gmRange(run, {from, bytes, false, false, nullptr}) : bytes;
      if (!run.skipsValues()) spread(copy, dst + row * copy.dstRow, from, have);
    }
  }
  charge(run, copy, isFromGm ? CopyPath::GmToL1 : CopyPath::UbToL1, isFromGm ? copy.src : nullptr);
}

// UB to GM. A block of columns is 16 wide, whatever the element.
void copyNzToNd(const NdCopy& copy) {
  Instruction run(Pipe::MTE3, "DataCopy", __builtin_return_address(0));
  run.aligned(copy.src, 32, "src");
  if (copy.columns % 16 != 0) {
    run.fault(FaultCode::COPY_PARAMS, "dValue %u is not a multiple of 16", copy.columns);
    return;
  }
  const uint64_t width = 16ull * copy.itemBytes;
  for (uint32_t index = 0; index < copy.count; ++index) {
    const char* src = static_cast<const char*>(copy.src) + index * copy.srcMatrix;
    char* dst = static_cast<char*>(copy.dst) + index * copy.dstMatrix;
    if (!run.readRows(src, copy.columns / 16, copy.rows * width, copy.srcRow, "src")) return;
    for (uint32_t row = 0; row < copy.rows; ++row) {
      for (uint32_t block = 0; block < copy.columns / 16; ++block) {
        char* to = dst + row * copy.dstRow + block * width;
        const char* from = src + block * copy.srcRow + row * width;
        const uint64_t have = gmRange(run, {to, width, true, false, from});
        if (!run.skipsValues()) std::memcpy(to, from, have);
      }
    }
  }
  charge(run, copy, CopyPath::UbToGm, copy.dst);
}

}  // namespace kw
