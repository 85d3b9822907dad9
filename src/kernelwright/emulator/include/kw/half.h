// half and bfloat16_t. Arithmetic of the scalar unit: in float, rounded to nearest even where the
// result is stored. A NaN stays a NaN.
#pragma once
#include <cstdint>
#include <cstring>

#define KW_ASSIGNING(T)                                               \
  T& operator+=(float other) { return *this = T(float(*this) + other); } \
  T& operator-=(float other) { return *this = T(float(*this) - other); } \
  T& operator*=(float other) { return *this = T(float(*this) * other); } \
  T& operator/=(float other) { return *this = T(float(*this) / other); }

struct half {
  half() = default;
  half(float value) { _Float16 v = static_cast<_Float16>(value); std::memcpy(&bits, &v, 2); }
  operator float() const { _Float16 v; std::memcpy(&v, &bits, 2); return static_cast<float>(v); }
  KW_ASSIGNING(half)
  uint16_t bits;
};
struct bfloat16_t {
  bfloat16_t() = default;
  bfloat16_t(float value) {
    uint32_t w;
    std::memcpy(&w, &value, 4);
    const bool isNan = (w & 0x7fffffffu) > 0x7f800000u;  // rounding up could carry into the sign
    bits = static_cast<uint16_t>(isNan ? (w >> 16) | 0x40u : (w + 0x7fff + ((w >> 16) & 1)) >> 16);
  }
  operator float() const {
    uint32_t w = static_cast<uint32_t>(bits) << 16;
    float v;
    std::memcpy(&v, &w, 4);
    return v;
  }
  KW_ASSIGNING(bfloat16_t)
  uint16_t bits;
};
#undef KW_ASSIGNING
struct int4b_t { uint8_t storage; };
