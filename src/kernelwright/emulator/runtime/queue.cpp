// TQue: lending buffers, and the flags that a queue carries between its two pipes.
#include <algorithm>
#include "launch.h"
#include "queue_state.h"

namespace kw {

uint32_t takeBytes(Memory memory, Range* range, uint32_t bytes);
void countBuffers(uint32_t count);

namespace {

using P = AscendC::TPosition;

LocalMemory& memoryOfQueue(const Queue& queue) {
  return runningCore()->memories[static_cast<int>(memoryOf(queue.spec.position))];
}

AscendC::TBuffAddr addressOf(const Queue& queue, Buffer& buffer) {
  AscendC::TBuffAddr out;
  out.logicPos = static_cast<uint8_t>(queue.spec.position);
  out.bufferHandle = &buffer;
  out.dataLen = buffer.high - buffer.low;
  out.bufferAddr = buffer.low;
  return out;
}

AscendC::TBuffAddr nowhere(const char* what) {
  fault(FaultCode::QUEUE_NOT_INITIALISED, FaultPlace(), "%s before pipe.InitBuffer of the queue", what);
  AscendC::TBuffAddr out;
  out.bufferAddr = static_cast<uint32_t>(kSlotBytes * kMemoryCount);  // outside every memory
  return out;
}

// The limit is that of event ids. Tensors that are never put into a queue take none, and neither
// does a queue inside one pipe; so a position is at fault only once it also enqueues.
void countLive(const Queue& queue, int change) {
  LiveTensors& live = runningCore()->queues->live[static_cast<size_t>(queue.spec.position)];
  live.count = static_cast<uint32_t>(static_cast<int>(live.count) + change);
  const PipePair pipes = queuePipes(queue.spec.source, queue.spec.destination);
  if (change < 0 || live.count <= chip().live_tensors || pipes.producer == pipes.consumer) return;
  if (live.pc == nullptr) live.pc = runningCore()->pc;
  live.most = std::max(live.most, live.count);
}

void checkLive(const Queue& queue) {
  LiveTensors& live = runningCore()->queues->live[static_cast<size_t>(queue.spec.position)];
  if (live.count <= chip().live_tensors || live.pc == nullptr) return;
  live.isReported = true;
  FaultPlace place;
  place.pc = live.pc;
  fault(FaultCode::TOO_MANY_LIVE_TENSORS, place, "AllocTensor makes %u live tensors of %s; %u is the most",
        live.most, positionName(queue.spec.position), chip().live_tensors);
}

Buffer* findFree(Queue& queue) {
  const size_t count = queue.buffers.size();
  for (size_t i = 0; i < count; ++i) {
    Buffer& buffer = queue.buffers[(queue.next + i) % count];
    if (buffer.state != BufferState::kFree) continue;
    queue.next = static_cast<uint32_t>((queue.next + i + 1) % count);
    return &buffer;
  }
  return nullptr;
}

Buffer* stealBuffer(Queue& queue) {
  fault(FaultCode::QUEUE_NO_FREE_BUFFER, FaultPlace(),
        "AllocTensor: all %zu buffers of the %s queue are in use (the last was lent{other}); is a "
        "FreeTensor missing?",
        queue.buffers.size(), positionName(queue.spec.position));
  Buffer& buffer = queue.buffers[queue.next];
  queue.next = static_cast<uint32_t>((queue.next + 1) % queue.buffers.size());
  queue.waiting.erase(std::remove(queue.waiting.begin(), queue.waiting.end(), &buffer),
                      queue.waiting.end());
  countLive(queue, -1);
  return &buffer;
}

bool isForeign(const Queue* queue, const Buffer* buffer, const char* what) {
  if (buffer != nullptr && buffer->queue == queue) return false;
  fault(FaultCode::QUEUE_FOREIGN_TENSOR, FaultPlace(),
        "%s gets a tensor that this %s queue did not lend", what, positionName(queue->spec.position));
  return true;
}

}  // namespace

const char* positionName(P position) {
  constexpr const char* kNames[] = {"GM", "A1", "A2", "B1", "B2", "C1", "C2", "CO1", "CO2", "VECIN",
                                    "VECOUT", "VECCALC", "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL"};
  return kNames[static_cast<size_t>(position)];
}

PipePair queuePipes(P source, P destination) {
  Pipe producer = Pipe::V;
  switch (source) {
    case P::GM: case P::VECIN: producer = Pipe::MTE2; break;
    case P::A1: case P::B1: case P::C1: case P::TSCM: producer = Pipe::MTE1; break;
    case P::CO1: producer = Pipe::M; break;
    default: break;
  }
  Pipe consumer = Pipe::V;
  switch (destination) {
    case P::GM: case P::VECOUT: consumer = Pipe::MTE3; break;
    case P::A1: case P::B1: case P::C1: case P::TSCM: consumer = Pipe::MTE1; break;
    case P::A2: case P::B2: case P::C2: consumer = Pipe::M; break;
    case P::CO2: case P::C2PIPE2GM: consumer = Pipe::FIX; break;
    default: break;
  }
  if (source == P::CO1 && destination == P::GM) consumer = Pipe::FIX;
  return {producer, consumer};
}

Queue* queueInit(Queue* queue, const QueueSpec& spec, Range* range, uint32_t count, uint32_t bytes) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  const auto& own = core.queues->queues;
  const bool isOwn = std::any_of(own.begin(), own.end(), [&](const auto& each) { return each.get() == queue; });
  if (!isOwn) {  // first use; or the queue object outlived an earlier core
    core.queues->queues.push_back(std::make_unique<Queue>());
    queue = core.queues->queues.back().get();
  }
  countBuffers(count);
  queue->spec = spec;
  queue->waiting.clear();
  queue->buffers.assign(count, Buffer());
  queue->next = 0;
  const uint32_t size = (bytes + 31) / 32 * 32;
  for (Buffer& buffer : queue->buffers) {
    buffer.queue = queue;
    buffer.low = takeBytes(memoryOf(spec.position), range, size);
    buffer.high = buffer.low + size;
    addExtent(memoryOfQueue(*queue), {buffer.low, buffer.high, true});
  }
  return queue;
}

