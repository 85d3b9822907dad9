// The Matmul API's view of the emulated chip: ranges of global memory, and the cube core's time.
#include "matmul_chip.h"

#include <utility>

#include "global_memory.h"
#include "instruction.h"
#include "launch.h"

namespace kw {

bool isMatmulServer() { return runningCore()->coreType == AscendC::AIC; }

bool wantsValues() { return !launchIsTimingOnly(); }

void refuseMatmul(const char* code, const char* message) {
  fault(FaultCode::ARGUMENT, FaultPlace(), "%s: %s", code, message);
}

namespace {

bool touchRow(Instruction& run, const Matrix& matrix, const char* start, uint64_t bytes, bool isWrite) {
  if (matrix.isGlobal) return gmRange(run, {start, bytes, isWrite, false, nullptr}) == bytes;
  return isWrite ? run.write(start, bytes, "C") : run.read(start, bytes, "A, B or bias");
}

}  // namespace

// The rectangle is one of the product's operand; a transposed matrix lies the other way round. In
// a fractal layout it is scattered, so that the whole matrix stands for it.
bool touchRectangle(const Rectangle& rectangle, bool isWrite) {
  const Matrix& matrix = *rectangle.matrix;
  Rectangle lies = rectangle;
  if (matrix.isTransposed) {
    std::swap(lies.row, lies.column);
    std::swap(lies.rows, lies.columns);
  }
  if (matrix.layout == MatrixLayout::kNz) lies = {&matrix, 0, 0, matrix.rows, matrix.pitch};
  const uint64_t item = kDtypeBits[static_cast<int>(matrix.dtype)] / 8;
  Core& core = *runningCore();
  const Pipe pipe = isWrite ? Pipe::FIX : Pipe::MTE2;
  Instruction run(pipe, "Matmul", core.pc);
  const char* base = static_cast<const char*>(matrix.data);
  bool fits = true;
  for (int64_t row = 0; row < lies.rows && fits; ++row) {
    const auto at = static_cast<uint64_t>((lies.row + row) * matrix.pitch + lies.column);
    fits = touchRow(run, matrix, base + at * item, static_cast<uint64_t>(lies.columns) * item, isWrite);
  }
  // The call comes back when the product is there: the caller's later instructions follow it.
  core.join(Pipe::S, core.signal(pipe));
  return fits;
}

void chargeProduct(const MatmulState& state, int64_t m, int64_t n, int64_t k, bool) {
  Instruction run(Pipe::M, "Matmul", runningCore()->pc);
  const double macs = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const double rate = state.a.dtype == Dtype::f32 ? 1024 : 4096;
  run.occupy(macs / rate);
  runningCore()->join(Pipe::S, runningCore()->signal(Pipe::M));
}

}  // namespace kw
