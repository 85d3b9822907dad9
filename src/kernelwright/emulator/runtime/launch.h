// The launch in progress: its cores, who waits for what, and its mode.
#pragma once
#include <memory>
#include <string>
#include <vector>
#include "chip.h"
#include "core.h"
#include "fibre.h"
#include "timing.h"

namespace kw {

// What a core that cannot go on waits for.
enum class Wait : uint8_t { kNone, kSyncAll, kCrossFlag };

struct CoreRun {
  std::unique_ptr<Core> core;    // null before it starts and after it has ended
  std::unique_ptr<Fibre> fibre;
  Wait wait = Wait::kNone;
  uint64_t waitKey = 0;          // which barrier or flag
  const void* waitPc = nullptr;
  bool isStarted = false, isEnded = false, isAbandoned = false;
};

class Launch {
 public:
  Launch(void (*body)(void*), void* context, const KwLaunch& options);
  void run();
  std::string json() const;

  const KwLaunch& options() const { return options_; }
  Timing& timing() { return timing_; }
  uint32_t coreCount() const { return static_cast<uint32_t>(runs_.size()); }
  CoreRun& runOf(uint32_t index) { return runs_[index]; }
  bool isSkipped(uint32_t index) const { return runs_[index].isEnded && !runs_[index].isStarted; }
  uint32_t runningBlocks() const { return runningBlocks_; }
  uint32_t coresPerBlock() const { return perBlock_; }
  uint8_t coreTypeOf(uint32_t index) const;
  // The running core stops until `wake` is called for it.
  void block(Wait wait, uint64_t key);
  void wake(uint32_t index) { runs_[index].wait = Wait::kNone; }
  // The running core stops for good: an assertion failed.
  void abandonCore();
  void print(const std::string& text);
  void* workspace() const;
  void setWorkspace(void* workspace) { workspace_ = workspace; }
  // KERNEL_TASK_TYPE: restarts with other cores if nothing has run yet.
  void declareTaskType(uint32_t type);

 private:
  static void enterCore(void* self);
  void configure(uint32_t type);
  void startCore(uint32_t index);
  void endCore(uint32_t index);
  void resumeCore(uint32_t index);
  bool step();  // runs every core that can run; false when none could
  void reportHang();
  void guardedRun();

  void (*body_)(void*);
  void* context_;
  KwLaunch options_;
  Timing timing_;
  std::vector<CoreRun> runs_;
  uint32_t type_ = 0;
  uint32_t perBlock_ = 1;
  uint32_t runningBlocks_ = 1;
  uint32_t current_ = 0;
  bool restart_ = false;
  uint64_t instructions_ = 0;
  void* workspace_ = nullptr;
  std::string output_;
};

Launch* currentLaunch();
bool launchIsStrict();
bool launchIsTimingOnly();
bool launchIsUnchecked();
Timing& launchTiming();

// Called as a core starts, suspends and ends, by the parts that keep state of it.
void endQueues(Core& core);       // leaks, flags left
void flushScalarLines(Core& core);  // the data cache's dirty bytes go to global memory
void beginGm(uint32_t cores);

}  // namespace kw
