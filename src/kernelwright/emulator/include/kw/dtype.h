// Element type of a tensor as a value.
#pragma once
#include <type_traits>
#include "kw/abi.h"
#include "kw/half.h"

namespace kw {

template <typename T>
struct DtypeOf { static constexpr Dtype value = Dtype::none; };
template <> struct DtypeOf<half> { static constexpr Dtype value = Dtype::f16; };
template <> struct DtypeOf<float> { static constexpr Dtype value = Dtype::f32; };
template <> struct DtypeOf<bfloat16_t> { static constexpr Dtype value = Dtype::bf16; };
template <> struct DtypeOf<int8_t> { static constexpr Dtype value = Dtype::i8; };
template <> struct DtypeOf<uint8_t> { static constexpr Dtype value = Dtype::u8; };
template <> struct DtypeOf<int16_t> { static constexpr Dtype value = Dtype::i16; };
template <> struct DtypeOf<uint16_t> { static constexpr Dtype value = Dtype::u16; };
template <> struct DtypeOf<int32_t> { static constexpr Dtype value = Dtype::i32; };
template <> struct DtypeOf<uint32_t> { static constexpr Dtype value = Dtype::u32; };
template <> struct DtypeOf<int64_t> { static constexpr Dtype value = Dtype::i64; };
template <> struct DtypeOf<uint64_t> { static constexpr Dtype value = Dtype::u64; };
template <> struct DtypeOf<double> { static constexpr Dtype value = Dtype::f64; };
template <> struct DtypeOf<bool> { static constexpr Dtype value = Dtype::b8; };
template <> struct DtypeOf<int4b_t> { static constexpr Dtype value = Dtype::i4; };

template <typename T>
constexpr Dtype kDtypeOf = DtypeOf<std::remove_cv_t<T>>::value;

// Bytes that `count` elements of T take in memory: two int4b_t share one.
template <typename T>
constexpr uint64_t bytesOf(uint64_t count) {
  return kDtypeOf<T> == Dtype::i4 ? count / 2 : count * sizeof(T);
}

// Whether T is one of Us: the check behind every overload set.
template <typename T, typename... Us>
constexpr bool kIsOneOf = (std::is_same_v<std::remove_cv_t<T>, Us> || ...);

}  // namespace kw
