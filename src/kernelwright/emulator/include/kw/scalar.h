// Functions of the scalar unit.
#pragma once
#include <cmath>
#include "kw/abi.h"
#include "kw/enums.h"
#include "kw/half.h"

namespace AscendC {

template <int countValue>
KW_API int64_t ScalarGetCountOfValue(uint64_t value) {
  static_assert(countValue == 0 || countValue == 1, "bits are 0 or 1");
  const int ones = __builtin_popcountll(value);
  return countValue == 1 ? ones : 64 - ones;
}
KW_API int64_t ScalarCountLeadingZero(uint64_t value) {
  return value == 0 ? 64 : __builtin_clzll(value);
}
template <int countValue>
KW_API int64_t ScalarGetSFFValue(uint64_t value) {
  static_assert(countValue == 0 || countValue == 1, "bits are 0 or 1");
  const uint64_t bits = countValue == 1 ? value : ~value;
  return bits == 0 ? -1 : __builtin_ctzll(bits);
}
KW_API int64_t CountBitsCntSameAsSignBit(int64_t value) {
  const uint64_t bits = static_cast<uint64_t>(value < 0 ? ~value : value);
  return (bits == 0 ? 64 : __builtin_clzll(bits)) - 1;
}

// float to half or int32_t by a rounding mode.
template <typename T, typename U, RoundMode mode>
KW_API U ScalarCast(T value) {
  static_assert(sizeof(T) == 4, "ScalarCast takes float");
  const float v = value;
  const float rounded = mode == RoundMode::CAST_FLOOR   ? std::floor(v)
                        : mode == RoundMode::CAST_CEIL  ? std::ceil(v)
                        : mode == RoundMode::CAST_ROUND ? std::round(v)
                        : mode == RoundMode::CAST_TRUNC ? std::trunc(v)
                                                        : std::nearbyint(v);
  if constexpr (sizeof(U) == 2) {
    return static_cast<U>(v);
  } else {
    return static_cast<U>(rounded);
  }
}
KW_API bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }
KW_API float ToFloat(const bfloat16_t& value) { return static_cast<float>(value); }

}  // namespace AscendC
