#include "cross_core.h"

#include <algorithm>
#include <deque>
#include "kw/cross_core_abi.h"
#include "launch.h"

namespace kw {

namespace {

using Knowledge = std::vector<Clock>;

struct Token {
  std::shared_ptr<const Knowledge> known;
  Tick tick = 0;
};


struct Inbox { std::deque<Token> flags[kCrossFlags]; };

struct Meeting {  // one SyncAll
  std::vector<uint32_t> arrived;
  Tick last = 0;
};

struct CrossState {
  std::vector<Inbox> inboxes;                 // by core
  std::vector<std::deque<Token>> sent;        // by core * kCrossFlags + flag, not yet delivered
  Meeting meetings[2];                        // of the vector cores; of all cores
  bool isTooManyReported = false;
};

CrossState g_state;

std::shared_ptr<const Knowledge> merged(const Knowledge* a, const Knowledge* b) {
  auto out = std::make_shared<Knowledge>(*a);
  for (size_t i = 0; b != nullptr && i < out->size(); ++i) (*out)[i].join((*b)[i]);
  return out;
}

void learn(Core& core, const Token& token) {
  core.known = core.known == nullptr ? token.known : merged(core.known.get(), token.known.get());
}

Token tokenOf(Core& core, const Signal& signal, uint32_t cores) {
  auto known = core.known == nullptr ? std::make_shared<Knowledge>(cores)
                                     : std::make_shared<Knowledge>(*core.known);
  (*known)[core.index].join(signal.seen);
  return {known, signal.tick};
}

void deliver(Launch& launch, uint32_t to, uint32_t flag, const Token& token) {
  auto& inbox = g_state.inboxes[to].flags[flag];
  inbox.push_back(token);
  if (inbox.size() > 15) {
    fault(FaultCode::CROSS_FLAG, FaultPlace(), "CrossCoreSetFlag: flag %u has been set %zu times and "
          "not waited for; it counts to 15", flag, inbox.size());
  }
  CoreRun& run = launch.runOf(to);
  if (run.wait == Wait::kCrossFlag && run.waitKey == flag) launch.wake(to);
}

// The sent tokens of all `from`, merged, go to all `to` once every one of `from` has sent.
void deliverGathered(Launch& launch, const std::vector<uint32_t>& from,
                     const std::vector<uint32_t>& to, uint32_t flag) {
  for (const uint32_t core : from) {
    if (g_state.sent[core * kCrossFlags + flag].empty()) return;
  }
  Token all;
  for (const uint32_t core : from) {
    auto& queue = g_state.sent[core * kCrossFlags + flag];
    all.known = all.known == nullptr ? queue.front().known
                                     : merged(all.known.get(), queue.front().known.get());
    all.tick = std::max(all.tick, queue.front().tick);
    queue.pop_front();
  }
  for (const uint32_t core : to) deliver(launch, core, flag, all);
}

std::vector<uint32_t> coresOfType(Launch& launch, uint8_t type, int block) {
  std::vector<uint32_t> out;
  const uint32_t per = launch.coresPerBlock();
  for (uint32_t i = 0; i < launch.coreCount(); ++i) {
    if (launch.coreTypeOf(i) != type || launch.isSkipped(i)) continue;
    if (block < 0 || i / per == static_cast<uint32_t>(block)) out.push_back(i);
  }
  return out;
}

bool flagIsFine(uint32_t flag, const char* what) {
  if (flag < kCrossFlags) return true;
  fault(FaultCode::CROSS_FLAG, FaultPlace(), "%s: flag %u; ids are 0 to 15", what, flag);
  return false;
}

}  // namespace

void beginCrossCore(Launch& launch) {
  g_state = CrossState();
  g_state.inboxes.resize(launch.coreCount());
  g_state.sent.resize(static_cast<size_t>(launch.coreCount()) * kCrossFlags);
}

bool knowsOther(const Core& core, uint32_t other, uint32_t pipe, uint32_t epoch) {
  return core.known != nullptr && epoch <= (*core.known)[other].at[pipe];
}

void crossSet(uint32_t mode, Pipe pipe, uint32_t flag) {
  Launch& launch = *currentLaunch();
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  if (!flagIsFine(flag, "CrossCoreSetFlag")) return;
  flushScalarLines(core);
  Signal signal = core.signal(pipe);
  signal.tick = launch.timing().cross_core(*core.clock, static_cast<TimedPipe>(pipe));
  g_state.sent[core.index * kCrossFlags + flag].push_back(tokenOf(core, signal, launch.coreCount()));
  const int block = static_cast<int>(core.block);
  if (mode == 2) {
    const uint8_t other = core.coreType == AscendC::AIC ? AscendC::AIV : AscendC::AIC;
    const auto receivers = coresOfType(launch, other, block);
    if (receivers.empty()) {
      fault(FaultCode::CROSS_FLAG, FaultPlace(),
            "CrossCoreSetFlag<2>: this launch has no cube and vector cores side by side; declare "
            "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2)");
    }
    deliverGathered(launch, coresOfType(launch, core.coreType, block), receivers, flag);
    return;
  }
  const auto group = coresOfType(launch, core.coreType, mode == 1 ? block : -1);
  deliverGathered(launch, group, group, flag);
}

void crossWait(Pipe pipe, uint32_t flag) {
  Launch& launch = *currentLaunch();
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  if (!flagIsFine(flag, "CrossCoreWaitFlag")) return;
  auto& inbox = g_state.inboxes[core.index].flags[flag];
  while (inbox.empty()) launch.block(Wait::kCrossFlag, flag);
  learn(core, inbox.front());
  core.clock->wait(static_cast<TimedPipe>(pipe), inbox.front().tick);
  inbox.pop_front();
}

namespace {

void endMeeting(Launch& launch, Meeting& meeting, const Core& last) {
  auto all = std::make_shared<Knowledge>(launch.coreCount());
  for (const uint32_t index : meeting.arrived) {
    const Core& core = *launch.runOf(index).core;
    for (size_t i = 0; core.known != nullptr && i < all->size(); ++i) (*all)[i].join((*core.known)[i]);
    for (const PipeOrder& pipe : core.pipes) (*all)[index].join(pipe.seen);
  }
  const auto count = static_cast<uint32_t>(meeting.arrived.size());
  const Tick tick = launch.timing().sync_all(meeting.last, count);
  for (const uint32_t index : meeting.arrived) {
    Core& core = *launch.runOf(index).core;
    core.known = all;
    for (int pipe = 0; pipe < kPipeCount; ++pipe) core.pipes[pipe].seen.at[pipe]++;
    launch.timing().resume(*core.clock, tick);
    if (index != last.index) launch.wake(index);
  }
  meeting = Meeting();
}

void checkBlocks(Launch& launch) {
  const bool isCube = launch.coreTypeOf(0) == AscendC::AIC;
  const uint32_t cores = isCube ? chip().cube_cores : chip().vector_cores;
  if (launch.options().blocks <= cores || g_state.isTooManyReported) return;
  g_state.isTooManyReported = true;
  fault(FaultCode::SYNC_TOO_MANY_BLOCKS, FaultPlace(),
        "SyncAll in a launch of %u blocks on %u cores: the blocks that wait for a free core never "
        "arrive",
        launch.options().blocks, cores);
}

}  // namespace

namespace {

// The running core waits until `expected` cores have come to the same meeting.
void meet(Meeting& meeting, size_t expected) {
  Launch& launch = *currentLaunch();
  Core& core = *runningCore();
  checkBlocks(launch);
  core.barrierAll();
  flushScalarLines(core);
  meeting.arrived.push_back(core.index);
  meeting.last = std::max(meeting.last, core.clock->latest());
  if (meeting.arrived.size() < expected) {
    launch.block(Wait::kSyncAll, 0);
    return;
  }
  endMeeting(launch, meeting, core);
}

size_t coresLike(Launch& launch, const Core& core) {
  if (launch.coresPerBlock() == 1) return launch.runningBlocks();
  const uint32_t perBlock = core.coreType == AscendC::AIC ? 1 : launch.coresPerBlock() - 1;
  return static_cast<size_t>(launch.runningBlocks()) * perBlock;
}

}  // namespace

void syncAll(bool isVectorOnly) {
  Launch& launch = *currentLaunch();
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  const bool isEveryone = launch.coresPerBlock() > 1 && !isVectorOnly;
  meet(g_state.meetings[isEveryone ? 1 : 0],
       isEveryone ? launch.runningBlocks() * launch.coresPerBlock() : coresLike(launch, core));
}

void syncSome(uint32_t cores) { meet(g_state.meetings[0], cores); }

std::string waitWords(Launch& launch, uint32_t index) {
  const CoreRun& run = launch.runOf(index);
  const uint32_t block = index / launch.coresPerBlock();
  if (run.wait == Wait::kCrossFlag) {
    return "block " + std::to_string(block) + " waits in CrossCoreWaitFlag(" +
           std::to_string(run.waitKey) + ") for a flag that no core sets";
  }
  uint32_t waiting = 0;
  std::string ended;
  for (uint32_t i = 0; i < launch.coreCount(); ++i) {
    waiting += launch.runOf(i).wait == Wait::kSyncAll ? 1 : 0;
    if (!launch.runOf(i).isEnded || launch.isSkipped(i) || ended.size() > 40) continue;
    ended += (ended.empty() ? "" : ", ") + std::to_string(i / launch.coresPerBlock());
  }
  return std::to_string(waiting) + " of " + std::to_string(launch.coreCount()) +
         " cores wait in SyncAll, which the others never reach" +
         (ended.empty() ? "" : " (ended without it: block " + ended + ")");
}

}  // namespace kw
