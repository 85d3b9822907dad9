// The one place where the host side meets the emulated chip.
#include "host_launch.h"
#include <cstring>
#include "host_fault.h"
#include "kw/direct_launch.h"
#include "kw/tiling_macros.h"

namespace kw {

namespace {

const KernelLaunch* g_launch = nullptr;

}  // namespace

std::string launchOnChip(const KernelLaunch& launch) {
  g_launch = &launch;
  for (uint32_t block = 0; block < launch.blockDim; ++block) launch.body(launch.context);
  g_launch = nullptr;
  return "";
}

uint64_t launchTilingKey() { return g_launch == nullptr ? 0 : g_launch->tilingKey; }

void readTiling(void* to, const void* tiling, uint64_t offset, uint64_t bytes) {
  if (g_launch != nullptr && tiling == g_launch->tiling &&
      offset + bytes > g_launch->tilingBytes) {
    hostFault("HOST_TILING_SHORTER_THAN_READ", HostSeverity::kError,
              "the kernel reads " + std::to_string(offset + bytes) +
                  " bytes of tiling data but the tiling function wrote " +
                  std::to_string(g_launch->tilingBytes));
  }
  std::memcpy(to, static_cast<const char*>(tiling) + offset, bytes);
}

void launchDirect(const char* name, uint32_t blocks, void (*body)(void*), void* context) {
  KernelLaunch launch;
  launch.name = name;
  launch.body = body;
  launch.context = context;
  launch.blockDim = blocks;
  launchOnChip(launch);
}

}  // namespace kw
