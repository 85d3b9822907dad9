// Who gets which part of the on-chip memories: TPipe, TBuf, TBufPool, LocalMemAllocator.
#include <algorithm>
#include <cstring>
#include "kw/pipe.h"
#include "launch.h"
#include "queue_state.h"

namespace kw {

namespace {

constexpr uint32_t kMostBuffers = 64;

uint32_t roundedUp(uint32_t bytes) { return (bytes + 31) / 32 * 32; }

LocalMemory& memoryOfCore(Memory memory) { return runningCore()->memories[static_cast<int>(memory)]; }

void checkAllocated(Memory memory, uint32_t allocated) {
  QueueState& state = *runningCore()->queues;
  if (memory == Memory::UB && allocated > chip().ub_usable_bytes && allocated <= chip().ub_bytes) {
    fault(FaultCode::UB_NEARLY_FULL, FaultPlace(),
          "InitBuffer has handed out %u bytes of UB; %u are free for buffers", allocated,
          chip().ub_usable_bytes);
  }
  if (allocated <= memoryBytes(memory) || state.isOverReported) return;
  state.isOverReported = true;
  fault(FaultCode::UB_OVER_ALLOCATED, FaultPlace(),
        "InitBuffer has handed out %u bytes of %s, which has %u", allocated, memoryName(memory),
        memoryBytes(memory));
}

// Fresh memory holds what an earlier kernel left: nothing that a kernel may count on.
void poison(Core& core, Memory memory, uint32_t low, uint32_t high) {
  if (launchIsTimingOnly() || high > kSlotBytes) return;
  std::memset(core.arena + (static_cast<uint64_t>(memory) << kSlotBits) + low, 0xff, high - low);
}

}  // namespace

void addExtent(LocalMemory& memory, const Extent& extent) {
  auto& all = memory.extents;
  all.erase(std::remove_if(all.begin(), all.end(), [&](const Extent& other) {
    return other.low < extent.high && extent.low < other.high;
  }), all.end());
  all.insert(std::upper_bound(all.begin(), all.end(), extent, [](const Extent& a, const Extent& b) {
    return a.low < b.low;
  }), extent);
}

void markLent(LocalMemory& memory, uint32_t low, bool isLent) {
  for (Extent& extent : memory.extents) {
    if (extent.low == low) extent.isLent = isLent;
  }
}

// `count` buffers of `bytes` each from a range, or from the TPipe's own part of the memory.
uint32_t takeBytes(Memory memory, Range* range, uint32_t bytes) {
  uint32_t low = 0;
  if (range != nullptr) {
    low = range->low + range->used;
    range->used += bytes;
    if (low + bytes > range->high) {
      fault(FaultCode::ARGUMENT, FaultPlace(), "InitBuffer takes %u bytes more than the pool has",
            low + bytes - range->high);
    }
    return low;
  }
  LocalMemory& local = memoryOfCore(memory);
  low = local.allocated;
  local.allocated += bytes;
  checkAllocated(memory, local.allocated);
  poison(*runningCore(), memory, low, low + bytes);
  return low;
}

void countBuffers(uint32_t count) {
  QueueState& state = *runningCore()->queues;
  state.buffers += count;
  if (state.buffers > kMostBuffers) {
    fault(FaultCode::TOO_MANY_BUFFERS, FaultPlace(), "InitBuffer has made %u buffers; %u is the most",
          state.buffers, kMostBuffers);
  }
}

void pipeOpen(const void* pipe) {
  if (runningCore() == nullptr) return;  // a global object: the first InitBuffer finds it open
  Core& core = *runningCore();
  core.queues->pipe = pipe;
  pipeReset();
}

void pipeReset() {
  Core& core = *runningCore();
  core.queues->buffers = 0;
  core.queues->isOverReported = false;
  for (LocalMemory& memory : core.memories) {
    memory.allocated = 0;
    memory.extents.clear();
  }
}

void pipeClose(const void* pipe) {
  Core* core = runningCore();
  if (core == nullptr || core->queues->pipe != pipe) return;
  endQueues(*core);
  core->barrierAll();
}

AscendC::TBuffAddr plainBuffer(AscendC::TPosition position, Range* range, uint32_t bytes) {
  runningCore()->pc = __builtin_return_address(0);
  const Memory memory = memoryOf(position);
  const uint32_t size = roundedUp(bytes);
  countBuffers(1);
  AscendC::TBuffAddr out;
  out.logicPos = static_cast<uint8_t>(position);
  out.bufferAddr = takeBytes(memory, range, size);
  out.dataLen = size;
  addExtent(memoryOfCore(memory), {out.bufferAddr, out.bufferAddr + size, true});
  return out;
}

Range* poolInit(AscendC::TPosition position, Range* outer, uint32_t bytes, Range* shared) {
  runningCore()->pc = __builtin_return_address(0);
  QueueState& state = *runningCore()->queues;
  auto range = std::make_unique<Range>();
  range->memory = memoryOf(position);
  const uint32_t size = roundedUp(bytes);
  range->low = shared != nullptr ? shared->low : takeBytes(range->memory, outer, size);
  range->high = range->low + size;
  state.ranges.push_back(std::move(range));
  return state.ranges.back().get();
}

void poolReset(Range* range) {
  if (range == nullptr) return;
  range->used = 0;
  auto& extents = memoryOfCore(range->memory).extents;
  extents.erase(std::remove_if(extents.begin(), extents.end(), [&](const Extent& extent) {
    return extent.low >= range->low && extent.high <= range->high;
  }), extents.end());
}

AscendC::TBuffAddr stackBuffer(AscendC::TPosition position) {
  const Memory memory = memoryOf(position);
  const uint32_t usable = memory == Memory::UB ? chip().ub_usable_bytes : memoryBytes(memory);
  AscendC::TBuffAddr out;
  out.logicPos = static_cast<uint8_t>(position);
  out.bufferAddr = memoryOfCore(memory).allocated;
  out.dataLen = usable > out.bufferAddr ? (usable - out.bufferAddr) / 32 * 32 : 0;
  return out;
}

AscendC::TBuffAddr allocLocal(AscendC::TPosition position, uint32_t bytes) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  const Memory memory = memoryOf(position);
  LocalMemory& local = memoryOfCore(memory);
  AscendC::TBuffAddr out;
  out.logicPos = static_cast<uint8_t>(position);
  out.bufferAddr = local.allocatedRaw;
  out.dataLen = bytes;
  local.allocatedRaw += roundedUp(bytes);
  checkAllocated(memory, local.allocatedRaw);
  poison(core, memory, out.bufferAddr, local.allocatedRaw);
  addExtent(local, {out.bufferAddr, local.allocatedRaw, true});
  return out;
}

