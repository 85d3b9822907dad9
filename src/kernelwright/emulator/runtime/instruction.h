// One instruction of a pipe: declare what it reads and writes, do its work, give its cost.
//
//   Instruction run(Pipe::V, "Add", __builtin_return_address(0));
//   run.read(src, bytes, "src0");
//   if (!run.write(dst, bytes, "dst") || run.skipsValues()) return run.cost(...);
//   ... compute ...
//   run.cost(VectorCost{...});
//
// A declaration that returns false means that the memory cannot be touched at all (it is reported);
// every other fault lets the work go on, as the chip would.
#pragma once
#include "core.h"
#include "kw/mask.h"
#include "timing.h"

namespace kw {

// Active lanes of a level-0 instruction: `repeats` repeats, each with the lanes in `bits`; the last
// one with `lastBits` (counter mode). itemBytes 4: 64 lanes, 2: 128, 1: 128 or 256 by instruction.
struct Lanes {
  uint32_t repeats = 1;
  uint32_t perRepeat = 64;
  uint64_t bits[2] = {~0ull, 0};
  uint64_t lastBits[2] = {~0ull, 0};
  bool isFull(uint32_t repeat) const;
  const uint64_t* of(uint32_t repeat) const { return repeat + 1 == repeats ? lastBits : bits; }
};

class Instruction {
 public:
  Instruction(Pipe pipe, const char* name, const void* pc);

  // Contiguous bytes of on-chip memory. `what` names the operand in messages.
  bool read(const void* start, uint64_t bytes, const char* what) {
    return access(start, bytes, what, false);
  }
  bool write(const void* start, uint64_t bytes, const char* what) {
    return access(start, bytes, what, true);
  }
  // Lanes of itemBytes each, by block and repeat strides.
  bool readLanes(const void* start, const Lanes& lanes, uint32_t itemBytes, Stride stride,
                 const char* what) {
    return accessLanes(start, lanes, itemBytes, stride, what, false);
  }
  bool writeLanes(const void* start, const Lanes& lanes, uint32_t itemBytes, Stride stride,
                  const char* what) {
    return accessLanes(start, lanes, itemBytes, stride, what, true);
  }
  // Rows of bytes, `step` bytes apart.
  bool readRows(const void* start, uint64_t rows, uint64_t bytes, uint64_t step, const char* what) {
    return accessRows(start, rows, bytes, step, what, false);
  }
  bool writeRows(const void* start, uint64_t rows, uint64_t bytes, uint64_t step, const char* what) {
    return accessRows(start, rows, bytes, step, what, true);
  }
  // Reports a start that is not a multiple of `bytes` (32 for vector operands).
  bool aligned(const void* start, uint32_t bytes, const char* what);
  // Which memories the operands may be in; UB unless said otherwise.
  void allow(uint32_t memories) { memories_ = memories; }
  static constexpr uint32_t bit(Memory memory) { return 1u << static_cast<int>(memory); }

  // Whether values are not wanted (timing only).
  bool skipsValues() const;
  // Resolves a level-0 mask: register, counter mode, limits of the element width.
  Lanes lanes(const MaskArg& mask, uint32_t repeats, uint32_t itemBytes);
  // Bytes that a level-2 count means, 0 (reported) where it is not positive.
  uint64_t countBytes(int64_t count, uint32_t itemBytes);

  template <typename Cost>
  Span cost(const Cost& cost) {
    core_.tellScalarTime();
    const Span span = core_.clock->issue(cost);
    note(span);
    return span;
  }
  Span occupy(double cycles);
  // The cost of a vector operand for VectorCost.
  VectorOperand operand(const void* address, Stride stride = {1, 8}) const;

  __attribute__((format(printf, 3, 4)))
  void fault(FaultCode code, const char* format, ...) const;
  Core& core() { return core_; }
  Pipe pipe() const { return pipe_; }
  const char* name() const { return name_; }

 private:
  bool access(const void* start, uint64_t bytes, const char* what, bool isWrite);
  bool accessLanes(const void* start, const Lanes& lanes, uint32_t itemBytes, Stride stride,
                   const char* what, bool isWrite);
  bool accessRows(const void* start, uint64_t rows, uint64_t bytes, uint64_t step,
                  const char* what, bool isWrite);
  bool place(const void* start, uint64_t bytes, const char* what, LocalPlace* out);
  void checkExtent(LocalMemory& memory, uint32_t low, uint32_t high, const char* what, bool isWrite);
  void checkFilled(LocalMemory& memory, uint32_t low, uint32_t high, const char* what);
  void checkOverlap(uint32_t low, uint32_t high, const char* what);
  void report(const Conflict& conflict, Memory memory, const char* what) const;
  void note(const Span& span);

  Core& core_;
  Pipe pipe_;
  const char* name_;
  Viewer viewer_;
  uint32_t memories_ = 1u << static_cast<int>(Memory::UB);
  struct { uint32_t low, high; const char* what; } reads_[4];  // contiguous ones, for overlaps
  uint32_t readCount_ = 0;
};

// Calls f(element index in dst, src0, src1, count) for each run of active lanes of a two-operand
// instruction with its strides; contiguous repeats come as one run.
struct LaneRun { uint64_t dst, src0, src1; uint32_t count; };

template <typename F>
void forEachRun(const Lanes& lanes, uint32_t itemBytes, Stride dst, Stride src0, Stride src1, F&& f);

}  // namespace kw

#include "lane_runs.h"
