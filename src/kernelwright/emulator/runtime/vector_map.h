// The common part of vector instructions that work lane by lane: operands are checked and charged
// here, once an instruction; a family gives the loop over one run of lanes.
#pragma once
#include <cstdint>

#include "instruction.h"

namespace kw {

// One operand of a lane-by-lane instruction.
struct MapOperand {
  const void* at = nullptr;
  Dtype dtype = Dtype::f32;
  Stride stride = {1, 8};
  const char* what = "src";
  uint32_t itemBytes() const { return kDtypeBits[static_cast<int>(dtype)] / 8; }
};

// A lane-by-lane instruction: dst[i] = f(src[0][i], src[1][i], ...).
struct MapCall {
  VectorOp op = VectorOp::Add;
  MapOperand dst;
  MapOperand sources[3];
  int count = 1;          // of sources
  bool readsDst = false;  // the old value of dst is an operand too
  MapCall(VectorOp op, MapOperand dst, MapOperand first) : op(op), dst(dst), sources{first} {}
  MapCall(VectorOp op, MapOperand dst, MapOperand first, MapOperand second)
      : op(op), dst(dst), sources{first, second}, count(2) {}
};

// Works on one run: `n` lanes that lie together in every operand; `context` is the family's own.
using MapLoop = void (*)(void* dst, const void* const* sources, uint64_t n, const void* context);

// A level-2 call: `n` elements that lie together.
void mapCount(Instruction& run, const MapCall& call, int64_t n, MapLoop loop, const void* context);

// A level-0 call; all operands have items of the same size.
void mapLanes(Instruction& run, const MapCall& call, const MaskArg& mask, uint32_t repeats,
              MapLoop loop, const void* context);

void chargeMap(Instruction& run, const MapCall& call, uint32_t repeats);

}  // namespace kw
