// Queues, buffers and pipes as the runtime library knows them.
#pragma once
#include "kw/abi.h"
#include "kw/local_tensor.h"

namespace kw {

struct Queue;
struct Range;  // a part of one on-chip memory from which buffers are handed out

struct QueueSpec {
  AscendC::TPosition source;       // producer's side
  AscendC::TPosition destination;  // consumer's side
  AscendC::TPosition position;     // where the buffers are
  int32_t depth;
};

// A TPipe begins: its allocations start anew. Returns the range it hands out.
void pipeOpen(const void* pipe);
void pipeClose(const void* pipe);
void pipeReset();
Queue* queueInit(Queue* queue, const QueueSpec& spec, Range* range, uint32_t count, uint32_t bytes);
AscendC::TBuffAddr queueAlloc(Queue* queue, uint32_t itemBytes);
void queueFree(Queue* queue, Buffer* buffer);
bool queueEnqueue(Queue* queue, Buffer* buffer, AscendC::TPosition source,
                  AscendC::TPosition destination);
AscendC::TBuffAddr queueDequeue(Queue* queue, AscendC::TPosition source,
                                AscendC::TPosition destination);
int32_t queueLength(const Queue* queue);
bool queueHasIdle(const Queue* queue);
bool queueIsFull(const Queue* queue);
void queueFreeEvents(Queue* queue);
AscendC::TBuffAddr bufferAddress(const Buffer* buffer);
Buffer* queueBuffer(Queue* queue, uint32_t index);

// TBuf, TBufPool and stack memory.
AscendC::TBuffAddr plainBuffer(AscendC::TPosition position, Range* range, uint32_t bytes);
Range* poolInit(AscendC::TPosition position, Range* outer, uint32_t bytes, Range* shared);
void poolReset(Range* range);
AscendC::TBuffAddr stackBuffer(AscendC::TPosition position);
AscendC::TBuffAddr allocLocal(AscendC::TPosition position, uint32_t bytes);
uint32_t allocatedLocal(AscendC::TPosition position);
// A part of a TBuf: reports what lies past its end.
void checkPart(const AscendC::TBuffAddr& buffer, uint64_t offset, uint64_t bytes);

// Events that a pipe hands out.
int8_t eventFetch(AscendC::HardEvent event);
int8_t eventAlloc(AscendC::HardEvent event);
void eventRelease(AscendC::HardEvent event, int8_t id);

template <typename T>
KW_API AscendC::LocalTensor<T> tensorAt(const AscendC::TBuffAddr& address) {
  AscendC::LocalTensor<T> out;
  out.SetAddr(address);
  return out;
}

}  // namespace kw
