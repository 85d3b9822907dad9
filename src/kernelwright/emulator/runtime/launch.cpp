#include "launch.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <algorithm>
#include <cstring>
#include "cross_core.h"
#include "global_memory.h"
#include "kw/enums.h"
#include "report.h"

namespace kw {

namespace {

Launch* g_launch = nullptr;
sigjmp_buf g_recovery;
alignas(16) char g_signalStack[1 << 16];

using AscendC::KernelMetaType;

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};
constexpr size_t kCrashCount = sizeof kCrashes / sizeof kCrashes[0];

// Cores and stacks that no launch uses now; making one costs more than a short kernel.
struct Idle {
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<std::unique_ptr<Fibre>> fibres;
};

Idle& idle() {
  static Idle all;
  return all;
}

struct { uint32_t firstBlock, blockCount, limitMs; } g_limits;

void startClock(uint32_t milliseconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = milliseconds % 1000 * 1000;
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

const void* imageOf(const void* address) {
  Dl_info info;
  return dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
}

const void* placeOfCrash(void* raw) {
#if defined(__x86_64__)
  return reinterpret_cast<const char*>(static_cast<ucontext_t*>(raw)->uc_mcontext.gregs[REG_RIP]) + 1;
#elif defined(__aarch64__)
  return reinterpret_cast<const char*>(static_cast<ucontext_t*>(raw)->uc_mcontext.pc) + 1;
#else
  (void)raw;
  return nullptr;
#endif
}

// Inside the kernel the crash is its own line; inside a library it is the kernel's last call.
void onCrash(int signal, siginfo_t*, void* raw) {
  Core* core = runningCore();
  const void* at = placeOfCrash(raw);
  const void* image = imageOf(at);
  const bool isOurs = image == imageOf(reinterpret_cast<const void*>(&onCrash));
  if (core != nullptr && at != nullptr && !isOurs && (core->pc == nullptr || imageOf(core->pc) == image)) {
    core->pc = at;
  }
  siglongjmp(g_recovery, signal);
}

const char* crashWords(int signal) {
  if (signal == SIGFPE) return "divided by zero";
  if (signal == SIGILL) return "ran into an illegal instruction";
  return "touched memory through a bad pointer, or its stack overflowed";
}

const char* typeName(uint32_t type) {
  constexpr const char* kNames[] = {"AIV_ONLY", "AIC_ONLY", "MIX_AIV_1_0", "MIX_AIC_1_0",
                                    "MIX_AIC_1_1", "MIX_AIC_1_2", "AICORE", "VECTORCORE",
                                    "MIX_AICORE", "MIX_VECTOR_CORE"};
  return type < sizeof kNames / sizeof kNames[0] ? kNames[type] : "AIV_ONLY";
}

}  // namespace

Launch* currentLaunch() { return g_launch; }
bool launchIsStrict() { return g_launch->options().strict_sync != 0; }
bool launchIsTimingOnly() { return g_launch->options().timing_only != 0; }
bool launchIsUnchecked() {
  const KwLaunch& options = g_launch->options();
  return options.unchecked != 0 || options.timing_only != 0;
}
Timing& launchTiming() { return g_launch->timing(); }

void declareTaskType(uint32_t type) { g_launch->declareTaskType(type); }

uint64_t launchTilingKey() { return g_launch == nullptr ? 0 : g_launch->options().tiling_key; }

Launch::Launch(void (*body)(void*), void* context, const KwLaunch& options)
    : body_(body), context_(context), options_(options) {
  if (options_.blocks == 0) options_.blocks = 1;
  const uint32_t undeclared = options_.uses_matmul != 0
                                  ? static_cast<uint32_t>(AscendC::KERNEL_TYPE_MIX_AIC_1_2)
                                  : static_cast<uint32_t>(AscendC::KERNEL_TYPE_AIV_ONLY);
  configure(options_.task_type == 0 ? undeclared : options_.task_type - 1);
}

void Launch::configure(uint32_t type) {
  type_ = type;
  perBlock_ = type == AscendC::KERNEL_TYPE_MIX_AIC_1_2   ? 3
              : type == AscendC::KERNEL_TYPE_MIX_AIC_1_1 ? 2
                                                         : 1;
  runs_.clear();
  runs_.resize(static_cast<size_t>(options_.blocks) * perBlock_);
  runningBlocks_ = options_.blocks;
  if (g_limits.blockCount != 0 && g_limits.blockCount < options_.blocks) {
    runningBlocks_ = g_limits.blockCount;
    const uint32_t first = std::min(g_limits.firstBlock, options_.blocks - runningBlocks_);
    for (uint32_t i = 0; i < coreCount(); ++i) {
      runs_[i].isEnded = i / perBlock_ < first || i / perBlock_ >= first + runningBlocks_;
    }
  }
  instructions_ = 0;
  LaunchOptions timing;
  timing.blocks = options_.blocks;
  timing.mix = perBlock_ > 1;
  timing.cube_only = coreTypeOf(0) == AscendC::AIC && perBlock_ == 1;
  timing.working_set_bytes = gmBytes();
  timing.warm_l2 = options_.warm_l2 != 0;
  timing.timing_only = options_.timing_only != 0;
  timing.keep_events = options_.keep_events != 0;
  timing_.begin(timing);
  beginGm(coreCount());
  beginCrossCore(*this);
}

uint8_t Launch::coreTypeOf(uint32_t index) const {
  const bool isCube = perBlock_ > 1 ? index % perBlock_ == 0
                                    : type_ == AscendC::KERNEL_TYPE_AIC_ONLY ||
                                          type_ == AscendC::KERNEL_TYPE_MIX_AIC_1_0;
  return static_cast<uint8_t>(isCube ? AscendC::AIC : AscendC::AIV);
}

void Launch::declareTaskType(uint32_t type) {
  if (options_.task_type != 0 || type == type_) return;
  if (current_ != 0 || runs_[0].core->instructions != 0) return;
  type_ = type;
  restart_ = true;
  runs_[current_].fibre->suspend();
}

void Launch::enterCore(void* self) {
  auto* launch = static_cast<Launch*>(self);
  launch->body_(launch->context_);
}

void Launch::startCore(uint32_t index) {
  CoreRun& run = runs_[index];
  if (idle().cores.empty()) idle().cores.push_back(std::make_unique<Core>());
  if (idle().fibres.empty()) idle().fibres.push_back(std::make_unique<Fibre>());
  run.core = std::move(idle().cores.back());
  run.fibre = std::move(idle().fibres.back());
  idle().cores.pop_back();
  idle().fibres.pop_back();
  run.isStarted = true;
  const uint32_t block = index / perBlock_;
  const uint32_t sub = index % perBlock_;
  Core& core = *run.core;
  core.begin(block, sub, index);
  core.coreType = coreTypeOf(index);
  core.tilingKey = options_.tiling_key;
  const bool isVectorOfMix = perBlock_ > 1 && sub > 0;
  core.subBlockNum = isVectorOfMix ? perBlock_ - 1 : 1;
  core.subBlockIdx = isVectorOfMix ? sub - 1 : 0;
  core.blockIdx = isVectorOfMix ? block * core.subBlockNum + core.subBlockIdx : block;
  core.blockNum = options_.blocks;
  core.clock = &timing_.enter(block, sub);
  run.fibre->prepare(&Launch::enterCore, this);
}

void Launch::endCore(uint32_t index) {
  CoreRun& run = runs_[index];
  Core& core = *run.core;
  g_core = &core;
  core.tellScalarTime();
  if (!run.isAbandoned) endQueues(core);
  flushScalarLines(core);
  instructions_ += core.instructions;
  timing_.leave(*core.clock);
  g_core = nullptr;
  run.isEnded = true;
  idle().cores.push_back(std::move(run.core));
  idle().fibres.push_back(std::move(run.fibre));
}

void Launch::resumeCore(uint32_t index) {
  CoreRun& run = runs_[index];
  if (!run.isStarted) startCore(index);
  current_ = index;
  g_core = run.core.get();
  run.fibre->resume();
  g_core = nullptr;
  if (run.fibre->isDone() || run.isAbandoned) endCore(index);
}

void Launch::abandonCore() {
  runs_[current_].isAbandoned = true;
  runs_[current_].fibre->suspend();
}

void Launch::print(const std::string& text) {
  if (output_.size() < 1 << 20) output_ += text;
}

// Kernels refuse to work without one, so there always is one.
void* Launch::workspace() const {
  static char spare[4096];
  if (workspace_ != nullptr) return workspace_;
  GmRecord* record = gmNamed("workspace");
  return record == nullptr ? spare : record->start;
}

void Launch::block(Wait wait, uint64_t key) {
  CoreRun& run = runs_[current_];
  run.wait = wait;
  run.waitKey = key;
  run.waitPc = run.core->pc;
  flushScalarLines(*run.core);
  run.fibre->suspend();
}

bool Launch::step() {
  bool hasRun = false;
  for (uint32_t index = 0; index < coreCount(); ++index) {
    CoreRun& run = runs_[index];
    if (run.isEnded || run.wait != Wait::kNone) continue;
    hasRun = true;
    resumeCore(index);
    if (!restart_) continue;
    restart_ = false;
    configure(type_);
    return true;
  }
  return hasRun;
}

void Launch::reportHang() {
  for (uint32_t index = 0; index < coreCount(); ++index) {
    const CoreRun& run = runs_[index];
    if (run.isEnded) continue;
    FaultPlace place;
    place.pc = run.waitPc;
    place.block = static_cast<int>(index / perBlock_);
    place.sub = static_cast<int>(index % perBlock_);
    fault(run.wait == Wait::kSyncAll ? FaultCode::SYNC_PARTIAL : FaultCode::HANG, place, "%s",
          waitWords(*this, index).c_str());
  }
}

void Launch::guardedRun() {
  while (step()) {
  }
  reportHang();
}

void Launch::run() {
  g_launch = this;
  struct sigaction before[kCrashCount];
  struct sigaction action = {};
  action.sa_sigaction = onCrash;
  action.sa_flags = SA_NODEFER | SA_ONSTACK | SA_SIGINFO;
  stack_t stack = {};
  stack.ss_sp = g_signalStack;
  stack.ss_size = sizeof g_signalStack;
  stack_t oldStack;
  sigaltstack(&stack, &oldStack);
  const int signal = sigsetjmp(g_recovery, 1);
  if (signal == 0) {
    for (size_t i = 0; i < kCrashCount; ++i) sigaction(kCrashes[i], &action, &before[i]);
    startClock(g_limits.limitMs);
    guardedRun();
  } else if (signal == SIGVTALRM) {
    fault(FaultCode::HANG, FaultPlace(), "the kernel has run for %u ms and was cut off here",
          g_limits.limitMs);
  } else {
    fault(FaultCode::CRASH, FaultPlace(), "the kernel %s", crashWords(signal));
  }
  startClock(0);
  for (size_t i = 0; i < kCrashCount; ++i) sigaction(kCrashes[i], &before[i], nullptr);
  sigaltstack(&oldStack, nullptr);
  g_core = nullptr;
  timing_.finish();
}

std::string Launch::json() const {
  return "{\"name\":" + jsonText(options_.name == nullptr ? "" : options_.name) +
         ",\"blocks\":" + std::to_string(options_.blocks) + ",\"task_type\":" +
         jsonText(typeName(type_)) + ",\"strict\":" + (options_.strict_sync ? "true" : "false") +
         ",\"instructions\":" + std::to_string(instructions_) + ",\"output\":" + jsonText(output_) + ",\"faults\":" +
         faultLog().json() + ",\"timing\":" + timing_.json() + "}";
}

}  // namespace kw

extern "C" void kw_restrict(uint32_t first_block, uint32_t block_count, uint32_t limit_ms) {
  kw::g_limits = {first_block, block_count, limit_ms};
}

extern "C" const char* kw_launch(void (*body)(void*), void* context, const KwLaunch* options) {
  static std::string report;
  kw::faultLog().clear();
  kw::Launch launch(body, context, *options);
  launch.run();
  report = launch.json();
  kw::g_launch = nullptr;
  return report.c_str();
}
