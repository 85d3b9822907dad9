// Checks, values and cost of lane-by-lane instructions.
#include "vector_map.h"

#include <algorithm>

namespace kw {

namespace {

uint32_t widest(const MapCall& call) {
  uint32_t bytes = call.dst.itemBytes();
  for (int i = 0; i < call.count; ++i) bytes = std::max(bytes, call.sources[i].itemBytes());
  return bytes;
}

const void* movedBy(const MapOperand& operand, uint64_t items) {
  return static_cast<const char*>(operand.at) + items * operand.itemBytes();
}

}  // namespace

void chargeMap(Instruction& run, const MapCall& call, uint32_t repeats) {
  VectorCost cost;
  cost.op = call.op;
  cost.item_bytes = static_cast<uint8_t>(widest(call));
  cost.repeats = repeats;
  cost.dst = run.operand(call.dst.at, call.dst.stride);
  cost.src0 = run.operand(call.sources[0].at, call.sources[0].stride);
  if (call.count > 1) cost.src1 = run.operand(call.sources[1].at, call.sources[1].stride);
  run.cost(cost);
}

void mapCount(Instruction& run, const MapCall& call, int64_t n, MapLoop loop, const void* context) {
  const uint64_t bytes = run.countBytes(n, call.dst.itemBytes());
  if (bytes == 0) return;
  void* dst = const_cast<void*>(call.dst.at);
  run.aligned(dst, 32, "dst");
  bool ok = true;
  const void* sources[3] = {};
  for (int i = 0; i < call.count; ++i) {
    const MapOperand& source = call.sources[i];
    run.aligned(source.at, 32, source.what);
    ok = run.read(source.at, static_cast<uint64_t>(n) * source.itemBytes(), source.what) && ok;
    sources[i] = source.at;
  }
  if (call.readsDst) ok = run.read(dst, bytes, "dst") && ok;
  ok = run.write(dst, bytes, "dst") && ok;
  if (ok && !run.skipsValues()) loop(dst, sources, static_cast<uint64_t>(n), context);
  const uint64_t most = static_cast<uint64_t>(n) * widest(call);
  chargeMap(run, call, static_cast<uint32_t>((most + 255) / 256));
}

void mapLanes(Instruction& run, const MapCall& call, const MaskArg& mask, uint32_t repeats,
              MapLoop loop, const void* context) {
  const uint32_t item = call.dst.itemBytes();
  const Lanes lanes = run.lanes(mask, repeats, item);
  if (lanes.repeats == 0) return;
  void* dst = const_cast<void*>(call.dst.at);
  run.aligned(dst, 32, "dst");
  bool ok = true;
  for (int i = 0; i < call.count; ++i) {
    const MapOperand& source = call.sources[i];
    run.aligned(source.at, 32, source.what);
    ok = run.readLanes(source.at, lanes, item, source.stride, source.what) && ok;
  }
  if (call.readsDst) ok = run.readLanes(dst, lanes, item, call.dst.stride, "dst") && ok;
  ok = run.writeLanes(dst, lanes, item, call.dst.stride, "dst") && ok;
  if (ok && !run.skipsValues()) {
    const Stride second = call.count > 1 ? call.sources[1].stride : call.sources[0].stride;
    const Stride first = call.sources[0].stride;
    forEachRun(lanes, item, call.dst.stride, first, second, [&](const LaneRun& lane) {
      const void* sources[3] = {movedBy(call.sources[0], lane.src0),
                                call.count > 1 ? movedBy(call.sources[1], lane.src1) : nullptr,
                                nullptr};
      loop(static_cast<char*>(dst) + lane.dst * item, sources, lane.count, context);
    });
  }
  chargeMap(run, call, lanes.repeats);
}

}  // namespace kw
