// One running core: its on-chip memories, the order of its pipes, its queues, its time.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include "chip.h"
#include "fault.h"
#include "hazard.h"
#include "kw/abi.h"
#include "kw/enums.h"
#include "timing.h"

namespace kw {

struct QueueState;  // queues, buffers and events of one core (queue.cpp)

// What a flag carries from SetFlag to WaitFlag.
struct Signal {
  Clock seen;
  Tick tick = 0;
  const void* pc = nullptr;
};

// A named part of an on-chip memory; accesses that start in it end in it.
struct Extent {
  uint32_t low, high;
  bool isLent;  // false after FreeTensor
};

struct LocalMemory {
  Region region;
  std::vector<Extent> extents;        // sorted by low
  std::vector<uint64_t> initialised;  // one bit a byte
  uint32_t touched = 0;               // highest byte ever written, for clearing
  uint32_t allocated = 0;             // by TPipe
  uint32_t allocatedRaw = 0;          // by LocalMemAllocator
};

struct PipeOrder {
  Clock seen;
  uint32_t ownFinished = kAlwaysFinished;
};

enum class Atomic : uint8_t { kNone, kAdd, kMax, kMin };

struct Core : CoreFace {
  uint32_t block = 0;  // block of the launch
  uint32_t sub = 0;    // 0: cube core or lone vector core; 1, 2: vector cores of a MIX block
  uint32_t index = 0;  // among all cores of the launch
  const void* pc = nullptr;  // return address of the running wrapper
  PipeOrder pipes[kPipeCount];
  LocalMemory memories[kMemoryCount];
  CoreClock* clock = nullptr;
  std::unique_ptr<QueueState> queues;
  uint64_t maskHigh = ~0ull, maskLow = ~0ull;
  AscendC::MaskMode maskMode = AscendC::MaskMode::NORMAL;
  Atomic atomic = Atomic::kNone;
  Dtype atomicDtype = Dtype::f32;
  uint64_t instructions = 0;
  // What this core knows of the others: how far each one's pipes are finished. Null: nothing.
  std::shared_ptr<const std::vector<Clock>> known;

  Core();
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  void begin(uint32_t launchBlock, uint32_t launchSub, uint32_t launchIndex);

  // The pipe's next signal: everything issued on it so far.
  Signal signal(Pipe pipe);
  void join(Pipe pipe, const Signal& signal);
  void barrierAll();
  Viewer viewer(Pipe pipe) const;
  void forgetScalarWindow() { readSpan = writeSpan = 0; }
  void tellScalarTime();  // gives the timing model the scalar accesses counted inline
};

inline Core* runningCore() { return static_cast<Core*>(g_core); }

// Where an address lies on the running core's chip.
struct LocalPlace {
  Memory memory;
  uint32_t offset;
  bool isLocal;
};
inline LocalPlace placeOf(const Core& core, const void* address) {
  const uint64_t at = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(core.arena);
  if (at >= kSlotBytes * kMemoryCount) return {Memory::UB, 0, false};
  return {static_cast<Memory>(at >> kSlotBits), static_cast<uint32_t>(at & (kSlotBytes - 1)), true};
}
const char* memoryName(Memory memory);
Memory memoryOf(AscendC::TPosition position);
uint32_t memoryBytes(Memory memory);

void markInitialised(LocalMemory& memory, uint32_t low, uint32_t high);
// How many bytes of [low, high) were written before: all, some or none.
enum class Filled : uint8_t { kNone, kSome, kAll };
Filled filled(const LocalMemory& memory, uint32_t low, uint32_t high);
const Extent* extentAt(const LocalMemory& memory, uint32_t offset);

}  // namespace kw
