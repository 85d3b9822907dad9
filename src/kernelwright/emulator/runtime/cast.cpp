// Conversions between element types. Values go through double, which holds every type exactly but
// the ends of int64; the round mode applies where the target is coarser.
#include "kw/cast.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

using AscendC::RoundMode;

double readItem(Dtype type, const void* from, uint64_t i) {
  switch (type) {
    case Dtype::f32: return static_cast<const float*>(from)[i];
    case Dtype::f16: return static_cast<float>(static_cast<const half*>(from)[i]);
    case Dtype::bf16: return static_cast<float>(static_cast<const bfloat16_t*>(from)[i]);
    case Dtype::i8: return static_cast<const int8_t*>(from)[i];
    case Dtype::u8: return static_cast<const uint8_t*>(from)[i];
    case Dtype::i16: return static_cast<const int16_t*>(from)[i];
    case Dtype::i32: return static_cast<const int32_t*>(from)[i];
    case Dtype::i64: return static_cast<double>(static_cast<const int64_t*>(from)[i]);
    default: {
      const int pair = static_cast<const uint8_t*>(from)[i / 2];
      const int nibble = i % 2 == 0 ? pair & 15 : pair >> 4;
      return nibble >= 8 ? nibble - 16 : nibble;
    }
  }
}

double toInteger(double x, RoundMode mode) {
  switch (mode) {
    case RoundMode::CAST_FLOOR: return std::floor(x);
    case RoundMode::CAST_CEIL: return std::ceil(x);
    case RoundMode::CAST_ROUND: return std::round(x);
    case RoundMode::CAST_TRUNC: return std::trunc(x);
    default: return std::nearbyint(x);  // CAST_NONE means CAST_RINT where precision is lost
  }
}

// The multiple of a float type's last place that the mode chooses; subnormal results included.
double toFraction(double x, int mantissaBits, int leastExponent, RoundMode mode) {
  if (x == 0.0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), leastExponent);
  const double step = std::ldexp(1.0, exponent - mantissaBits);
  if (mode != RoundMode::CAST_ODD) return toInteger(x / step, mode) * step;
  const double low = std::trunc(x / step);
  const bool isExact = low * step == x;
  return (isExact || std::fmod(low, 2.0) != 0.0 ? low : low + std::copysign(1.0, x)) * step;
}

template <typename T>
T saturated(double x, RoundMode mode) {
  if (x != x) return T(0);
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  const double value = toInteger(x, mode);
  if (value <= low) return std::numeric_limits<T>::min();
  return value >= high ? std::numeric_limits<T>::max() : static_cast<T>(value);
}

void writeNibble(void* to, uint64_t i, double x, RoundMode mode) {
  const int value = static_cast<int>(std::clamp(toInteger(x, mode), -8.0, 7.0)) & 15;
  uint8_t& pair = static_cast<uint8_t*>(to)[i / 2];
  pair = static_cast<uint8_t>(i % 2 == 0 ? (pair & 0xf0) | value : (pair & 0x0f) | value << 4);
}

template <typename T>
void put(void* to, uint64_t i, T value) {
  static_cast<T*>(to)[i] = value;
}

void writeItem(Dtype type, Dtype from, void* to, uint64_t i, double x, RoundMode mode) {
  switch (type) {
    case Dtype::f32:
      if (from == Dtype::f32) return put(to, i, static_cast<float>(toInteger(x, mode)));
      return put(to, i, static_cast<float>(from == Dtype::i32 || from == Dtype::i64
                                               ? toFraction(x, 23, -126, mode) : x));
    case Dtype::f16: {
      const double value = toFraction(x, 10, -14, mode);
      const bool isTooBig = std::isfinite(x) && std::fabs(value) > 65504.0;
      return put(to, i, half(isTooBig ? std::copysign(INFINITY, x) : static_cast<float>(value)));
    }
    case Dtype::bf16:
      return put(to, i, bfloat16_t(static_cast<float>(toFraction(x, 7, -126, mode))));
    case Dtype::i8: return put(to, i, saturated<int8_t>(x, mode));
    case Dtype::u8: return put(to, i, saturated<uint8_t>(x, mode));
    case Dtype::i16: return put(to, i, saturated<int16_t>(x, mode));
    case Dtype::i32: return put(to, i, saturated<int32_t>(x, mode));
    case Dtype::i64: return put(to, i, saturated<int64_t>(x, mode));
    default: return writeNibble(to, i, x, mode);
  }
}

struct CastContext { Dtype to, from; RoundMode mode; };

template <typename T, typename U>
bool plainLoop(void* dst, const void* src, uint64_t n) {
  T* out = static_cast<T*>(dst);
  const U* in = static_cast<const U*>(src);
  for (uint64_t i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<float>(in[i]));
  return true;
}

bool isNearest(RoundMode mode) {
  return mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT;
}

// The pairs that kernels use most, in loops that vectorise.
bool isDoneFast(const CastContext& c, void* dst, const void* src, uint64_t n) {
  if (c.from == Dtype::f16 && c.to == Dtype::f32) return plainLoop<float, half>(dst, src, n);
  if (c.from == Dtype::bf16 && c.to == Dtype::f32) return plainLoop<float, bfloat16_t>(dst, src, n);
  if (!isNearest(c.mode) || c.from != Dtype::f32) return false;
  if (c.to == Dtype::f16) return plainLoop<half, float>(dst, src, n);
  if (c.to == Dtype::bf16) return plainLoop<bfloat16_t, float>(dst, src, n);
  return false;
}

