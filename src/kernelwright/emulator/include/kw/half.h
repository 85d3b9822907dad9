// half and bfloat16_t. Placeholder arithmetic: through float, rounded to nearest even.
#pragma once
#include <cstdint>
#include <cstring>

struct half {
  half() = default;
  half(float value) { _Float16 v = static_cast<_Float16>(value); std::memcpy(&bits, &v, 2); }
  operator float() const { _Float16 v; std::memcpy(&v, &bits, 2); return static_cast<float>(v); }
  uint16_t bits;
};
struct bfloat16_t {
  bfloat16_t() = default;
  bfloat16_t(float value) {
    uint32_t w;
    std::memcpy(&w, &value, 4);
    bits = static_cast<uint16_t>((w + 0x7fff + ((w >> 16) & 1)) >> 16);
  }
  operator float() const {
    uint32_t w = static_cast<uint32_t>(bits) << 16;
    float v;
    std::memcpy(&v, &w, 4);
    return v;
  }
  uint16_t bits;
};
struct int4b_t { uint8_t storage; };
