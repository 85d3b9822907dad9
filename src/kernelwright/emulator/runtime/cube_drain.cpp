// Fixpipe and DataCopy from CO1: L0C to global memory with quantisation, ReLU and NZ to ND.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "atomic_add.h"
#include "cube_unit.h"
#include "global_memory.h"
#include "kw/cube.h"

namespace kw {

namespace {

struct Registers {
  uint32_t count = 1, srcStride = 0, dstStride = 0;
  uint64_t scale = 0;
};

Registers& registers() {
  static std::unordered_map<const Core*, Registers> all;
  return all[runningCore()];
}

struct Scale {
  float factor;
  int offset;
};

// Bits 31..13: the factor, a float with a short mantissa. Bits 45..37: the offset, 9 bits, signed.
Scale scaleOf(uint64_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) & 0xffffe000u;
  float factor;
  std::memcpy(&factor, &word, 4);
  const int offset = static_cast<int>(bits >> 37 & 0x1ff);
  return {factor, offset >= 256 ? offset - 512 : offset};
}

template <typename T>
void put(void* at, T value) { std::memcpy(at, &value, sizeof value); }

void putByte(const Drain& d, double scaled, int offset, void* at) {
  const double value = std::nearbyint(scaled) + offset;
  if (d.out == Dtype::i8) {
    put(at, static_cast<int8_t>(std::min(127.0, std::max(-128.0, value))));
  } else {
    put(at, static_cast<uint8_t>(std::min(255.0, std::max(0.0, value))));
  }
}

void convert(const Drain& d, const void* from, uint32_t column, void* at) {
  int32_t whole = 0;
  float real = 0;
  std::memcpy(&whole, from, 4);
  std::memcpy(&real, from, 4);
  const bool isWhole = d.in == Dtype::i32;
  if (d.relu && (isWhole ? whole < 0 : real < 0)) { whole = 0; real = 0; }
  const double value = isWhole ? static_cast<double>(whole) : real;
  const Scale scale = scaleOf(d.scales != nullptr ? d.scales[column] : d.scale);
  switch (d.quant) {
    case QuantMode_t::NoQuant: isWhole ? put(at, whole) : put(at, real); return;
    case QuantMode_t::F322F16: put(at, half(real)); return;
    case QuantMode_t::F322BF16: put(at, bfloat16_t(real)); return;
    case QuantMode_t::DEQF16: case QuantMode_t::VDEQF16: {
      const float scaled = static_cast<float>(value) * scale.factor;
      put(at, half(std::min(65504.0f, std::max(-65504.0f, scaled))));
      return;
    }
    default: putByte(d, value * scale.factor, scale.offset, at);
  }
}

bool isFitting(const Drain& d) {
  const bool isWhole = d.in == Dtype::i32;
  switch (d.quant) {
    case QuantMode_t::NoQuant: return d.in == d.out;
    case QuantMode_t::F322F16: return !isWhole && d.out == Dtype::f16;
    case QuantMode_t::F322BF16: return !isWhole && d.out == Dtype::bf16;
    case QuantMode_t::DEQF16: case QuantMode_t::VDEQF16: return isWhole && d.out == Dtype::f16;
    case QuantMode_t::REQ8: case QuantMode_t::VREQ8:
      return isWhole && (d.out == Dtype::i8 || d.out == Dtype::u8);
    default: return !isWhole && (d.out == Dtype::i8 || d.out == Dtype::u8);
  }
}

void store(Instruction& run, char* dst, const char* row, uint64_t bytes) {
  Core& core = run.core();
  const bool isAtomic = core.atomic != Atomic::kNone;
  const uint64_t have = gmRange(run, {dst, bytes, true, isAtomic, row});
  if (run.skipsValues()) return;
  if (isAtomic) {
    atomicCombine(core.atomic, core.atomicDtype, dst, row, have);
  } else {
    std::memcpy(dst, row, have);
  }
}

// Columns [low, high) of one row of matrix `index`, converted.
const char* rowOf(const Drain& d, uint32_t index, uint32_t row, uint32_t low, uint32_t high) {
  static std::vector<char> out;
  const uint32_t item = kDtypeBits[static_cast<int>(d.out)] / 8;
  out.resize((high - low) * uint64_t{item});
  const char* src = static_cast<const char*>(d.src) + index * uint64_t{d.srcNdStride} * 1024;
  for (uint32_t column = low; column < high; ++column) {
    const uint64_t at = (column / 16 * uint64_t{d.srcStride} + row) * 16 + column % 16;
    convert(d, src + at * 4, column, out.data() + (column - low) * item);
  }
  return out.data();
}

bool declareSource(Instruction& run, const Drain& d, uint32_t index) {
  const char* src = static_cast<const char*>(d.src) + index * uint64_t{d.srcNdStride} * 1024;
  return run.readRows(src, (d.n + 15) / 16, d.m * 64ull, d.srcStride * 64ull, "src");
}

void drainRows(Instruction& run, const Drain& d, uint32_t item) {
  for (uint32_t index = 0; index < d.count; ++index) {
    char* dst = static_cast<char*>(d.dst) + index * uint64_t{d.dstNdStride} * item;
    if (!declareSource(run, d, index)) return;
    for (uint32_t row = 0; row < d.m; ++row) {
      store(run, dst + row * uint64_t{d.dstStride} * item, rowOf(d, index, row, 0, d.n),
            d.n * uint64_t{item});
    }
  }
}

// NZ: blocks of columns one after the other, `dstStride` blocks of 32 bytes apart.
void drainBlocks(Instruction& run, const Drain& d, uint32_t item) {
  const uint32_t width = item == 1 ? 32 : d.splits ? 8 : 16;
  if (!declareSource(run, d, 0)) return;
  for (uint32_t low = 0; low < d.n; low += width) {
    char* dst = static_cast<char*>(d.dst) + low / width * uint64_t{d.dstStride} * 32;
    const uint32_t high = std::min(d.n, low + width);
    for (uint32_t row = 0; row < d.m; ++row) {
      store(run, dst + uint64_t{row} * width * item, rowOf(d, 0, row, low, high),
            (high - low) * uint64_t{item});
    }
  }
}

}  // namespace