uint32_t allocatedLocal(AscendC::TPosition position) {
  return memoryOfCore(memoryOf(position)).allocatedRaw;
}

void checkPart(const AscendC::TBuffAddr& buffer, uint64_t offset, uint64_t bytes) {
  runningCore()->pc = __builtin_return_address(0);
  if (buffer.dataLen == 0) {
    fault(FaultCode::QUEUE_NOT_INITIALISED, FaultPlace(), "TBuf::Get before pipe.InitBuffer");
    return;
  }
  fault(FaultCode::BUFFER_OVERREAD, FaultPlace(),
        "TBuf::Get asks for bytes %llu to %llu of a buffer of %u bytes",
        static_cast<unsigned long long>(offset), static_cast<unsigned long long>(offset + bytes),
        buffer.dataLen);
}

AscendC::ShapeInfo* keepShape(const AscendC::ShapeInfo& info) {
  static std::vector<std::unique_ptr<AscendC::ShapeInfo>> kept;
  if (kept.size() > 4096) kept.erase(kept.begin(), kept.begin() + 2048);
  kept.push_back(std::make_unique<AscendC::ShapeInfo>(info));
  return kept.back().get();
}

const AscendC::ShapeInfo& emptyShape() {
  static const AscendC::ShapeInfo empty;
  return empty;
}

}  // namespace kw

AscendC::TPipe* GetTPipePtr() {
  return static_cast<AscendC::TPipe*>(const_cast<void*>(kw::runningCore()->queues->pipe));
}
