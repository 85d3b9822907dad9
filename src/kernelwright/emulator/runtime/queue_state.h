// Queues, buffers and event flags of one core.
#pragma once
#include <array>
#include <memory>
#include <vector>
#include "core.h"
#include "kw/queue_abi.h"

namespace kw {

enum class BufferState : uint8_t { kFree, kLent, kQueued, kDequeued };

struct Buffer {
  Queue* queue = nullptr;
  uint32_t low = 0, high = 0;
  BufferState state = BufferState::kFree;
  bool hasFreed = false;  // `freed` holds the signal of the last FreeTensor
  Signal freed;           // what AllocTensor waits for
  Signal filled;          // what DeQue waits for
  const void* allocPc = nullptr;
};

struct Queue {
  QueueSpec spec{};
  std::vector<Buffer> buffers;
  std::vector<Buffer*> waiting;  // EnQue'd, in order
  uint32_t next = 0;            // where the search for a free buffer starts
};

// A part of a memory that a TPipe or a TBufPool hands out.
struct Range {
  Memory memory = Memory::UB;
  uint32_t low = 0, high = 0;
  uint32_t used = 0;  // from low on
  std::vector<Extent> extents;
};

struct Flag {
  std::vector<Signal> set;  // in order; more than one is a fault
  const void* pc = nullptr;
};

struct LiveTensors {
  uint32_t count = 0, most = 0;
  const void* pc = nullptr;  // the AllocTensor that passed the limit
  bool isReported = false;
};

constexpr int kEventIds = 8;

struct QueueState {
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<std::unique_ptr<Range>> ranges;
  const void* pipe = nullptr;  // the TPipe object that is open
  uint32_t buffers = 0;        // of the open TPipe
  bool isOverReported = false;
  std::array<LiveTensors, 32> live{};  // by position
  Flag flags[kPipeCount][kPipeCount][kEventIds];
  uint8_t taken[kPipeCount][kPipeCount] = {};   // ids that AllocEventID lent
  uint8_t fetched[kPipeCount][kPipeCount] = {};  // next id of FetchEventID
};

// Adds a buffer's place to a memory, so that overruns of it are seen.
void addExtent(LocalMemory& memory, const Extent& extent);
void markLent(LocalMemory& memory, uint32_t low, bool isLent);

struct PipePair { Pipe producer, consumer; };
PipePair queuePipes(AscendC::TPosition source, AscendC::TPosition destination);
const char* positionName(AscendC::TPosition position);

}  // namespace kw
