// Copy: UB to UB on the vector pipe.
#include <cstring>
#include "instruction.h"
#include "kw/copy.h"

namespace kw {

void vectorCopy(Dtype dtype, void* dst, const void* src, const MaskArg& mask, uint8_t repeats,
                Stride dstStride, Stride srcStride) {
  Instruction run(Pipe::V, "Copy", __builtin_return_address(0));
  const uint32_t item = kDtypeBits[static_cast<int>(dtype)] / 8;
  const Lanes lanes = run.lanes(mask, repeats, item);
  if (lanes.repeats == 0) return;
  run.aligned(dst, 32, "dst");
  run.aligned(src, 32, "src");
  const bool canRead = run.readLanes(src, lanes, item, srcStride, "src");
  if (!run.writeLanes(dst, lanes, item, dstStride, "dst") || !canRead) return;
  if (!run.skipsValues()) {
    forEachRun(lanes, item, dstStride, srcStride, srcStride, [&](const LaneRun& lane) {
      std::memmove(static_cast<char*>(dst) + lane.dst * item,
                   static_cast<const char*>(src) + lane.src0 * item,
                   static_cast<size_t>(lane.count) * item);
    });
  }
  VectorCost cost;
  cost.op = VectorOp::Copy;
  cost.item_bytes = static_cast<uint8_t>(item);
  cost.repeats = lanes.repeats;
  cost.dst = run.operand(dst, dstStride);
  cost.src0 = run.operand(src, srcStride);
  run.cost(cost);
}

}  // namespace kw
