// SoftMax, SimpleSoftMax, SoftmaxFlash, SoftmaxFlashV2, LogSoftMax: rows in float, rounded at the end.
#include "kw/softmax.h"

#include <cmath>
#include <vector>

#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

constexpr const char* kNames[] = {"SoftMax", "SimpleSoftMax", "SoftmaxFlash", "SoftmaxFlashV2",
                                  "LogSoftMax"};

uint32_t itemBytes(Dtype dtype) { return dtype == Dtype::f16 ? 2 : 4; }

float readAt(Dtype dtype, const void* from, uint64_t i) {
  return dtype == Dtype::f16 ? static_cast<float>(static_cast<const half*>(from)[i])
                             : static_cast<const float*>(from)[i];
}

void writeAt(Dtype dtype, void* to, uint64_t i, float value) {
  if (dtype == Dtype::f16) {
    static_cast<half*>(to)[i] = half(value);
  } else {
    static_cast<float*>(to)[i] = value;
  }
}

// Row r of a tensor with one 32-byte block a row.
float blockValue(Dtype dtype, const void* from, uint32_t row) {
  return readAt(dtype, from, uint64_t{row} * (32 / itemBytes(dtype)));
}

void fillBlock(Dtype dtype, void* to, uint32_t row, float value) {
  const uint32_t n = 32 / itemBytes(dtype);
  for (uint32_t i = 0; to != nullptr && i < n; ++i) writeAt(dtype, to, uint64_t{row} * n + i, value);
}

bool isShapeLegal(const Instruction& run, const SoftmaxCall& call) {
  const uint64_t rowBytes = uint64_t{call.shape.srcK} * itemBytes(call.dtype);
  if (call.shape.srcM == 0 || rowBytes == 0 || rowBytes % 32 != 0) {
    run.fault(FaultCode::ARGUMENT, "the matrix is %u x %u; a row is a multiple of 32 bytes",
              call.shape.srcM, call.shape.srcK);
    return false;
  }
  return true;
}

bool touch(Instruction& run, const SoftmaxCall& call) {
  const uint64_t bytes = uint64_t{call.shape.srcM} * call.shape.srcK * itemBytes(call.dtype);
  const uint64_t rows = uint64_t{call.shape.srcM} * 32;
  const bool isSimple = call.kind == SoftmaxKind::kSimple;
  run.aligned(call.src, 32, "src");
  run.aligned(call.dst, 32, "dst");
  if (call.work != nullptr) run.aligned(call.work, 32, "sharedTmpBuffer");
  bool ok = run.read(call.src, bytes, "src");
  if (isSimple || call.updates) {
    ok = run.read(isSimple ? call.sum : call.inSum, rows, "inSum") && ok;
    ok = run.read(isSimple ? call.max : call.inMax, rows, "inMax") && ok;
  }
  if (!isSimple && call.sum != nullptr) {
    ok = run.write(call.sum, rows, "sum") && ok;
    ok = run.write(call.max, rows, "max") && ok;
  }
  if (call.updates) ok = run.write(call.expMax, rows, "expMax") && ok;
  return run.write(call.dst, bytes, "dst") && ok;
}

struct Row { float max, sum, expMax; };

Row statisticsOf(const SoftmaxCall& call, uint32_t row, const std::vector<float>& x, uint32_t n) {
  if (call.kind == SoftmaxKind::kSimple) {
    return {blockValue(call.statistics, call.max, row), blockValue(call.statistics, call.sum, row), 1};
  }
  Row out{-INFINITY, 0.0f, 1.0f};
  for (uint32_t i = 0; i < n; ++i) out.max = x[i] > out.max || x[i] != x[i] ? x[i] : out.max;
  if (call.updates) out.max = std::fmax(out.max, blockValue(call.statistics, call.inMax, row));
  for (uint32_t i = 0; i < n; ++i) out.sum += std::exp(x[i] - out.max);
  if (call.updates) {
    const float before = blockValue(call.statistics, call.inSum, row);
    out.expMax = std::exp(blockValue(call.statistics, call.inMax, row) - out.max);
    out.sum += out.expMax * before;
    if (call.kind == SoftmaxKind::kFlash) out.expMax *= before / out.sum;
  }
  return out;
}

float resultOf(SoftmaxKind kind, float x, const Row& row) {
  if (kind == SoftmaxKind::kLog) return x - row.max - std::log(row.sum);
  const float raised = std::exp(x - row.max);
  return kind == SoftmaxKind::kFlashV2 ? raised : raised / row.sum;
}

void oneRow(const SoftmaxCall& call, uint32_t row) {
  const uint32_t k = call.shape.srcK;
  const uint32_t used = call.shape.oriSrcK == 0 ? k : call.shape.oriSrcK;
  std::vector<float> x(k);
  for (uint32_t i = 0; i < k; ++i) x[i] = readAt(call.dtype, call.src, uint64_t{row} * k + i);
  const Row facts = statisticsOf(call, row, x, used);
  for (uint32_t i = 0; i < used; ++i) {
    writeAt(call.dtype, call.dst, uint64_t{row} * k + i, resultOf(call.kind, x[i], facts));
  }
  if (call.kind == SoftmaxKind::kSimple) return;
  fillBlock(call.statistics, call.max, row, facts.max);
  fillBlock(call.statistics, call.sum, row, facts.sum);
  if (call.updates) fillBlock(call.dtype, call.expMax, row, facts.expMax);
}

}  // namespace

void softmax(const SoftmaxCall& call) {
  Instruction run(Pipe::V, kNames[static_cast<int>(call.kind)], __builtin_return_address(0));
  if (!isShapeLegal(run, call)) return;
  const bool ok = touch(run, call);
  for (uint32_t row = 0; ok && !run.skipsValues() && row < call.shape.srcM; ++row) oneRow(call, row);
  const uint64_t bytes = uint64_t{call.shape.srcM} * call.shape.srcK * itemBytes(call.dtype);
  MapCall cost(VectorOp::Sub, {call.dst, call.dtype, {}, "dst"}, {call.src, call.dtype, {}, "src"});
  for (const VectorOp op : {VectorOp::RepeatReduceMax, VectorOp::Brcb, VectorOp::Sub, VectorOp::Exp,
                            VectorOp::RepeatReduceSum, VectorOp::Brcb, VectorOp::Div}) {
    cost.op = op;
    chargeMap(run, cost, static_cast<uint32_t>((bytes + 255) / 256));
  }
}

}  // namespace kw
