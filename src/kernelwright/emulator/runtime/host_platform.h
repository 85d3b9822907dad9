// The chip's facts as the host functions may ask for them; set from the target before a run.
#pragma once
#include <cstdint>

namespace kw {

struct HostPlatform {
  uint64_t aic_cores = 24;
  uint64_t aiv_cores = 48;
  uint64_t is_split = 1;  // cube and vector cores apart
  uint64_t ub_bytes = 196608;
  uint64_t l1_bytes = 524288;
  uint64_t l0a_bytes = 65536;
  uint64_t l0b_bytes = 65536;
  uint64_t l0c_bytes = 131072;
  uint64_t l2_bytes = 201326592;
  uint64_t bt_bytes = 1024;
  uint64_t fb_bytes = 2048;
  uint64_t hbm_bytes = 68719476736;
  uint64_t l2_bytes_per_cycle = 110;
  uint64_t hbm_bytes_per_cycle = 32;
  uint64_t system_workspace_bytes = 16777216;
  uint64_t soc = 1;  // a platform_ascendc::SocVersion
};

HostPlatform& hostPlatform();

}  // namespace kw
