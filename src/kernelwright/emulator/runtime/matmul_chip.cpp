// The Matmul API's view of the emulated chip: ranges of global memory, and the cube core's time.
#include "matmul_chip.h"

#include "global_memory.h"
#include "instruction.h"
#include "launch.h"

namespace kw {

bool isMatmulServer() { return runningCore()->coreType == AscendC::AIC; }

bool wantsValues() { return !launchIsTimingOnly(); }

void refuseMatmul(const char* code, const char* message) {
  fault(FaultCode::ARGUMENT, FaultPlace(), "%s: %s", code, message);
}

bool touchRectangle(const Rectangle& rectangle, bool isWrite) {
  const Matrix& matrix = *rectangle.matrix;
  const uint64_t item = kDtypeBits[static_cast<int>(matrix.dtype)] / 8;
  const Core& core = *runningCore();
  Instruction run(isWrite ? Pipe::FIX : Pipe::MTE2, "Matmul", core.pc);
  const char* base = static_cast<const char*>(matrix.data);
  for (int64_t row = 0; row < rectangle.rows; ++row) {
    const auto at = static_cast<uint64_t>((rectangle.row + row) * matrix.pitch + rectangle.column);
    const uint64_t bytes = static_cast<uint64_t>(rectangle.columns) * item;
    const bool fits = matrix.isGlobal
                          ? gmRange(run, {base + at * item, bytes, isWrite, false, nullptr}) == bytes
                          : isWrite ? run.write(base + at * item, bytes, "C")
                                    : run.read(base + at * item, bytes, "A, B or bias");
    if (!fits) return false;
  }
  return true;
}

void chargeProduct(const MatmulState& state, int64_t m, int64_t n, int64_t k, bool) {
  Instruction run(Pipe::M, "Matmul", runningCore()->pc);
  const double macs = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const double rate = state.a.dtype == Dtype::f32 ? 1024 : 4096;
  run.occupy(macs / rate);
  runningCore()->join(Pipe::S, runningCore()->signal(Pipe::M));
}

}  // namespace kw