void setNz2nd(uint32_t count, uint32_t srcStride, uint32_t dstStride) {
  Registers& kept = registers();
  kept.count = count;
  kept.srcStride = srcStride;
  kept.dstStride = dstStride;
}

void setPreQuant(uint64_t scale) { registers().scale = scale; }

void useRegisters(Drain* d) {
  const Registers& kept = registers();
  d->count = kept.count;
  d->srcNdStride = kept.srcStride;
  d->dstNdStride = kept.dstStride;
  d->scale = kept.scale;
}

void drain(const Drain& d, const char* api) {
  Core& core = *runningCore();
  if (d.unitFlag != 0) core.join(Pipe::FIX, core.signal(Pipe::M));
  Instruction run(Pipe::FIX, api, __builtin_return_address(0));
  if (!isOnCubeCore(run)) return;
  if (!isFitting(d)) {
    run.fault(FaultCode::ARGUMENT, "quantPre does not lead from the source's type to the result's");
    return;
  }
  if (d.n == 0 || d.m == 0 || d.n > 4095 || d.m > (d.toNd ? 8192 : 65535) || d.dstStride == 0) {
    run.fault(FaultCode::ARGUMENT, "nSize %u is 1..4095, mSize %u 1..8192, dstStride %u not 0", d.n,
              d.m, d.dstStride);
    return;
  }
  run.aligned(d.src, 64, "src");
  if (d.scales != nullptr) {
    run.allow(Instruction::bit(Memory::L1) | Instruction::bit(Memory::FB));
    if (!run.read(d.scales, d.n * 8ull, "the quantisation tensor")) return;
  }
  run.allow(Instruction::bit(Memory::L0C));
  const uint32_t item = kDtypeBits[static_cast<int>(d.out)] / 8;
  d.toNd ? drainRows(run, d, item) : drainBlocks(run, d, item);
  CopyCost cost;
  cost.path = CopyPath::L0cToGm;
  cost.rows = d.m * d.count;
  cost.row_bytes = d.n * uint64_t{item};
  cost.gm = reinterpret_cast<uint64_t>(d.dst);
  cost.gm_stride = d.toNd ? d.dstStride * uint64_t{item} : 0;
  cost.converts = true;
  cost.atomic = core.atomic != Atomic::kNone;
  run.cost(cost);
}

}  // namespace kw
