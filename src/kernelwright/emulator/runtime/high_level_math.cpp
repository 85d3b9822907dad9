// High-level elementwise calls: values as in <cmath> rounded to the element type, time as the number
// of vector instructions that such a call takes.
#include "kw/high_level_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fast_math.h"
#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

// `plain` instructions of one repeat a cycle, `slow` of two (exp, divide, square root).
struct OpFacts { const char* name; uint8_t plain, slow; };

const OpFacts& factsOf(MathOp op) {
  static constexpr OpFacts kFacts[] = {
      {"Tanh", 5, 2}, {"Sigmoid", 3, 2}, {"Silu", 3, 2}, {"Gelu", 8, 2}, {"FasterGelu", 4, 2},
      {"FasterGeluV2", 6, 1}, {"Erf", 14, 1}, {"Erfc", 18, 2}, {"Log", 0, 1}, {"Log2", 1, 1},
      {"Log10", 1, 1}, {"Sin", 20, 0}, {"Cos", 20, 0}, {"Tan", 22, 1}, {"Sinh", 4, 2},
      {"Cosh", 4, 2}, {"Asin", 24, 1}, {"Acos", 25, 1}, {"Atan", 30, 2}, {"Asinh", 6, 2},
      {"Acosh", 5, 2}, {"Atanh", 4, 2}, {"Floor", 2, 0}, {"Ceil", 2, 0}, {"Round", 2, 0},
      {"Trunc", 2, 0}, {"Frac", 3, 0}, {"Sign", 6, 0}, {"Lgamma", 60, 8}, {"Digamma", 50, 8},
      {"Swish", 3, 2}, {"Exp", 8, 1}, {"ClampMax", 2, 0}, {"ClampMin", 2, 0}, {"Rsqrt", 1, 1}};
  return kFacts[static_cast<int>(op)];
}

double digamma(double x) {
  double shift = 0.0;
  if (x <= 0.0) {
    if (x == std::floor(x)) return NAN;
    return digamma(1.0 - x) - M_PI / std::tan(M_PI * x);
  }
  for (; x < 10.0; x += 1.0) shift -= 1.0 / x;
  const double s = 1.0 / (x * x);
  return shift + std::log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252)));
}

