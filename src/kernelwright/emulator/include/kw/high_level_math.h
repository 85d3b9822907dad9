// High-level elementwise calls: several vector instructions behind one name, with or without a
// temporary buffer, over a count or over the whole tensor.
#pragma once
#include "kw/vector_binary.h"

namespace kw {

enum class MathOp : uint8_t {
  kTanh, kSigmoid, kSilu, kGelu, kFasterGelu, kFasterGeluV2, kErf, kErfc, kLog, kLog2, kLog10,
  kSin, kCos, kTan, kSinh, kCosh, kAsin, kAcos, kAtan, kAsinh, kAcosh, kAtanh, kFloor, kCeil,
  kRound, kTrunc, kFrac, kSign, kLgamma, kDigamma, kSwish, kExp, kClampMax, kClampMin, kRsqrt
};
enum class MathOp2 : uint8_t { kPower, kFmod, kXor, kSwiGlu, kGeGlu, kReGlu };

// `parameter` is beta of Swish and SwiGLU, the bound of the clamps.
void mathUnary(MathOp op, Dtype dtype, void* dst, const void* src, const void* work, int64_t count,
               float parameter);
// `src1` null: the scalar in `parameter`; `src0` null: the scalar is the first operand.
void mathBinary(MathOp2 op, Dtype dtype, void* dst, const void* src0, const void* src1,
                int64_t count, float parameter);

}  // namespace kw

namespace AscendC {

#define KW_MATH_TYPES(name, ...) \
  static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " takes half or float")

#define KW_MATH(name, op, ...)                                                                     \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {         \
    KW_MATH_TYPES(name, __VA_ARGS__);                                                              \
    kw::mathUnary(kw::MathOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),             \
                  sharedTmpBuffer.GetPhyAddr(), calCount, 1.0f);                                   \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<uint8_t>& sharedTmpBuffer) {                                  \
    KW_MATH_TYPES(name, __VA_ARGS__);                                                              \
    kw::mathUnary(kw::MathOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),             \
                  sharedTmpBuffer.GetPhyAddr(), src.GetSize(), 1.0f);                              \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const uint32_t calCount) {                                                      \
    KW_MATH_TYPES(name, __VA_ARGS__);                                                              \
    kw::mathUnary(kw::MathOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), nullptr,    \
                  calCount, 1.0f);                                                                 \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src) {                         \
    KW_MATH_TYPES(name, __VA_ARGS__);                                                              \
    kw::mathUnary(kw::MathOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), nullptr,    \
                  src.GetSize(), 1.0f);                                                            \
  }

KW_MATH(Tanh, kTanh, half, float)
KW_MATH(Sigmoid, kSigmoid, half, float)
KW_MATH(Silu, kSilu, half, float)
KW_MATH(Erf, kErf, half, float)
KW_MATH(Erfc, kErfc, half, float)
KW_MATH(Log, kLog, half, float)
KW_MATH(Log2, kLog2, half, float)
KW_MATH(Log10, kLog10, half, float)
KW_MATH(Sin, kSin, half, float)
KW_MATH(Cos, kCos, half, float)
KW_MATH(Tan, kTan, half, float)
KW_MATH(Sinh, kSinh, half, float)
KW_MATH(Cosh, kCosh, half, float)
KW_MATH(Asin, kAsin, half, float)
KW_MATH(Acos, kAcos, half, float)
KW_MATH(Atan, kAtan, half, float)
KW_MATH(Asinh, kAsinh, half, float)
KW_MATH(Acosh, kAcosh, half, float)
KW_MATH(Atanh, kAtanh, half, float)
KW_MATH(Floor, kFloor, half, float)
KW_MATH(Ceil, kCeil, half, float)
KW_MATH(Round, kRound, half, float)
KW_MATH(Trunc, kTrunc, half, float)
KW_MATH(Frac, kFrac, half, float)
KW_MATH(Sign, kSign, half, float)
KW_MATH(Lgamma, kLgamma, half, float)
KW_MATH(Digamma, kDigamma, half, float)
#undef KW_MATH

// The GELU family has more template switches; the result does not depend on them.
#define KW_GELU(name, op)                                                                          \
  template <typename T, bool highPrecision = false, bool highPerformance = false>                  \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize) {         \
    KW_MATH_TYPES(name, half, float);                                                              \
    kw::mathUnary(kw::MathOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),             \
                  sharedTmpBuffer.GetPhyAddr(), dataSize, 1.0f);                                   \
  }                                                                                                \
  template <typename T, bool highPrecision = false, bool highPerformance = false>                  \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const uint32_t dataSize) {                                                      \
    KW_MATH_TYPES(name, half, float);                                                              \
    kw::mathUnary(kw::MathOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), nullptr,    \
                  dataSize, 1.0f);                                                                 \
  }
