// Workspace, start-up, printing and assertions.
#include <cstdarg>
#include <cstdio>
#include <string>
#include "global_memory.h"
#include "kw/atomic.h"
#include "kw/half.h"
#include "kw/sync.h"
#include "kw/system.h"
#include "launch.h"

namespace kw {

namespace {




double valueAt(Dtype dtype, const void* data, uint32_t i) {
  switch (dtype) {
    case Dtype::f16: return static_cast<float>(static_cast<const half*>(data)[i]);
    case Dtype::bf16: return static_cast<float>(static_cast<const bfloat16_t*>(data)[i]);
    case Dtype::i8: return static_cast<const int8_t*>(data)[i];
    case Dtype::u8: case Dtype::b8: return static_cast<const uint8_t*>(data)[i];
    case Dtype::i16: return static_cast<const int16_t*>(data)[i];
    case Dtype::u16: return static_cast<const uint16_t*>(data)[i];
    case Dtype::i32: return static_cast<const int32_t*>(data)[i];
    case Dtype::u32: return static_cast<const uint32_t*>(data)[i];
    case Dtype::i64: return static_cast<double>(static_cast<const int64_t*>(data)[i]);
    case Dtype::u64: return static_cast<double>(static_cast<const uint64_t*>(data)[i]);
    default: return static_cast<const float*>(data)[i];
  }
}

}  // namespace

void* systemWorkspace() { return currentLaunch()->workspace(); }

void setSystemWorkspace(void* workspace) { currentLaunch()->setWorkspace(workspace); }

// The chip's own part of a workspace is not emulated: all of it is the user's. A kernel that
// leaves room for it (KERNEL_TYPE_MIX) gets it through the size that its tiling asks for.
void* userWorkspace(void* workspace) { return workspace; }

void initState() {
  resetMask();
  setMaskMode(AscendC::MaskMode::NORMAL);
  setAtomic(0, Dtype::f32);
}

void setAtomic(uint8_t op, Dtype dtype) {
  Core& core = *runningCore();
  core.atomic = static_cast<Atomic>(op);
  core.atomicDtype = dtype;
}

void devicePrintf(const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  currentLaunch()->print(text);
}

void dumpTensor(Dtype dtype, const void* data, uint32_t tag, uint32_t count, bool isGlobal) {
  std::string text = "DumpTensor " + std::to_string(tag) + (isGlobal ? " (GM):" : " (on chip):");
  char number[40];
  const GmRecord* record = isGlobal ? gmFind(data) : nullptr;
  const uint64_t room = record == nullptr ? 0 : gmRoom(*record, data);
  const uint64_t bytes = static_cast<uint64_t>(count) * kDtypeBits[static_cast<int>(dtype)] / 8;
  if (isGlobal ? room < bytes : !placeOf(*runningCore(), data).isLocal) {
    text += " out of bounds";
    count = 0;
  }
  for (uint32_t i = 0; i < count && text.size() < 8000; ++i) {
    std::snprintf(number, sizeof number, " %g", valueAt(dtype, data, i));
    text += number;
  }
  currentLaunch()->print(text + "\n");
}

void assertFailed(const char* condition, const char*, int, const char*, ...) {
  runningCore()->pc = __builtin_return_address(0);
  fault(FaultCode::ASSERTION, FaultPlace(), "ASCENDC_ASSERT(%s) does not hold", condition);
  currentLaunch()->abandonCore();
}

void deviceTrap() {
  runningCore()->pc = __builtin_return_address(0);
  fault(FaultCode::TRAP, FaultPlace(), "the kernel stops itself by Trap()");
  currentLaunch()->abandonCore();
}

void cleanCache(const void* address, bool isWhole) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  flushScalarLines(core);
  core.tellScalarTime();
  core.clock->clean_cache(reinterpret_cast<uint64_t>(address), isWhole);
}

namespace {

void checkSoftSync(void* global, uint64_t globalBytes, const void* local, uint64_t localBytes,
                   uint32_t cores) {
  const uint64_t need = 32ull * cores;
  const GmRecord* record = gmFind(global);
  const uint64_t room = record == nullptr ? 0 : gmRoom(*record, global);
  if (room < need || (globalBytes != 0 && globalBytes < need)) {
    fault(FaultCode::SYNC_WORKSPACE, FaultPlace(),
          "SyncAll: the global workspace has %llu bytes; %u cores need %llu",
          static_cast<unsigned long long>(globalBytes != 0 && globalBytes < room ? globalBytes : room),
          cores, static_cast<unsigned long long>(need));
  } else {
    const char* bytes = static_cast<const char*>(global);
    for (uint64_t i = 0; i < need; ++i) {
      if (bytes[i] == 0) continue;
      fault(FaultCode::SYNC_WORKSPACE, FaultPlace(),
            "SyncAll: the global workspace is not zeroed (byte %llu)", static_cast<unsigned long long>(i));
      break;
    }
  }
  if (!placeOf(*runningCore(), local).isLocal || (localBytes != 0 && localBytes < need)) {
    fault(FaultCode::SYNC_WORKSPACE, FaultPlace(),
          "SyncAll: the UB workspace has %llu bytes; %u cores need %llu",
          static_cast<unsigned long long>(localBytes), cores, static_cast<unsigned long long>(need));
  }
}

}  // namespace

void syncAllSoft(void* global, uint64_t globalBytes, const void* local, uint64_t localBytes,
                 int32_t usedCores) {
  runningCore()->pc = __builtin_return_address(0);
  const uint32_t all = currentLaunch()->options().blocks * runningCore()->subBlockNum;
  checkSoftSync(global, globalBytes, local, localBytes,
                usedCores > 0 ? static_cast<uint32_t>(usedCores) : all);
  syncSome(usedCores > 0 ? static_cast<uint32_t>(usedCores) : all);
}

}  // namespace kw
