// Exp, Ln, Abs, Reciprocal, Sqrt, Rsqrt, Relu, Not.
#include "kw/vector_unary.h"

#include <cmath>

#include "fast_math.h"
#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

struct OpFacts { const char* name; VectorOp cost; };

const OpFacts& factsOf(UnaryOp op) {
  static constexpr OpFacts kFacts[] = {
      {"Exp", VectorOp::Exp}, {"Ln", VectorOp::Ln}, {"Abs", VectorOp::Abs},
      {"Reciprocal", VectorOp::Reciprocal}, {"Sqrt", VectorOp::Sqrt}, {"Rsqrt", VectorOp::Rsqrt},
      {"Relu", VectorOp::Relu}, {"Not", VectorOp::Bitwise}};
  return kFacts[static_cast<int>(op)];
}

template <UnaryOp op>
float valueOf(float x) {
  if constexpr (op == UnaryOp::kAbs) return std::fabs(x);
  if constexpr (op == UnaryOp::kReciprocal) return 1.0f / x;
  if constexpr (op == UnaryOp::kSqrt) return std::sqrt(x);
  if constexpr (op == UnaryOp::kRsqrt) return 1.0f / std::sqrt(x);
  return x > 0.0f || x != x ? x : 0.0f;  // kRelu; a NaN stays one
}

// exp and ln over a run; half goes through float in pieces that stay in the first cache.
template <UnaryOp op>
void whole(float* out, const float* in, uint64_t n) {
  if constexpr (op == UnaryOp::kExp) {
    expRun(out, in, n);
  } else {
    lnRun(out, in, n);
  }
}

template <UnaryOp op, typename T>
void loopOf(void* dst, const void* const* sources, uint64_t n, const void*) {
  T* out = static_cast<T*>(dst);
  const T* in = static_cast<const T*>(sources[0]);
  constexpr bool isWhole = op == UnaryOp::kExp || op == UnaryOp::kLn;
  if constexpr (!isWhole) {
    for (uint64_t i = 0; i < n; ++i) out[i] = static_cast<T>(valueOf<op>(in[i]));
  } else if constexpr (sizeof(T) == sizeof(float)) {
    whole<op>(out, in, n);
  } else {
    constexpr uint64_t kPiece = 256;
    float piece[kPiece];
    for (uint64_t first = 0; first < n; first += kPiece) {
      const uint64_t m = n - first < kPiece ? n - first : kPiece;
      for (uint64_t i = 0; i < m; ++i) piece[i] = in[first + i];
      whole<op>(piece, piece, m);
      for (uint64_t i = 0; i < m; ++i) out[first + i] = static_cast<T>(piece[i]);
    }
  }
}

void notLoop(void* dst, const void* const* sources, uint64_t n, const void*) {
  uint16_t* out = static_cast<uint16_t*>(dst);
  const uint16_t* in = static_cast<const uint16_t*>(sources[0]);
  for (uint64_t i = 0; i < n; ++i) out[i] = static_cast<uint16_t>(~in[i]);
}

void reluInteger(void* dst, const void* const* sources, uint64_t n, const void*) {
  int32_t* out = static_cast<int32_t*>(dst);
  const int32_t* in = static_cast<const int32_t*>(sources[0]);
  for (uint64_t i = 0; i < n; ++i) out[i] = in[i] > 0 ? in[i] : 0;
}

template <UnaryOp op>
MapLoop typed(Dtype dtype) {
  return dtype == Dtype::f16 ? loopOf<op, half> : loopOf<op, float>;
}

MapLoop loopFor(UnaryOp op, Dtype dtype) {
  switch (op) {
    case UnaryOp::kExp: return typed<UnaryOp::kExp>(dtype);
    case UnaryOp::kLn: return typed<UnaryOp::kLn>(dtype);
    case UnaryOp::kAbs: return typed<UnaryOp::kAbs>(dtype);
    case UnaryOp::kReciprocal: return typed<UnaryOp::kReciprocal>(dtype);
    case UnaryOp::kSqrt: return typed<UnaryOp::kSqrt>(dtype);
    case UnaryOp::kRsqrt: return typed<UnaryOp::kRsqrt>(dtype);
    case UnaryOp::kNot: return notLoop;
    default: return dtype == Dtype::i32 ? reluInteger : typed<UnaryOp::kRelu>(dtype);
  }
}

}  // namespace

void vectorUnary(UnaryOp op, Dtype dtype, void* dst, const void* src, int32_t count) {
  Instruction run(Pipe::V, factsOf(op).name, __builtin_return_address(0));
  const MapCall call(factsOf(op).cost, {dst, dtype, {}, "dst"}, {src, dtype, {}, "src"});
  mapCount(run, call, count, loopFor(op, dtype), nullptr);
}

void vectorUnaryRepeat(UnaryOp op, Dtype dtype, void* dst, const void* src, const MaskArg& mask,
                       uint8_t repeats, Stride dstStride, Stride srcStride) {
  Instruction run(Pipe::V, factsOf(op).name, __builtin_return_address(0));
  const MapCall call(factsOf(op).cost, {dst, dtype, dstStride, "dst"},
                     {src, dtype, srcStride, "src"});
  mapLanes(run, call, mask, repeats, loopFor(op, dtype), nullptr);
}

}  // namespace kw
