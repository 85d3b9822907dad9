// Flags and barriers between the pipes of one core, and what a core must have given back at its end.
#include "kw/event.h"

#include "launch.h"
#include "queue_state.h"
#include "report.h"

namespace kw {

namespace {

const char* label(Pipe pipe) { return kPipeLabels[static_cast<int>(pipe)]; }

Flag* flagOf(Core& core, Pipe from, Pipe to, int32_t id, const char* what) {
  if (id < 0 || id >= kEventIds) {
    fault(FaultCode::EVENT_ID, FaultPlace(), "%s<%s_%s>(%d): ids are 0 to 7", what, label(from),
          label(to), id);
    return nullptr;
  }
  return &core.queues->flags[static_cast<int>(from)][static_cast<int>(to)][id];
}

}  // namespace

void setFlag(Pipe from, Pipe to, int32_t id) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  Flag* flag = flagOf(core, from, to, id, "SetFlag");
  if (flag == nullptr) return;
  if (!flag->set.empty()) {
    fault(FaultCode::EVENT_SET_TWICE, FaultPlace(),
          "SetFlag<%s_%s>(%d): the flag is set already and nothing has waited for it", label(from),
          label(to), id);
  }
  flag->set.push_back(core.signal(from));
}

void waitFlag(Pipe from, Pipe to, int32_t id) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  Flag* flag = flagOf(core, from, to, id, "WaitFlag");
  if (flag == nullptr) return;
  if (flag->set.empty()) {
    fault(FaultCode::DEAD_WAIT, FaultPlace(),
          "WaitFlag<%s_%s>(%d): no SetFlag with this event and id has come before", label(from),
          label(to), id);
    return;
  }
  core.join(to, flag->set.front());
  flag->set.erase(flag->set.begin());
}

void pipeBarrier(Pipe pipe) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  PipeOrder& order = core.pipes[static_cast<int>(pipe)];
  if (order.ownFinished != kAlwaysFinished) {
    order.ownFinished = order.seen.at[static_cast<int>(pipe)];
    order.seen.at[static_cast<int>(pipe)]++;
  }
  core.tellScalarTime();
  core.clock->barrier(static_cast<TimedPipe>(pipe));
}

void pipeBarrierAll() {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  core.barrierAll();
}

int8_t eventFetch(AscendC::HardEvent event) {
  const EventPipes pipes = eventPipes(event);
  QueueState& state = *runningCore()->queues;
  const uint8_t taken = state.taken[static_cast<int>(pipes.from)][static_cast<int>(pipes.to)];
  for (int8_t id = 0; id < kEventIds; ++id) {
    if ((taken >> id & 1) == 0) return id;
  }
  return 0;
}

int8_t eventAlloc(AscendC::HardEvent event) {
  runningCore()->pc = __builtin_return_address(0);
  const EventPipes pipes = eventPipes(event);
  uint8_t& taken = runningCore()->queues->taken[static_cast<int>(pipes.from)][static_cast<int>(pipes.to)];
  for (int8_t id = 0; id < kEventIds; ++id) {
    if ((taken >> id & 1) != 0) continue;
    taken = static_cast<uint8_t>(taken | 1u << id);
    return id;
  }
  fault(FaultCode::EVENT_ID, FaultPlace(), "AllocEventID<%s_%s>: all 8 ids are in use",
        label(pipes.from), label(pipes.to));
  return 0;
}

void eventRelease(AscendC::HardEvent event, int8_t id) {
  const EventPipes pipes = eventPipes(event);
  uint8_t& taken = runningCore()->queues->taken[static_cast<int>(pipes.from)][static_cast<int>(pipes.to)];
  taken = static_cast<uint8_t>(taken & ~(1u << id));
}

namespace {

void reportLeaks(Queue& queue) {
  for (Buffer& buffer : queue.buffers) {
    if (buffer.state == BufferState::kFree) continue;
    FaultPlace place;
    place.pc = buffer.allocPc;
    fault(FaultCode::TENSOR_NOT_FREED, place,
          buffer.state == BufferState::kQueued
              ? "a tensor of the %s queue is still queued when the kernel ends"
              : "a tensor of the %s queue is not freed when the kernel ends",
          positionName(queue.spec.position));
    buffer.state = BufferState::kFree;
  }
}

void reportLive(QueueState& state) {
  for (size_t position = 0; position < state.live.size(); ++position) {
    LiveTensors& live = state.live[position];
    if (live.pc != nullptr && !live.isReported) {
      FaultPlace place;
      place.pc = live.pc;
      fault(FaultCode::LIVE_TENSORS_UNQUEUED, place,
            "AllocTensor makes %u live tensors of %s; %u is the most that may also be enqueued", live.most,
            positionName(static_cast<AscendC::TPosition>(position)), chip().live_tensors);
    }
    live = {};
  }
}

void reportFlags(QueueState& state) {
  for (int from = 0; from < kPipeCount; ++from) {
    for (int to = 0; to < kPipeCount; ++to) {
      for (Flag& flag : state.flags[from][to]) {
        if (flag.set.empty()) continue;
        FaultPlace place;
        place.pc = flag.set.front().pc;
        fault(FaultCode::EVENT_NOT_WAITED, place, "SetFlag<%s_%s>: nothing waits for it before the "
              "kernel ends", kPipeLabels[from], kPipeLabels[to]);
        flag.set.clear();
      }
    }
  }
}

}  // namespace

void endQueues(Core& core) {
  QueueState& state = *core.queues;
  for (const auto& queue : state.queues) reportLeaks(*queue);
  reportLive(state);
  reportFlags(state);
}

}  // namespace kw
