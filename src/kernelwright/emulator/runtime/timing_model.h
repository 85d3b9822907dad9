// Constants of one chip as the timing model uses them. The values come from targets/*.toml;
// the names and their order from timing_constants.def and timing_ops.def, which Python reads too.
#pragma once

#include <cstdint>

namespace kw {

using Tick = int64_t;
constexpr Tick kTicksPerCycle = 64;
constexpr int kMaxCores = 64;

// In the order of the launcher's own pipes, so that a cast converts.
enum class TimedPipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX };
constexpr int kPipes = 7;
constexpr const char* kPipeNames[kPipes] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};

enum class VectorOp : uint8_t {
#define KW_VECTOR_OP(name) name,
#include "timing_ops.def"
#undef KW_VECTOR_OP
    kCount
};
constexpr int kVectorOps = static_cast<int>(VectorOp::kCount);

struct VectorTiming {
    double head = 14;      // cycles to the first result when the pipe stood still
    double interval = 18;  // cycles before a dependent instruction may start
    double cycles16 = 1;   // cycles a repeat of 256 bytes, 8- and 16-bit items
    double cycles32 = 1;   // the same, 32-bit items
};

struct TimingModel {
    char version[64] = "built-in";
#define KW_CONSTANT(name, value) double name = value;
#include "timing_constants.def"
#undef KW_CONSTANT
    VectorTiming vector[kVectorOps];
    double read_gbps[kMaxCores] = {};   // GM to UB, a core, when i+1 cores read; 0: use hbm_gbps
    double write_gbps[kMaxCores] = {};  // UB to GM likewise
    // Derived by prepare(), in ticks:
    struct VectorTicks { Tick head, interval, narrow, wide; } op_ticks[kVectorOps] = {};
    Tick scalar_ticks = 0, scalar_hit_ticks = 0, scalar_miss_ticks = 0, scalar_ub_ticks = 0;
    Tick issue_ticks = 0, flag_ticks = 0, barrier_ticks = 0, gap_ticks = 0, bank_ticks = 0;
    Tick copy_interval_ticks = 0, burst_ticks = 0, read_latency_ticks = 0, write_latency_ticks = 0;

    void prepare();
    // Ticks a byte in Q16 at `gbps` GB/s (1e9 bytes).
    Tick byte_ticks_q16(double gbps) const;
    double ticks_per_us() const { return clock_mhz * kTicksPerCycle; }
};

// The model that the next launch uses (set by kw_timing_configure, else the built-in one).
TimingModel& active_timing_model();

}  // namespace kw

extern "C" {
// Replace the active model. `constants` in the order of timing_constants.def; `vector` holds
// head, interval, cycles16, cycles32 of each operation of timing_ops.def; the curves hold GB/s a
// core for 1..cores active cores. Returns 0, or 1 when a count does not fit this library.
int kw_timing_configure(const char* version, const double* constants, int constant_count,
                        const double* vector, int vector_count, const double* read_gbps,
                        const double* write_gbps, int cores);
}
