// Mmad: C (+)= A x B on fractals. L0A: rows of fractals; L0B: likewise, each fractal by columns;
// L0C: columns of 16 x 16 fractals.
#include <cstring>
#include <vector>

#include "cube_unit.h"
#include "gemm.h"
#include "kw/cube.h"

namespace kw {

namespace {

struct Sizes {
  uint32_t item, k0, mBlocks, nBlocks, kBlocks;
};

Sizes sizesOf(const Product& p) {
  const uint32_t item = kDtypeBits[static_cast<int>(p.in)] / 8;
  const uint32_t k0 = 32 / item;
  return {item, k0, (p.m + 15) / 16, (p.n + 15) / 16, (p.k + k0 - 1) / k0};
}

// Fractals (outer, inner) of 16 lines of 32 bytes; line r of block row b becomes row 16 b + r.
// A: outer fractals are block rows; B: outer ones are blocks of k, and a line is a column.
void unpack(const char* from, uint32_t lines, const Sizes& s, bool isLeft, char* to) {
  const uint32_t lineBlocks = isLeft ? s.mBlocks : s.nBlocks;
  for (uint32_t line = 0; line < lines; ++line) {
    for (uint32_t block = 0; block < s.kBlocks; ++block) {
      const uint64_t fractal = isLeft ? uint64_t{line / 16} * s.kBlocks + block
                                      : uint64_t{block} * lineBlocks + line / 16;
      std::memcpy(to + (uint64_t{line} * s.kBlocks + block) * 32,
                  from + fractal * 512 + line % 16 * 32, 32);
    }
  }
}

GemmType gemmType(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16: return GemmType::kHalf;
    case Dtype::bf16: return GemmType::kBfloat16;
    case Dtype::i8: return GemmType::kInt8;
    default: return GemmType::kFloat;
  }
}

uint64_t inL0c(const Sizes& s, uint32_t row, uint32_t column) {
  return (uint64_t{column / 16} * s.mBlocks + row / 16) * 256 + row % 16 * 16 + column % 16;
}

template <typename T>
void compute(const Product& p, const Sizes& s, bool isBiasRow) {
  static std::vector<char> left, right;
  static std::vector<T> sum;
  left.resize(uint64_t{p.m} * s.kBlocks * 32);
  right.resize(uint64_t{p.n} * s.kBlocks * 32);
  sum.assign(uint64_t{p.m} * p.n, T(0));
  unpack(static_cast<const char*>(p.a), p.m, s, true, left.data());
  unpack(static_cast<const char*>(p.b), p.n, s, false, right.data());
  const T* start = static_cast<const T*>(p.bias != nullptr ? p.bias : p.c);
  for (uint32_t row = 0; row < p.m && (p.bias != nullptr || !p.fromZero); ++row) {
    for (uint32_t column = 0; column < p.n; ++column) {
      sum[uint64_t{row} * p.n + column] = start[isBiasRow ? column : inL0c(s, row, column)];
    }
  }
  const int64_t pitch = int64_t{s.kBlocks} * s.k0;
  gemmAdd(p.m, p.n, p.k, {left.data(), gemmType(p.in), pitch, 1},
          {right.data(), gemmType(p.in), 1, pitch}, sum.data());
  T* c = static_cast<T*>(p.c);
  for (uint32_t row = 0; row < p.m; ++row) {
    for (uint32_t column = 0; column < p.n; ++column) {
      c[inL0c(s, row, column)] = sum[uint64_t{row} * p.n + column];
    }
  }
}

bool declare(Instruction& run, const Product& p, const Sizes& s, bool isBiasRow) {
  const uint64_t cBytes = uint64_t{s.mBlocks} * s.nBlocks * 1024;
  run.allow(Instruction::bit(Memory::L0A));
  if (!run.read(p.a, uint64_t{s.mBlocks} * s.kBlocks * 512, "the left factor")) return false;
  run.allow(Instruction::bit(Memory::L0B));
  if (!run.read(p.b, uint64_t{s.kBlocks} * s.nBlocks * 512, "the right factor")) return false;
  run.allow(Instruction::bit(Memory::BT) | Instruction::bit(Memory::L0C));
  if (p.bias != nullptr && !run.read(p.bias, isBiasRow ? p.n * 4 : cBytes, "bias")) return false;
  run.allow(Instruction::bit(Memory::L0C));
  if (p.bias == nullptr && !p.fromZero && !run.read(p.c, cBytes, "dst")) return false;
  return run.write(p.c, cBytes, "dst");
}

}  // namespace

void multiply(const Product& p) {
  Core& core = *runningCore();
  if (p.unitFlag != 0) core.join(Pipe::M, core.signal(Pipe::FIX));
  Instruction run(Pipe::M, "Mmad", __builtin_return_address(0));
  if (!isOnCubeCore(run)) return;
  if (p.m > 4095 || p.n > 4095 || p.k > 4095) {
    run.fault(FaultCode::ARGUMENT, "m %u, n %u, k %u: each is at most 4095", p.m, p.n, p.k);
    return;
  }
  if (p.m == 0 || p.n == 0 || p.k == 0) return;
  const Sizes sizes = sizesOf(p);
  const bool isBiasRow = p.bias != nullptr && placeOf(core, p.bias).memory == Memory::BT;
  run.aligned(p.a, 512, "the left factor");
  run.aligned(p.b, 512, "the right factor");
  run.aligned(p.c, 1024, "dst");
  if (!declare(run, p, sizes, isBiasRow)) return;
  if (!run.skipsValues()) {
    if (p.out == Dtype::i32) {
      compute<int32_t>(p, sizes, isBiasRow);
    } else {
      compute<float>(p, sizes, isBiasRow);
    }
  }
  CubeCost cost;
  cost.m = p.m;
  cost.n = p.n;
  cost.k = p.k;
  cost.item_bytes = static_cast<uint8_t>(sizes.item);
  run.cost(cost);
}

}  // namespace kw