AscendC::TBuffAddr queueAlloc(Queue* queue, uint32_t) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  if (queue == nullptr || queue->buffers.empty()) return nowhere("AllocTensor");
  Buffer* buffer = findFree(*queue);
  if (buffer == nullptr) buffer = stealBuffer(*queue);
  countLive(*queue, 1);
  if (buffer->hasFreed) {
    core.join(queuePipes(queue->spec.source, queue->spec.destination).producer, buffer->freed);
  }
  buffer->state = BufferState::kLent;
  buffer->allocPc = core.pc;
  markLent(memoryOfQueue(*queue), buffer->low, true);
  return addressOf(*queue, *buffer);
}

void queueFree(Queue* queue, Buffer* buffer) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  if (queue == nullptr) {
    nowhere("FreeTensor");
    return;
  }
  if (isForeign(queue, buffer, "FreeTensor")) return;
  if (buffer->state == BufferState::kFree) {
    fault(FaultCode::TENSOR_FREED_TWICE, FaultPlace(), "FreeTensor of a tensor that is free already");
    return;
  }
  if (buffer->state == BufferState::kQueued) {
    queue->waiting.erase(std::remove(queue->waiting.begin(), queue->waiting.end(), buffer),
                         queue->waiting.end());
  }
  buffer->freed = core.signal(queuePipes(queue->spec.source, queue->spec.destination).consumer);
  buffer->hasFreed = true;
  buffer->state = BufferState::kFree;
  countLive(*queue, -1);
  markLent(memoryOfQueue(*queue), buffer->low, false);
}

bool queueEnqueue(Queue* queue, Buffer* buffer, P source, P destination) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  if (queue == nullptr) {
    nowhere("EnQue");
    return false;
  }
  if (isForeign(queue, buffer, "EnQue")) return false;
  const auto depth = static_cast<size_t>(queue->spec.depth > 0 ? queue->spec.depth : 1);
  if (queue->waiting.size() >= depth) {
    fault(FaultCode::QUEUE_FULL, FaultPlace(),
          "EnQue: the %s queue of depth %zu holds %zu tensors already", positionName(queue->spec.position),
          depth, queue->waiting.size());
  }
  checkLive(*queue);
  buffer->filled = core.signal(queuePipes(source, destination).producer);
  buffer->state = BufferState::kQueued;
  queue->waiting.push_back(buffer);
  return true;
}

AscendC::TBuffAddr queueDequeue(Queue* queue, P source, P destination) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  if (queue == nullptr || queue->buffers.empty()) return nowhere("DeQue");
  if (queue->waiting.empty()) {
    fault(FaultCode::QUEUE_EMPTY, FaultPlace(), "DeQue: the %s queue is empty",
          positionName(queue->spec.position));
    return addressOf(*queue, queue->buffers[0]);
  }
  Buffer* buffer = queue->waiting.front();
  queue->waiting.erase(queue->waiting.begin());
  buffer->state = BufferState::kDequeued;
  core.join(queuePipes(source, destination).consumer, buffer->filled);
  return addressOf(*queue, *buffer);
}

int32_t queueLength(const Queue* queue) {
  return queue == nullptr ? 0 : static_cast<int32_t>(queue->waiting.size());
}

bool queueHasIdle(const Queue* queue) {
  if (queue == nullptr) return false;
  return std::any_of(queue->buffers.begin(), queue->buffers.end(),
                     [](const Buffer& buffer) { return buffer.state == BufferState::kFree; });
}

bool queueIsFull(const Queue* queue) {
  return queue == nullptr ||
         queue->waiting.size() >= static_cast<size_t>(std::max(queue->spec.depth, 1));
}

void queueFreeEvents(Queue* queue) {
  if (queue == nullptr) return;
  for (Buffer& buffer : queue->buffers) {
    if (!buffer.hasFreed) continue;
    runningCore()->join(queuePipes(queue->spec.source, queue->spec.destination).producer, buffer.freed);
    buffer.hasFreed = false;
  }
}

AscendC::TBuffAddr bufferAddress(const Buffer* buffer) {
  return addressOf(*buffer->queue, *const_cast<Buffer*>(buffer));
}

Buffer* queueBuffer(Queue* queue, uint32_t index) { return &queue->buffers[index]; }

}  // namespace kw
