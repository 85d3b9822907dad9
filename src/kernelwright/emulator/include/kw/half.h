// half, bfloat16_t and int4b_t as the scalar unit has them. Conversions round to nearest even from
// any arithmetic type, once; a NaN stays a NaN. Two halves, or a half and an integer, give a half; a
// half and a float give a float, as with the device's built-in type.
#pragma once
#include <cstdint>
#include <type_traits>

struct half {
  half() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr half(T value) : bits(encode(value)) {}
  constexpr operator float() const { return static_cast<float>(__builtin_bit_cast(_Float16, bits)); }
  uint16_t bits;

 private:
  static constexpr uint16_t encode(float value) {
    return __builtin_bit_cast(uint16_t, static_cast<_Float16>(value));
  }
  template <typename T>
  static constexpr uint16_t encode(T value) {  // double holds every integer that a half can
    return __builtin_bit_cast(uint16_t, static_cast<_Float16>(static_cast<double>(value)));
  }
};

struct bfloat16_t {
  bfloat16_t() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr bfloat16_t(T value) : bits(encode(static_cast<double>(value))) {}
  constexpr operator float() const {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
  }
  uint16_t bits;

 private:
  static constexpr uint16_t encode(double value) {
    const float near = static_cast<float>(value);
    uint32_t word = __builtin_bit_cast(uint32_t, near);
    if (near != near) return static_cast<uint16_t>(word >> 16 | 0x40u);  // not rounded to infinity
    // What the float lost decides a tie of the bfloat16.
    if ((word & 0xffffu) == 0x8000u && near != value) {
      const bool isBeyond = value < 0 ? value < near : value > near;
      word += isBeyond ? 1u : -1u;
    }
    return static_cast<uint16_t>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
  }
};

namespace kw {

template <typename T>
constexpr bool kIsShort = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;
// The short type of two operands: of one short type, or of one and an integer.
template <typename A, typename B>
using Short = std::enable_if_t<(kIsShort<A> && (std::is_same_v<A, B> || std::is_integral_v<B>)) ||
                                   (kIsShort<B> && std::is_integral_v<A>),
                               std::conditional_t<kIsShort<A>, A, B>>;

}  // namespace kw

#define KW_SHORT(op)                                                                     \
  template <typename A, typename B>                                                      \
  constexpr kw::Short<A, B> operator op(A a, B b) {                                      \
    return kw::Short<A, B>(static_cast<float>(a) op static_cast<float>(b));              \
  }                                                                                      \
  template <typename A, typename B, typename = std::enable_if_t<kw::kIsShort<A>>>        \
  constexpr A& operator op##=(A& a, B b) {                                               \
    return a = A(static_cast<float>(a) op static_cast<float>(b));                        \
  }
KW_SHORT(+)
KW_SHORT(-)
KW_SHORT(*)
KW_SHORT(/)
#undef KW_SHORT
template <typename A, typename = std::enable_if_t<kw::kIsShort<A>>>
constexpr A operator-(A a) { return A(-static_cast<float>(a)); }

// Two share a byte in memory; the first is in the low half.
struct int4b_t {
  int4b_t() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr int4b_t(T value) : storage(static_cast<uint8_t>(static_cast<int>(value) & 15)) {}
  constexpr operator int8_t() const {
    return static_cast<int8_t>(static_cast<int8_t>(storage << 4) >> 4);
  }
  uint8_t storage;
};
