// GET_TILING_DATA: the struct that the tiling function wrote, checked for its size.
#include <algorithm>
#include <cstring>
#include "kw/tiling_macros.h"
#include "launch.h"

namespace kw {

void readTiling(void* to, const void* tiling, uint64_t offset, uint64_t bytes) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  const KwLaunch& options = currentLaunch()->options();
  uint64_t have = bytes;
  if (options.tiling == tiling && offset + bytes > options.tiling_bytes) {
    fault(FaultCode::TILING_OUT_OF_RANGE, FaultPlace(),
          "the kernel reads bytes %llu to %llu of tiling data of %llu bytes",
          static_cast<unsigned long long>(offset), static_cast<unsigned long long>(offset + bytes),
          static_cast<unsigned long long>(options.tiling_bytes));
    have = options.tiling_bytes > offset ? std::min(bytes, options.tiling_bytes - offset) : 0;
    std::memset(to, 0, bytes);
  }
  std::memcpy(to, static_cast<const char*>(tiling) + offset, have);
}

}  // namespace kw
