// What inlined wrappers and the runtime library share: plain data and macros, no numerics.
#pragma once
#include <cstddef>
#include <cstdint>

#define KW_API __attribute__((always_inline)) inline

namespace kw {

// In the order of the timing model's pipes.
enum class Pipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX };
constexpr int kPipeCount = 7;

// Element types of a device tensor.
enum class Dtype : uint8_t {
  f16, f32, bf16, i8, u8, i16, u16, i32, u32, i64, u64, i4, f64, b8, complex64, none
};
constexpr uint32_t kDtypeBits[] = {16, 32, 16, 8, 8, 16, 16, 32, 32, 64, 64, 4, 64, 8, 64, 0};

// A core's on-chip memories: each has a 1 MiB slot of one arena, so that an address says both
// which memory it is in and where.
enum class Memory : uint8_t { UB, L1, L0A, L0B, L0C, BT, FB, SSBUF };
constexpr int kMemoryCount = 8;
constexpr int kSlotBits = 20;
constexpr uint64_t kSlotBytes = 1ull << kSlotBits;

constexpr uint32_t kScalarLines = 512;  // 64-byte lines of the scalar unit's data cache

// One line of the data cache: hits need no check, the first touch of a line does them all.
struct ScalarLine {
  uint64_t tag;    // address / 64
  uint64_t dirty;  // bytes written since the line came in
};

// The part of a running core that inlined code reads; the runtime's Core extends it.
struct CoreFace {
  uint32_t blockIdx;     // what GetBlockIdx returns
  uint32_t blockNum;     // what GetBlockNum returns
  uint32_t subBlockIdx;  // 0 or 1 for the vector cores of a MIX block
  uint32_t subBlockNum;
  uint64_t tilingKey;
  char* arena;
  // Part of UB that the scalar unit may touch without a check, until the next instruction.
  uint64_t readLow, readSpan;    // offsets in the arena
  uint64_t writeLow, writeSpan;
  uint64_t* initialised;         // one bit a byte of UB
  uint64_t scalarHits;           // GM accesses that the timing model has not yet been told of
  uint64_t scalarLocal;          // UB accesses likewise
  uint8_t coreType;              // AscendC::AIC or AIV
  ScalarLine lines[kScalarLines];
};

extern CoreFace* g_core;

// Slow paths of scalar accesses. The first checks a touch of global memory and returns whether
// it may be done; the second the same for an on-chip tensor.
bool scalarGm(const void* address, uint32_t bytes, bool isWrite, const void* value);
bool scalarLocal(const void* address, uint32_t bytes, bool isWrite);

// `value` is what a write brings: two cores may write the same.
KW_API bool mayTouchGm(const void* address, uint32_t bytes, bool isWrite, const void* value = nullptr) {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  ScalarLine& line = g_core->lines[(at >> 6) & (kScalarLines - 1)];
  const uint64_t mask = ((bytes < 64 ? 1ull << bytes : 0) - 1) << (at & 63);
  if (__builtin_expect(line.tag != at >> 6 || (isWrite && line.dirty == 0), 0)) {
    return scalarGm(address, bytes, isWrite, value);
  }
  g_core->scalarHits++;
  if (isWrite) line.dirty |= mask;
  return true;
}

KW_API bool mayReadLocal(const void* address, uint32_t bytes) {
  const uint64_t at = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(g_core->arena);
  if (__builtin_expect(at - g_core->readLow >= g_core->readSpan ||
                           (g_core->initialised[at >> 6] >> (at & 63) & 1) == 0, 0)) {
    return scalarLocal(address, bytes, false);
  }
  g_core->scalarLocal++;
  return true;
}

KW_API bool mayWriteLocal(const void* address, uint32_t bytes) {
  const uint64_t at = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(g_core->arena);
  if (__builtin_expect(at - g_core->writeLow >= g_core->writeSpan, 0)) {
    return scalarLocal(address, bytes, true);
  }
  g_core->scalarLocal++;
  g_core->initialised[at >> 6] |= ((1ull << bytes) - 1) << (at & 63);
  return true;
}

}  // namespace kw
