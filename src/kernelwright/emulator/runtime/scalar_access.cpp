// Scalar accesses that the inline path does not know yet: the data cache's misses, and the first
// touch of a part of UB after an instruction.
#include "global_memory.h"
#include "launch.h"

namespace kw {

namespace {

constexpr const char* kGet = "GetValue";
constexpr const char* kSet = "SetValue";

void flushLine(Core& core, ScalarLine& line) {
  if (line.tag == ~0ull || line.dirty == 0) return;
  GmRecord* record = gmFind(reinterpret_cast<void*>((line.tag << 6) + static_cast<uint64_t>(
                                __builtin_ctzll(line.dirty))));
  if (record == nullptr || record->lines == nullptr) return;
  GmLine& kept = record->lines[line.tag - record->lineBase];
  const PipeOrder& scalar = core.pipes[0];
  if (kept.writer.word == Stamp::of(core.index, 0, scalar.seen.at[0]).word) kept.mask |= line.dirty;
  line.dirty = 0;
}

// Whether another core's unfinished scalar write shares the line.
bool isShared(const Core& core, const GmRecord& record, uint64_t line) {
  const auto isForeign = [&](Stamp stamp) {
    return stamp.isSet() && stamp.core() != core.index && stamp.pipe() == 0 &&
           !coreSees(core, Pipe::S, stamp);
  };
  if (isForeign(record.lines[line].writer)) return true;
  const auto found = record.shared.find(line);
  if (found == record.shared.end()) return false;
  for (const OldWriter& old : found->second) {
    if (isForeign(old.writer)) return true;
  }
  return false;
}

bool outOfBounds(const void* address, uint32_t bytes, bool isWrite) {
  FaultPlace place;
  place.pipe = 0;
  fault(FaultCode::GM_OUT_OF_BOUNDS, place, "%s touches %u bytes outside every tensor%s",
        isWrite ? kSet : kGet, bytes, nearestRecord(address).c_str());
  return false;
}

void reportShared(const GmRecord& record, const void* address) {
  FaultPlace place;
  place.pipe = 0;
  fault(FaultCode::GM_LINE_SHARED, place,
        "SetValue writes byte %llu of %s; another block has written the same 64-byte line by "
        "SetValue, and one of the two writes may be lost",
        static_cast<unsigned long long>(static_cast<const char*>(address) - record.start),
        record.name.c_str());
}

}  // namespace

void flushScalarLines(Core& core) {
  for (ScalarLine& line : core.lines) {
    flushLine(core, line);
    line = {~0ull, 0};
  }
}

bool scalarGm(const void* address, uint32_t bytes, bool isWrite, const void* value) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  GmRecord* record = gmFind(address);
  if (record == nullptr || gmRoom(*record, address) < bytes) return outOfBounds(address, bytes, isWrite);
  if (at % bytes != 0) {
    FaultPlace place;
    place.pipe = 0;
    fault(FaultCode::GM_MISALIGNED, place, "%s of %u bytes at an address that is not a multiple of them",
          isWrite ? kSet : kGet, bytes);
  }
  core.tellScalarTime();
  core.clock->scalar_gm_access(at, isWrite);
  ScalarLine& line = core.lines[(at >> 6) & (kScalarLines - 1)];
  if (launchIsUnchecked()) {
    line = {at >> 6, ~0ull};
    return true;
  }
  if (line.tag != at >> 6) flushLine(core, line);
  const uint64_t dirty = line.tag == at >> 6 ? line.dirty : 0;
  gmTouch(*record, {address, bytes, isWrite, false, value}, Pipe::S, isWrite ? kSet : kGet);
  const uint64_t index = (at >> 6) - record->lineBase;
  const bool shared = record->lines[index].writer.core() != core.index
                          ? record->lines[index].writer.isSet()
                          : !record->shared.empty() && record->shared.count(index) != 0;
  if (isWrite && shared && isShared(core, *record, index)) reportShared(*record, address);
  // A line that ends outside the tensor, or that others have part in, is looked at each time.
  const bool isWhole = at >> 6 << 6 >= reinterpret_cast<uint64_t>(record->start) &&
                       gmRoom(*record, reinterpret_cast<void*>(at >> 6 << 6)) >= 64;
  if (!isWhole || shared || (at & 63) + bytes > 64) {
    line = {~0ull, 0};
  } else {
    const uint64_t mask = ((1ull << bytes) - 1) << (at & 63);
    line = {at >> 6, isWrite ? dirty | mask : dirty};
  }
  return true;
}

bool scalarLocal(const void* address, uint32_t bytes, bool isWrite) {
  Core& core = *runningCore();
  core.pc = __builtin_return_address(0);
  FaultPlace place;
  place.pipe = 0;
  const LocalPlace at = placeOf(core, address);
  const char* api = isWrite ? kSet : kGet;
  if (!at.isLocal || at.memory != Memory::UB) {
    fault(at.isLocal ? FaultCode::LOCAL_WRONG_MEMORY : FaultCode::LOCAL_NOT_A_TENSOR, place,
          "%s: the tensor is not in UB (was its queue or buffer initialised?)", api);
    return at.isLocal;
  }
  core.scalarLocal++;
  if (at.offset + bytes > chip().ub_bytes) {
    fault(FaultCode::LOCAL_OUT_OF_RANGE, place, "%s touches byte %u of UB, which has %u bytes", api,
          at.offset, chip().ub_bytes);
    return at.offset + bytes <= kSlotBytes;
  }
  if (at.offset % bytes != 0) {
    fault(FaultCode::UB_MISALIGNED, place, "%s touches byte %u of UB, not a multiple of %u", api,
          at.offset, bytes);
  }
  LocalMemory& memory = core.memories[static_cast<int>(Memory::UB)];
  uint32_t low = 0, high = 0;
  const uint32_t pipes = memory.region.around(at.offset, chip().ub_bytes, &low, &high);
  const Extent* extent = extentAt(memory, at.offset);
  if (extent != nullptr) {
    low = low > extent->low ? low : extent->low;
    high = high < extent->high ? high : extent->high;
    if (!extent->isLent) {
      fault(FaultCode::TENSOR_USED_AFTER_FREE, place, "%s touches a tensor that was freed", api);
    }
  }
  // The compiler makes the scalar unit wait for the pipes that touch what it touches.
  for (int pipe = 1; pipe < kPipeCount; ++pipe) {
    if ((pipes >> pipe & 1) != 0) core.join(Pipe::S, core.signal(static_cast<Pipe>(pipe)));
  }
  core.readLow = core.writeLow = low;
  core.readSpan = core.writeSpan = high - low;
  if (isWrite) {
    markInitialised(memory, at.offset, at.offset + bytes);
  } else if (!launchIsUnchecked() && filled(memory, at.offset, at.offset + bytes) != Filled::kAll) {
    fault(FaultCode::UNINITIALISED_READ, place, "%s reads byte %u of UB, which nothing has written",
          api, at.offset);
  }
  return true;
}

}  // namespace kw
