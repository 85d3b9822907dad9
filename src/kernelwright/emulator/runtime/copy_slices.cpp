// DataCopy by SliceInfo: slices of a tensor of several dimensions, the innermost first.
#include <cstring>
#include <vector>
#include "global_memory.h"
#include "instruction.h"
#include "kw/data_copy.h"

namespace kw {

namespace {

// Starts of the slices in bytes, the innermost dimension running fastest.
std::vector<uint64_t> startsOf(const AscendC::SliceInfo* info, uint32_t dims, uint32_t itemBytes) {
  std::vector<uint64_t> starts{0};
  uint64_t pitch = itemBytes;
  for (uint32_t d = 0; d < dims; ++d) {
    const uint64_t burst = d == 0 ? info[0].burstLen * 32ull / itemBytes : 1;
    const uint64_t step = burst + info[d].stride;
    std::vector<uint64_t> next;
    for (uint64_t at = info[d].startIndex; burst != 0 && at + burst <= info[d].endIndex + 1ull; at += step) {
      for (const uint64_t inner : starts) next.push_back(inner + at * pitch);
    }
    starts.swap(next);
    pitch *= info[d].shapeValue;
  }
  return starts;
}

}  // namespace

void copySlices(const CopyArgs& base, const AscendC::SliceInfo* dst, const AscendC::SliceInfo* src,
                uint32_t dims, bool isIn) {
  Instruction run(isIn ? Pipe::MTE2 : Pipe::MTE3, "DataCopy", __builtin_return_address(0));
  const std::vector<uint64_t> to = startsOf(dst, dims, base.itemBytes);
  const std::vector<uint64_t> from = startsOf(src, dims, base.itemBytes);
  if (to.size() != from.size() || dst[0].burstLen != src[0].burstLen) {
    run.fault(FaultCode::COPY_PARAMS, "the source has %zu slices of %u blocks, the destination %zu of %u",
              from.size(), src[0].burstLen, to.size(), dst[0].burstLen);
  }
  const uint64_t bytes = src[0].burstLen * 32ull;
  for (size_t i = 0; i < to.size() && i < from.size(); ++i) {
    char* out = static_cast<char*>(base.dst) + to[i];
    const char* in = static_cast<const char*>(base.src) + from[i];
    run.aligned(isIn ? out : in, 32, isIn ? "dst" : "src");
    if (!(isIn ? run.write(out, bytes, "dst") : run.read(in, bytes, "src"))) return;
    const uint64_t have = gmRange(run, {isIn ? in : out, bytes, !isIn, false, isIn ? nullptr : in});
    if (!run.skipsValues()) std::memcpy(out, in, have);
  }
  CopyCost cost;
  cost.path = isIn ? CopyPath::GmToUb : CopyPath::UbToGm;
  cost.rows = static_cast<uint32_t>(from.size());
  cost.row_bytes = bytes;
  cost.gm = reinterpret_cast<uint64_t>(isIn ? base.src : base.dst);
  cost.gm_stride = bytes + (isIn ? src : dst)[0].stride * static_cast<uint64_t>(base.itemBytes);
  run.cost(cost);
}

}  // namespace kw
