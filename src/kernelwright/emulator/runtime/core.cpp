#include "core.h"

#include <cstring>
#include "launch.h"
#include "queue_state.h"

namespace kw {

char* takeArena();
void giveArena(char* arena);
void clearMemories(Core& core);

namespace {
// UB accesses in a row overlap: less than one alone costs.
constexpr uint64_t kScalarLocalCycles = 4;
}  // namespace

CoreFace* g_core = nullptr;

Core::Core() : CoreFace{} { arena = takeArena(); }
Core::~Core() { giveArena(arena); }

void Core::begin(uint32_t launchBlock, uint32_t launchSub, uint32_t launchIndex) {
  block = launchBlock;
  sub = launchSub;
  index = launchIndex;
  pc = nullptr;
  for (int i = 0; i < kPipeCount; ++i) {
    pipes[i] = PipeOrder();
    pipes[i].seen.at[i] = 1;
    if (launchIsStrict() && i == static_cast<int>(Pipe::V)) pipes[i].ownFinished = 0;
  }
  clearMemories(*this);
  queues = std::make_unique<QueueState>();
  maskHigh = maskLow = ~0ull;
  maskMode = AscendC::MaskMode::NORMAL;
  atomic = Atomic::kNone;
  instructions = scalarHits = scalarLocal = 0;
  known.reset();
  forgetScalarWindow();
  for (ScalarLine& line : lines) line = {~0ull, 0};
}

Signal Core::signal(Pipe pipe) {
  tellScalarTime();
  const int p = static_cast<int>(pipe);
  if (pipe != Pipe::S) pipes[p].seen.join(pipes[0].seen);
  Signal out{pipes[p].seen, clock->signal(static_cast<TimedPipe>(pipe)), pc};
  pipes[p].seen.at[p]++;
  return out;
}

void Core::join(Pipe pipe, const Signal& signal) {
  PipeOrder& order = pipes[static_cast<int>(pipe)];
  order.seen.join(signal.seen);
  if (order.ownFinished < signal.seen.at[static_cast<int>(pipe)]) {
    order.ownFinished = signal.seen.at[static_cast<int>(pipe)];
  }
  clock->wait(static_cast<TimedPipe>(pipe), signal.tick);
}

void Core::barrierAll() {
  tellScalarTime();
  Clock all;
  for (int i = 0; i < kPipeCount; ++i) {
    all.join(pipes[i].seen);
    if (pipes[i].ownFinished != kAlwaysFinished) pipes[i].ownFinished = pipes[i].seen.at[i];
  }
  for (int i = 0; i < kPipeCount; ++i) {
    pipes[i].seen.join(all);
    pipes[i].seen.at[i]++;
  }
  clock->barrier_all();
}

Viewer Core::viewer(Pipe pipe) const {
  const PipeOrder& order = pipes[static_cast<int>(pipe)];
  return {static_cast<uint8_t>(pipe), order.seen.at[static_cast<int>(pipe)], order.ownFinished,
          &order.seen, pc};
}

void Core::tellScalarTime() {
  if (scalarHits + scalarLocal == 0) return;
  clock->scalar_gm_hits(static_cast<uint32_t>(scalarHits));
  clock->scalar(static_cast<uint32_t>(kScalarLocalCycles * scalarLocal));
  scalarHits = scalarLocal = 0;
}

}  // namespace kw
