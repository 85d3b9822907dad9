// Elementary functions, computed in double so that the rounding to float is nearly always right.
#include "fast_math.h"

#include <cmath>
#include <cstring>

namespace kw {

namespace {

inline double fromBits(int64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline int64_t toBits(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// e^x for |x| <= 745: 2^k times a polynomial on [-ln2/2, ln2/2].
inline double expDouble(double x) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double shifted = x * 1.4426950408889634 + kShift;
  const double k = shifted - kShift;
  const double r = (x - k * 0.6931471805598903) - k * 5.497923018708371e-14;
  double p = 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const int64_t exponent = (toBits(shifted) - toBits(kShift) + 1023) << 52;
  return p * fromBits(exponent);
}

inline float expFloat(float x) {
  const double wide = x < -150.0f ? -150.0 : x > 100.0f ? 100.0 : static_cast<double>(x);
  const float value = static_cast<float>(expDouble(wide));
  return x != x ? x : value;
}

// tanh by (e^2x - 1) / (e^2x + 1); near zero a series, where that difference would cancel.
inline float tanhFloat(float x) {
  const double wide = x < -20.0f ? -20.0 : x > 20.0f ? 20.0 : static_cast<double>(x);
  const double e = expDouble(2.0 * wide);
  const double far = (e - 1.0) / (e + 1.0);
  const double s = wide * wide;
  const double near = wide * (1.0 - s * (1.0 / 3 - s * (2.0 / 15 - s * (17.0 / 315))));
  const float value = static_cast<float>(s < 1e-3 ? near : far);
  return x != x ? x : value;
}

}  // namespace

void expRun(float* out, const float* in, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = expFloat(in[i]);
}

void tanhRun(float* out, const float* in, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = tanhFloat(in[i]);
}

void lnRun(float* out, const float* in, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = std::log(in[i]);
}

void erfRun(float* out, const float* in, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = std::erf(in[i]);
}

}  // namespace kw
