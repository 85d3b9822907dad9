// What is charged: vector instructions, copies and cube products, and the options of a launch.
#pragma once

#include <cstdint>

#include "timing_model.h"

namespace kw {

struct Span {
    Tick start = 0;
    Tick end = 0;
};

constexpr uint32_t kNoOperand = 0xffffffffu;

// One UB operand of a vector instruction: byte address in UB, strides in 32-byte blocks.
struct VectorOperand {
    uint32_t address = kNoOperand;
    uint16_t block_stride = 1;
    uint16_t repeat_stride = 8;
};

// One vector instruction. Level 2 calls: repeats = ceil(count * item_bytes / 256), strides 1 and 8.
struct VectorCost {
    VectorOp op = VectorOp::Add;
    uint8_t item_bytes = 4;  // width of the wider operand: 1, 2, 4 or 8
    uint32_t repeats = 1;
    VectorOperand dst;
    VectorOperand src0;
    VectorOperand src1;
};

// What a copy moves between; GM sides pay for L2 or HBM, the others for their own wires.
enum class CopyPath : uint8_t {
    GmToUb, UbToGm, UbToUb, GmToL1, L1ToL0a, L1ToL0b, L1ToBt, L0cToGm, L0cToUb, UbToL1, L1ToUb
};

TimedPipe pipe_of(CopyPath path);

// One copy instruction of `rows` bursts of `row_bytes`; `gm` is the address of the first burst and
// `gm_stride` the distance of two bursts' starts in bytes (0: the same as row_bytes).
struct CopyCost {
    CopyPath path = CopyPath::GmToUb;
    uint32_t rows = 1;
    uint64_t row_bytes = 0;
    uint64_t gm = 0;
    uint64_t gm_stride = 0;
    bool bypass_l2 = false;  // GlobalTensor::SetL2CacheHint(disable)
    bool converts = false;   // ND->NZ on the way in, NZ->ND or a cast on the way out
    bool atomic = false;     // SetAtomicAdd and its kin are on
};

// One Mmad: a cube of m x k x n elements of item_bytes (2, 1, or 4 with `hf32` off or on).
struct CubeCost {
    uint32_t m = 16;
    uint32_t k = 16;
    uint32_t n = 16;
    uint8_t item_bytes = 2;
    bool hf32 = false;
};

struct LaunchOptions {
    uint32_t blocks = 1;            // blockDim
    bool mix = false;               // a block is one cube core with its two vector cores
    bool cube_only = false;         // KERNEL_TYPE_AIC_ONLY
    uint64_t working_set_bytes = 0; // bytes of all registered global memory, 0 when unknown
    bool warm_l2 = false;           // an earlier launch has just touched the same memory
    bool timing_only = false;       // values are skipped; times must not depend on it
    bool keep_events = false;       // record a timeline (note())
};

struct PipeTotals {
    Tick busy = 0;          // union of the times in which the pipe had work
    Tick last_end = 0;
    uint64_t instructions = 0;
    uint64_t bytes = 0;
};

}  // namespace kw