void castLoop(void* dst, const void* const* sources, uint64_t n, const void* context) {
  const CastContext& c = *static_cast<const CastContext*>(context);
  if (isDoneFast(c, dst, sources[0], n)) return;
  for (uint64_t i = 0; i < n; ++i) {
    writeItem(c.to, c.from, dst, i, readItem(c.from, sources[0], i), c.mode);
  }
}

bool isWidening(Dtype to, Dtype from) {
  if (from == Dtype::f16 || from == Dtype::bf16) return to == Dtype::f32;
  return (from == Dtype::i8 || from == Dtype::u8 || from == Dtype::i4) && to == Dtype::f16;
}

void checkMode(const Instruction& run, Dtype to, Dtype from, RoundMode mode) {
  if (isWidening(to, from) && mode != RoundMode::CAST_NONE) {
    run.fault(FaultCode::ARGUMENT,
              "this conversion loses nothing and takes RoundMode::CAST_NONE only");
  } else if (mode == RoundMode::CAST_ODD && !(from == Dtype::f32 && to == Dtype::f16)) {
    run.fault(FaultCode::ARGUMENT, "CAST_ODD is for float to half only");
  } else if (mode == RoundMode::CAST_NONE && from == Dtype::f32 &&
             (to == Dtype::bf16 || to == Dtype::i32 || to == Dtype::i64)) {
    run.fault(FaultCode::ARGUMENT, "this conversion has no CAST_NONE; say CAST_RINT");
  }
}

VectorOp costOf(Dtype to, Dtype from) {
  const bool isHalf = to == Dtype::f16 || from == Dtype::f16;
  const bool isFloat = to == Dtype::f32 || from == Dtype::f32;
  if (isHalf && isFloat) return VectorOp::CastHalfFloat;
  const bool isBfloat = to == Dtype::bf16 || from == Dtype::bf16;
  return isBfloat && isFloat ? VectorOp::CastBfloatFloat : VectorOp::Cast;
}

uint64_t bytesOf(Dtype type, uint64_t n) { return n * kDtypeBits[static_cast<int>(type)] / 8; }

}  // namespace

void cast(Dtype to, Dtype from, void* dst, const void* src, RoundMode mode, uint32_t count) {
  Instruction run(Pipe::V, "Cast", __builtin_return_address(0));
  checkMode(run, to, from, mode);
  if (run.countBytes(count, 1) == 0) return;
  run.aligned(dst, 32, "dst");
  run.aligned(src, 32, "src");
  bool ok = run.read(src, bytesOf(from, count), "src");
  ok = run.write(dst, bytesOf(to, count), "dst") && ok;
  const CastContext context{to, from, mode};
  if (ok && !run.skipsValues()) castLoop(dst, &src, count, &context);
  MapCall call(costOf(to, from), {dst, to, {}, "dst"}, {src, from, {}, "src"});
  const uint64_t most = std::max(bytesOf(to, count), bytesOf(from, count));
  chargeMap(run, call, static_cast<uint32_t>((most + 255) / 256));
}

void castRepeat(Dtype to, Dtype from, void* dst, const void* src, RoundMode mode,
                const MaskArg& mask, uint8_t repeats, Stride dstStride, Stride srcStride) {
  Instruction run(Pipe::V, "Cast", __builtin_return_address(0));
  checkMode(run, to, from, mode);
  // The wider type decides how many lanes a repeat has; the narrower fills part of its blocks.
  const uint32_t wide = std::max<uint32_t>(bytesOf(to, 2), bytesOf(from, 2)) / 2;
  const Lanes lanes = run.lanes(mask, repeats, wide);
  if (lanes.repeats == 0) return;
  run.aligned(dst, 32, "dst");
  run.aligned(src, 32, "src");
  const uint32_t toItem = bytesOf(to, 2) / 2, fromItem = bytesOf(from, 2) / 2;
  if (toItem == 0 || fromItem == 0) {
    run.fault(FaultCode::ARGUMENT, "Cast of int4b_t with a mask is not emulated; use a count");
    return;
  }
  const CastContext context{to, from, mode};
  const uint32_t toBlock = 32 / toItem, fromBlock = 32 / fromItem;
  for (uint32_t repeat = 0; repeat < lanes.repeats; ++repeat) {
    forEachLaneRun(lanes.of(repeat), lanes.perRepeat, 32 / wide, false, [&](uint32_t lane, uint32_t n) {
      char* out = static_cast<char*>(dst) + laneOffset(repeat, lane, toBlock, dstStride) * toItem;
      const void* in = static_cast<const char*>(src) +
                       laneOffset(repeat, lane, fromBlock, srcStride) * fromItem;
      bool ok = run.read(in, n * fromItem, "src");
      ok = run.write(out, n * toItem, "dst") && ok;
      if (ok && !run.skipsValues()) castLoop(out, &in, n, &context);
    });
  }
  MapCall call(costOf(to, from), {dst, to, dstStride, "dst"}, {src, from, srcStride, "src"});
  chargeMap(run, call, lanes.repeats);
}

void setDeqScale(float) {}

}  // namespace kw
