#include "instruction.h"

#include <cstdarg>
#include <cstdio>
#include "launch.h"
#include "report.h"

namespace kw {

bool Lanes::isFull(uint32_t repeat) const {
  const uint64_t* mask = of(repeat);
  const uint64_t low = perRepeat >= 64 ? ~0ull : (1ull << perRepeat) - 1;
  const uint64_t high = perRepeat >= 128 ? ~0ull : 0;
  return (mask[0] & low) == low && (mask[1] & high) == high;
}

Instruction::Instruction(Pipe pipe, const char* name, const void* pc)
    : core_(*runningCore()), pipe_(pipe), name_(name) {
  core_.pc = pc;
  core_.instructions++;
  core_.forgetScalarWindow();
  PipeOrder& order = core_.pipes[static_cast<int>(pipe)];
  const Clock& scalar = core_.pipes[0].seen;
  order.seen.join(scalar);
  if (order.ownFinished < scalar.at[static_cast<int>(pipe)]) {
    order.ownFinished = scalar.at[static_cast<int>(pipe)];
  }
  viewer_ = core_.viewer(pipe);
}

bool Instruction::skipsValues() const { return launchIsTimingOnly(); }

void Instruction::fault(FaultCode code, const char* format, ...) const {
  FaultPlace place;
  place.pc = core_.pc;
  place.pipe = static_cast<int>(pipe_);
  char text[900];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  kw::fault(code, place, "%s: %s", name_, text);
}

bool Instruction::aligned(const void* start, uint32_t bytes, const char* what) {
  const LocalPlace at = placeOf(core_, start);
  if (!at.isLocal || at.offset % bytes == 0) return true;
  fault(FaultCode::UB_MISALIGNED,
        "%s starts at byte %u of %s, which is not a multiple of %u bytes (%u past one)", what,
        at.offset, memoryName(at.memory), bytes, at.offset % bytes);
  return false;
}

bool Instruction::place(const void* start, uint64_t bytes, const char* what, LocalPlace* out) {
  *out = placeOf(core_, start);
  if (!out->isLocal) {
    fault(FaultCode::LOCAL_NOT_A_TENSOR,
          "%s is not a tensor in on-chip memory (was its queue or buffer initialised?)", what);
    return false;
  }
  if ((memories_ >> static_cast<int>(out->memory) & 1) == 0) {
    fault(FaultCode::LOCAL_WRONG_MEMORY, "%s is in %s, where this instruction cannot work", what,
          memoryName(out->memory));
    return false;
  }
  const uint64_t end = out->offset + bytes;
  if (end > memoryBytes(out->memory)) {
    fault(FaultCode::LOCAL_OUT_OF_RANGE,
          "%s is bytes %u to %llu of %s, which has %u bytes", what, out->offset,
          static_cast<unsigned long long>(end), memoryName(out->memory), memoryBytes(out->memory));
  }
  return end <= kSlotBytes;
}

void Instruction::checkExtent(LocalMemory& memory, uint32_t low, uint32_t high, const char* what,
                              bool isWrite) {
  const Extent* extent = extentAt(memory, low);
  if (extent == nullptr) return;
  if (high > extent->high) {
    fault(isWrite ? FaultCode::BUFFER_OVERRUN : FaultCode::BUFFER_OVERREAD,
          "%s %s %u bytes past the end of its buffer of %u bytes", what,
          isWrite ? "is written" : "is read", high - extent->high, extent->high - extent->low);
  }
  if (!extent->isLent) {
    fault(FaultCode::TENSOR_USED_AFTER_FREE, "%s lies in a buffer that FreeTensor gave back", what);
  }
}

void Instruction::checkFilled(LocalMemory& memory, uint32_t low, uint32_t high, const char* what) {
  const Filled state = filled(memory, low, high);
  if (state == Filled::kAll) return;
  if (state == Filled::kNone) {
    fault(FaultCode::UNINITIALISED_READ, "%s (%u bytes) was never written", what, high - low);
  } else {
    fault(FaultCode::UNINITIALISED_TAIL, "some of the %u bytes of %s were never written",
          high - low, what);
  }
}

// Operands of one length are the same or apart. A destination that lies a whole repeat or more in
// front of its source is fine too: what it overwrites has been read.
void Instruction::checkOverlap(uint32_t low, uint32_t high, const char* what) {
  for (uint32_t i = 0; i < readCount_; ++i) {
    const auto& read = reads_[i];
    if (read.low == low || read.high <= low || high <= read.low) continue;
    if (read.high - read.low != high - low || (low < read.low && read.low - low >= 256)) continue;
    fault(FaultCode::OVERLAP, "%s (bytes %u to %u) overlaps %s (bytes %u to %u) in part", what, low,
          high, read.what, read.low, read.high);
  }
}

void Instruction::report(const Conflict& conflict, Memory memory, const char* what) const {
  FaultPlace place;
  place.pc = core_.pc;
  place.other = conflict.pc;
  place.pipe = static_cast<int>(pipe_);
  const char* other = kPipeLabels[conflict.pipe];
  const char* own = kPipeLabels[static_cast<int>(pipe_)];
  if (conflict.pipe == static_cast<uint8_t>(pipe_)) {
    kw::fault(FaultCode::BARRIER_MISSING, place,
              "%s: %s depends on an earlier instruction of pipe %s{other} with no PipeBarrier<PIPE_%s> "
              "between (bytes %u to %u of %s)",
              name_, what, own, own, conflict.low, conflict.high, memoryName(memory));
    return;
  }
  const FaultCode codes[] = {FaultCode::RACE_RAW, FaultCode::RACE_RAW, FaultCode::RACE_WAR,
                             FaultCode::RACE_WAW};
  const char* forms[] = {"", "%s: %s is read on pipe %s, but nothing waits for pipe %s, which writes it{other} "
                             "(bytes %u to %u of %s)",
                         "%s: %s is overwritten on pipe %s while pipe %s may still read it{other} "
                         "(bytes %u to %u of %s)",
                         "%s: %s is written on pipe %s while pipe %s may still write it{other} "
                         "(bytes %u to %u of %s)"};
  kw::fault(codes[conflict.kind], place, forms[conflict.kind], name_, what, own, other,
            conflict.low, conflict.high, memoryName(memory));
}

bool Instruction::access(const void* start, uint64_t bytes, const char* what, bool isWrite) {
  LocalPlace at;
  if (bytes == 0) return placeOf(core_, start).isLocal;
  if (!place(start, bytes, what, &at)) return false;
  if (launchIsUnchecked()) return true;
  LocalMemory& memory = core_.memories[static_cast<int>(at.memory)];
  const uint32_t high = at.offset + static_cast<uint32_t>(bytes);
  checkExtent(memory, at.offset, high, what, isWrite);
  if (isWrite) {
    checkOverlap(at.offset, high, what);
  } else {
    checkFilled(memory, at.offset, high, what);
    if (readCount_ < 4) reads_[readCount_++] = {at.offset, high, what};
  }
  const Conflict conflict = isWrite ? memory.region.write(at.offset, high, viewer_)
                                    : memory.region.read(at.offset, high, viewer_);
  if (conflict.kind != Conflict::kNone) report(conflict, at.memory, what);
  if (isWrite) markInitialised(memory, at.offset, high);
  return true;
}

bool Instruction::accessRows(const void* start, uint64_t rows, uint64_t bytes, uint64_t step,
                             const char* what, bool isWrite) {
  if (rows <= 1 || step == bytes) return access(start, rows * bytes, what, isWrite);
  const char* row = static_cast<const char*>(start);
  for (uint64_t i = 0; i < rows; ++i) {
    if (!access(row + i * step, bytes, what, isWrite)) return false;
  }
  return true;
}

bool Instruction::accessLanes(const void* start, const Lanes& lanes, uint32_t itemBytes,
                              Stride stride, const char* what, bool isWrite) {
  const uint32_t perBlock = 32 / itemBytes;
  const char* base = static_cast<const char*>(start);
  if (isDense(stride) && lanes.perRepeat * itemBytes == 256 && lanes.isFull(0) && lanes.repeats > 1) {
    const uint64_t whole = static_cast<uint64_t>(lanes.repeats - 1) * 256;
    if (!access(base, whole, what, isWrite)) return false;
    Lanes last = lanes;
    last.repeats = 1;
    return accessLanes(base + whole, last, itemBytes, stride, what, isWrite);
  }
  bool ok = true;
  const uint32_t repeats = stride.repeat == 0 && lanes.repeats > 1 ? 1 : lanes.repeats;
  for (uint32_t repeat = 0; repeat < repeats && ok; ++repeat) {
    const uint64_t* bits = repeats == lanes.repeats ? lanes.of(repeat) : lanes.bits;
    forEachLaneRun(bits, lanes.perRepeat, perBlock, stride.block == 1, [&](uint32_t lane, uint32_t n) {
      ok = ok && access(base + laneOffset(repeat, lane, perBlock, stride) * itemBytes,
                        static_cast<uint64_t>(n) * itemBytes, what, isWrite);
    });
  }
  return ok;
}

uint64_t Instruction::countBytes(int64_t count, uint32_t itemBytes) {
  if (count > 0) return static_cast<uint64_t>(count) * itemBytes;
  if (count < 0) fault(FaultCode::COUNT, "the count is %lld", static_cast<long long>(count));
  return 0;
}

Span Instruction::occupy(double cycles) {
  core_.tellScalarTime();
  const Span span = core_.clock->occupy(static_cast<TimedPipe>(pipe_), cycles);
  note(span);
  return span;
}

VectorOperand Instruction::operand(const void* address, Stride stride) const {
  const LocalPlace at = placeOf(core_, address);
  return {at.isLocal ? at.offset : kNoOperand, stride.block, stride.repeat};
}

void Instruction::note(const Span& span) {
  launchTiming().note(*core_.clock, static_cast<TimedPipe>(pipe_), span, name_, core_.pc);
}

}  // namespace kw
