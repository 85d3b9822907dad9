// On-chip memories: where an address is, what was written, which buffer it belongs to.
#include <sys/mman.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include "core.h"

namespace kw {

namespace {

KwChip g_chip = {196608, 196352, 524288, 65536, 65536, 131072, 1024, 2048, 48, 24, 8};
constexpr uint64_t kArenaBytes = kSlotBytes * kMemoryCount;

}  // namespace

const KwChip& chip() { return g_chip; }

const char* memoryName(Memory memory) {
  constexpr const char* kNames[kMemoryCount] = {"UB", "L1", "L0A", "L0B", "L0C", "BT", "FB", "SSBUF"};
  return kNames[static_cast<int>(memory)];
}

uint32_t memoryBytes(Memory memory) {
  const uint32_t sizes[kMemoryCount] = {g_chip.ub_bytes,  g_chip.l1_bytes, g_chip.l0a_bytes,
                                        g_chip.l0b_bytes, g_chip.l0c_bytes, g_chip.bt_bytes,
                                        g_chip.fb_bytes,  3072};
  return sizes[static_cast<int>(memory)];
}

Memory memoryOf(AscendC::TPosition position) {
  using P = AscendC::TPosition;
  switch (position) {
    case P::A1: case P::B1: case P::C1: case P::TSCM: case P::SPM: return Memory::L1;
    case P::A2: return Memory::L0A;
    case P::B2: return Memory::L0B;
    case P::C2: return Memory::BT;
    case P::CO1: return Memory::L0C;
    case P::C2PIPE2GM: return Memory::FB;
    default: return Memory::UB;
  }
}

char* localBase(AscendC::TPosition position) {
  return g_core->arena + (static_cast<uint64_t>(memoryOf(position)) << kSlotBits);
}

void markInitialised(LocalMemory& memory, uint32_t low, uint32_t high) {
  if (memory.initialised.empty()) memory.initialised.resize(kSlotBytes / 64);
  memory.touched = std::max(memory.touched, high);
  uint64_t* words = memory.initialised.data();
  const uint32_t first = low >> 6;
  const uint32_t last = (high - 1) >> 6;
  const uint64_t head = ~0ull << (low & 63);
  const uint64_t tail = ~0ull >> (63 - ((high - 1) & 63));
  if (first == last) {
    words[first] |= head & tail;
    return;
  }
  words[first] |= head;
  std::fill(words + first + 1, words + last, ~0ull);
  words[last] |= tail;
}

Filled filled(const LocalMemory& memory, uint32_t low, uint32_t high) {
  if (memory.initialised.empty()) return Filled::kNone;
  const uint64_t* words = memory.initialised.data();
  uint64_t all = ~0ull;
  uint64_t any = 0;
  const uint32_t first = low >> 6;
  const uint32_t last = (high - 1) >> 6;
  for (uint32_t i = first; i <= last; ++i) {
    uint64_t mask = ~0ull;
    if (i == first) mask &= ~0ull << (low & 63);
    if (i == last) mask &= ~0ull >> (63 - ((high - 1) & 63));
    all &= words[i] | ~mask;
    any |= words[i] & mask;
  }
  if (all == ~0ull) return Filled::kAll;
  return any == 0 ? Filled::kNone : Filled::kSome;
}

const Extent* extentAt(const LocalMemory& memory, uint32_t offset) {
  auto after = std::upper_bound(memory.extents.begin(), memory.extents.end(), offset,
                                [](uint32_t at, const Extent& extent) { return at < extent.low; });
  if (after == memory.extents.begin()) return nullptr;
  --after;
  return offset < after->high ? &*after : nullptr;
}

// One arena a core, aligned to a slot so that alignment shows in the address.
char* takeArena() {
  void* raw = mmap(nullptr, kArenaBytes + kSlotBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) std::abort();
  char* start = static_cast<char*>(raw);
  char* arena = reinterpret_cast<char*>((reinterpret_cast<uint64_t>(raw) + kSlotBytes - 1) &
                                        ~(kSlotBytes - 1));
  const auto before = static_cast<size_t>(arena - start);
  if (before != 0) munmap(start, before);
  munmap(arena + kArenaBytes, kSlotBytes - before);
  return arena;
}

void giveArena(char* arena) { munmap(arena, kArenaBytes); }

void clearMemories(Core& core) {
  for (LocalMemory& memory : core.memories) {
    memory.region.clear();
    memory.extents.clear();
    memory.allocated = memory.allocatedRaw = 0;
    if (memory.touched != 0) {
      const uint32_t words = (memory.touched + 63) / 64;
      std::fill(memory.initialised.begin(), memory.initialised.begin() + words, 0ull);
    }
    memory.touched = 0;
  }
  LocalMemory& ub = core.memories[static_cast<int>(Memory::UB)];
  if (ub.initialised.empty()) ub.initialised.resize(kSlotBytes / 64);
  core.initialised = ub.initialised.data();
  // The scalar unit marks bytes without telling `touched`.
  std::fill(ub.initialised.begin(), ub.initialised.begin() + (chip().ub_bytes + 63) / 64, 0ull);
}

}  // namespace kw

extern "C" void kw_configure_chip(const KwChip* chip) { kw::g_chip = *chip; }
