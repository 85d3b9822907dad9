// The emulated chip's sizes, and how a launch is to be run.
#pragma once
#include <cstdint>

extern "C" {

// Sizes of one chip; the values come from targets/*.toml.
struct KwChip {
  uint32_t ub_bytes, ub_usable_bytes, l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, bt_bytes, fb_bytes;
  uint32_t vector_cores, cube_cores;
  uint32_t live_tensors;  // of one position, by event ids
};

// How a launch runs; zero-initialise, then set what differs.
struct KwLaunch {
  const char* name;
  uint32_t blocks;
  uint32_t task_type;      // AscendC::KernelMetaType + 1; 0: what the kernel declares, else AIV
  uint64_t tiling_key;
  const void* tiling;      // as the kernel gets it, for the size check of GET_TILING_DATA
  uint64_t tiling_bytes;
  uint8_t strict_sync;     // nobody inserts PipeBarrier<PIPE_V>
  uint8_t timing_only;     // values are not computed
  uint8_t unchecked;       // no race or initialisation checks
  uint8_t keep_events;     // record the timeline
  uint8_t warm_l2;
  uint8_t uses_matmul;     // MIX 1:2 unless the kernel declares another type
};

void kw_configure_chip(const KwChip* chip);
void kw_gm_register(void* start, uint64_t bytes, const char* name);
void kw_gm_unregister(void* start);
// For kernels too long to run whole: from now on only blocks first .. first + count - 1 of a launch
// run (count 0: all), and a launch that takes more than `limit_ms` of processor time is cut off and
// reported as a hang (0: no limit).
void kw_restrict(uint32_t first_block, uint32_t block_count, uint32_t limit_ms);
// Runs `body(context)` once a core. Returns the report, JSON that stays valid until the next call.
const char* kw_launch(void (*body)(void*), void* context, const KwLaunch* launch);

}  // extern "C"

namespace kw {

const KwChip& chip();

}  // namespace kw