KW_GELU(Gelu, kGelu)
KW_GELU(FasterGelu, kFasterGelu)
KW_GELU(FasterGeluV2, kFasterGeluV2)
#undef KW_GELU

template <typename T, bool isReuseSource = false>
KW_API void Swish(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t dataSize,
                  const T scalarValue) {
  KW_MATH_TYPES(Swish, half, float);
  kw::mathUnary(kw::MathOp::kSwish, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), nullptr,
                dataSize, static_cast<float>(scalarValue));
}

#define KW_CLAMP(name, op)                                                                         \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const T scalar,                    \
                   const uint32_t calCount) {                                                      \
    KW_MATH_TYPES(name, half, float);                                                              \
    kw::mathUnary(kw::MathOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(),             \
                  sharedTmpBuffer.GetPhyAddr(), calCount, static_cast<float>(scalar));             \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T scalar,           \
                   const uint32_t calCount) {                                                      \
    KW_MATH_TYPES(name, half, float);                                                              \
    kw::mathUnary(kw::MathOp::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), nullptr,    \
                  calCount, static_cast<float>(scalar));                                           \
  }
KW_CLAMP(ClampMax, kClampMax)
KW_CLAMP(ClampMin, kClampMin)
#undef KW_CLAMP

#define KW_MATH2(name, op, ...)                                                                    \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,                          \
                   const LocalTensor<T>& src1, const LocalTensor<uint8_t>& sharedTmpBuffer,        \
                   const uint32_t calCount) {                                                      \
    (void)sharedTmpBuffer;                                                                         \
    name<T, isReuseSource>(dst, src0, src1, calCount);                                             \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,                          \
                   const LocalTensor<T>& src1, const uint32_t calCount) {                          \
    static_assert(kw::kIsOneOf<T, __VA_ARGS__>, #name " does not take this type");                 \
    kw::mathBinary(kw::MathOp2::op, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(),          \
                   src1.GetPhyAddr(), calCount, 1.0f);                                             \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  KW_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,                          \
                   const LocalTensor<T>& src1) {                                                   \
    name<T, isReuseSource>(dst, src0, src1, src0.GetSize());                                       \
  }
KW_MATH2(Power, kPower, half, float, int32_t)
KW_MATH2(Fmod, kFmod, half, float)
KW_MATH2(Xor, kXor, int16_t, uint16_t)
KW_MATH2(GeGLU, kGeGlu, half, float)
KW_MATH2(ReGlu, kReGlu, half, float)
#undef KW_MATH2

template <typename T, bool isReuseSource = false>
KW_API void Power(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const T& src1,
                  const uint32_t calCount) {
  kw::mathBinary(kw::MathOp2::kPower, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(), nullptr,
                 calCount, static_cast<float>(src1));
}
template <typename T, bool isReuseSource = false>
KW_API void Power(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const T& src1,
                  const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
  (void)sharedTmpBuffer;
  Power<T, isReuseSource>(dst, src0, src1, calCount);
}
template <typename T, bool isReuseSource = false>
KW_API void Power(const LocalTensor<T>& dst, const T& src0, const LocalTensor<T>& src1,
                  const uint32_t calCount) {
  kw::mathBinary(kw::MathOp2::kPower, kw::kDtypeOf<T>, dst.GetPhyAddr(), nullptr, src1.GetPhyAddr(),
                 calCount, static_cast<float>(src0));
}
template <typename T, bool isReuseSource = false>
KW_API void SwiGLU(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, const float& scalarValue, const uint32_t calCount) {
  KW_MATH_TYPES(SwiGLU, half, float);
  kw::mathBinary(kw::MathOp2::kSwiGlu, kw::kDtypeOf<T>, dst.GetPhyAddr(), src0.GetPhyAddr(),
                 src1.GetPhyAddr(), calCount, scalarValue);
}
template <typename T, bool isReuseSource = false>
KW_API void SwiGLU(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, const float& scalarValue,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
  (void)sharedTmpBuffer;
  SwiGLU<T, isReuseSource>(dst, src0, src1, scalarValue, calCount);
}
#undef KW_MATH_TYPES

// Exp with the extra precision switch; Exp by count is an instruction (kw/vector_unary.h).
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
KW_API void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount) {
  kw::mathUnary(kw::MathOp::kExp, kw::kDtypeOf<T>, dst.GetPhyAddr(), src.GetPhyAddr(), nullptr,
                calCount, 1.0f);
}

}  // namespace AscendC