double valueOf(MathOp op, double x, double parameter) {
  switch (op) {
    case MathOp::kSigmoid: return 1.0 / (1.0 + std::exp(-x));
    case MathOp::kSilu: return x / (1.0 + std::exp(-x));
    case MathOp::kSwish: return x / (1.0 + std::exp(-parameter * x));
    case MathOp::kGelu:
      return 0.5 * x * (1.0 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case MathOp::kFasterGelu: return x / (1.0 + std::exp(-1.702 * x));
    case MathOp::kFasterGeluV2: return 0.5 * x * (1.0 + std::erf(x * 0.7071067811865476));
    case MathOp::kErf: return std::erf(x);
    case MathOp::kErfc: return std::erfc(x);
    case MathOp::kLog: return std::log(x);
    case MathOp::kLog2: return std::log2(x);
    case MathOp::kLog10: return std::log10(x);
    case MathOp::kSin: return std::sin(x);
    case MathOp::kCos: return std::cos(x);
    case MathOp::kTan: return std::tan(x);
    case MathOp::kSinh: return std::sinh(x);
    case MathOp::kCosh: return std::cosh(x);
    case MathOp::kAsin: return std::asin(x);
    case MathOp::kAcos: return std::acos(x);
    case MathOp::kAtan: return std::atan(x);
    case MathOp::kAsinh: return std::asinh(x);
    case MathOp::kAcosh: return std::acosh(x);
    case MathOp::kAtanh: return std::atanh(x);
    case MathOp::kFloor: return std::floor(x);
    case MathOp::kCeil: return std::ceil(x);
    case MathOp::kRound: return std::nearbyint(x);
    case MathOp::kTrunc: return std::trunc(x);
    case MathOp::kFrac: return x - std::trunc(x);
    case MathOp::kSign: return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
    case MathOp::kLgamma: return std::lgamma(x);
    case MathOp::kDigamma: return digamma(x);
    case MathOp::kClampMax: return x > parameter ? parameter : x;
    case MathOp::kClampMin: return x < parameter ? parameter : x;
    case MathOp::kExp: return std::exp(x);
    case MathOp::kRsqrt: return 1.0 / std::sqrt(x);
    default: return std::tanh(x);
  }
}

struct UnaryContext { MathOp op; float parameter; };

template <typename T>
void unaryLoop(void* dst, const void* const* sources, uint64_t n, const void* context) {
  const UnaryContext& c = *static_cast<const UnaryContext*>(context);
  T* out = static_cast<T*>(dst);
  const T* in = static_cast<const T*>(sources[0]);
  if constexpr (sizeof(T) == sizeof(float)) {
    if (c.op == MathOp::kTanh) return tanhRun(out, in, n);
  }
  for (uint64_t i = 0; i < n; ++i) {
    const double value = valueOf(c.op, static_cast<float>(in[i]), c.parameter);
    out[i] = static_cast<T>(static_cast<float>(value));
  }
}

struct BinaryContext { MathOp2 op; float parameter; bool isFirstScalar; };

double valueOf(MathOp2 op, double x, double y, double parameter) {
  switch (op) {
    case MathOp2::kFmod: return std::fmod(x, y);
    case MathOp2::kSwiGlu: return x * y / (1.0 + std::exp(-parameter * y));
    case MathOp2::kGeGlu:
      return x * 0.5 * y * (1.0 + std::tanh(0.7978845608028654 * (y + 0.044715 * y * y * y)));
    case MathOp2::kReGlu: return x * (y > 0.0 || y != y ? y : 0.0);
    default: return std::pow(x, y);
  }
}

template <typename T>
void binaryLoop(void* dst, const void* const* sources, uint64_t n, const void* context) {
  const BinaryContext& c = *static_cast<const BinaryContext*>(context);
  T* out = static_cast<T*>(dst);
  const T* a = static_cast<const T*>(sources[0]);
  const T* b = static_cast<const T*>(sources[1]);
  for (uint64_t i = 0; i < n; ++i) {
    double x = static_cast<double>(a[i]), y = c.parameter;
    if (b != nullptr) y = static_cast<double>(b[i]);
    if (b == nullptr && c.isFirstScalar) std::swap(x, y);
    const double value = valueOf(c.op, x, y, c.parameter);
    if constexpr (std::is_integral_v<T>) {
      out[i] = static_cast<T>(std::llround(value));
    } else {
      out[i] = static_cast<T>(static_cast<float>(value));
    }
  }
}

void xorLoop(void* dst, const void* const* sources, uint64_t n, const void*) {
  uint16_t* out = static_cast<uint16_t*>(dst);
  const uint16_t* a = static_cast<const uint16_t*>(sources[0]);
  const uint16_t* b = static_cast<const uint16_t*>(sources[1]);
  for (uint64_t i = 0; i < n; ++i) out[i] = a[i] ^ b[i];
}

MapLoop loopFor(MathOp2 op, Dtype dtype) {
  if (op == MathOp2::kXor) return xorLoop;
  if (dtype == Dtype::i32) return binaryLoop<int32_t>;
  return dtype == Dtype::f16 ? binaryLoop<half> : binaryLoop<float>;
}

void chargeMore(Instruction& run, const MapCall& call, int64_t count, int plain, int slow) {
  const uint64_t bytes = static_cast<uint64_t>(count) * call.dst.itemBytes();
  MapCall one = call;
  for (int i = 0; i < plain + slow; ++i) {
    one.op = i < plain ? VectorOp::Mul : VectorOp::Exp;
    chargeMap(run, one, static_cast<uint32_t>((bytes + 255) / 256));
  }
}

}  // namespace

void mathUnary(MathOp op, Dtype dtype, void* dst, const void* src, const void* work, int64_t count,
               float parameter) {
  const OpFacts& facts = factsOf(op);
  Instruction run(Pipe::V, facts.name, __builtin_return_address(0));
  if (work != nullptr) run.aligned(work, 32, "sharedTmpBuffer");
  const MapCall call(facts.slow > 0 ? VectorOp::Exp : VectorOp::Mul, {dst, dtype, {}, "dst"},
                     {src, dtype, {}, "src"});
  const UnaryContext context{op, parameter};
  mapCount(run, call, count, dtype == Dtype::f16 ? unaryLoop<half> : unaryLoop<float>, &context);
  const int done = facts.slow > 0 ? 0 : 1;
  if (count > 0) chargeMore(run, call, count, facts.plain - done, facts.slow - 1 + done);
}

void mathBinary(MathOp2 op, Dtype dtype, void* dst, const void* src0, const void* src1,
                int64_t count, float parameter) {
  static constexpr const char* kNames[] = {"Power", "Fmod", "Xor", "SwiGLU", "GeGLU", "ReGlu"};
  Instruction run(Pipe::V, kNames[static_cast<int>(op)], __builtin_return_address(0));
  const MapOperand first{src0 != nullptr ? src0 : src1, dtype, {}, "src0"};
  MapCall call(VectorOp::Mul, {dst, dtype, {}, "dst"}, first, {src1, dtype, {}, "src1"});
  call.count = src0 != nullptr && src1 != nullptr ? 2 : 1;
  const BinaryContext context{op, parameter, src0 == nullptr};
  mapCount(run, call, count, loopFor(op, dtype), &context);
  if (count > 0) chargeMore(run, call, count, op == MathOp2::kPower ? 24 : 5, 2);
}

}  // namespace kw
