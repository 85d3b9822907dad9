// The one place where the host side meets the emulated chip.
#include "host_launch.h"
#include <cstring>
#include "chip.h"
#include "host_call.h"
#include "host_fault.h"
#include "kw/direct_launch.h"

namespace kw {

namespace {

// How every launch of this process runs; set before a run.
KwLaunch& mode() {
  static KwLaunch options = {};
  return options;
}

struct Option {
  const char* name;
  uint8_t KwLaunch::*field;
};

const Option kOptions[] = {
    {"strict_sync", &KwLaunch::strict_sync},   {"timing_only", &KwLaunch::timing_only},
    {"unchecked", &KwLaunch::unchecked},       {"keep_events", &KwLaunch::keep_events},
    {"warm_l2", &KwLaunch::warm_l2},
};

// Ranges are known to the chip for the length of one launch.
class Registered {
 public:
  explicit Registered(const std::vector<GlobalRange>& ranges) : ranges_(ranges) {
    for (const GlobalRange& range : ranges_) {
      if (range.bytes > 0) kw_gm_register(range.start, range.bytes, range.name.c_str());
    }
  }
  ~Registered() {
    for (const GlobalRange& range : ranges_) {
      if (range.bytes > 0) kw_gm_unregister(range.start);
    }
  }
  Registered(const Registered&) = delete;

 private:
  const std::vector<GlobalRange>& ranges_;
};

}  // namespace

std::string launchOnChip(const KernelLaunch& launch) {
  Registered registered(launch.ranges);
  KwLaunch options = mode();
  options.name = launch.name.c_str();
  options.blocks = launch.blockDim;
  options.tiling_key = launch.tilingKey;
  options.tiling = launch.tiling;
  options.tiling_bytes = launch.tilingBytes;
  options.uses_matmul = launch.usesMatmul ? 1 : 0;
  return kw_launch(launch.body, launch.context, &options);
}

void launchDirect(const char* name, uint32_t blocks, void (*body)(void*), void* context) {
  KernelLaunch launch;
  launch.name = name;
  launch.body = body;
  launch.context = context;
  launch.blockDim = blocks;
  launch.ranges = liveTensors();
  addDirectReport(launch, launchOnChip(launch));
}

}  // namespace kw

extern "C" int kw_host_set_option(const char* name, int value) {
  for (const kw::Option& option : kw::kOptions) {
    if (std::strcmp(option.name, name) == 0) {
      kw::mode().*option.field = value != 0;
      return 0;
    }
  }
  return -1;
}
