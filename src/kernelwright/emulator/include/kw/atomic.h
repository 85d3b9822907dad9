// Atomic modes of copies to global memory.
#pragma once
#include "kw/dtype.h"
#include "kw/enums.h"

namespace kw {

void setAtomic(uint8_t op, Dtype dtype);  // 0 none, 1 add, 2 max, 3 min

template <typename T>
constexpr bool kIsAtomic = kIsOneOf<T, float, half, int16_t, int32_t, int8_t, bfloat16_t>;

}  // namespace kw

namespace AscendC {

template <typename T>
KW_API void SetAtomicAdd() {
  static_assert(kw::kIsAtomic<T>, "SetAtomicAdd takes float, half, int16_t, int32_t, int8_t, bfloat16_t");
  kw::setAtomic(1, kw::kDtypeOf<T>);
}
template <typename T>
KW_API void SetAtomicMax() {
  static_assert(kw::kIsAtomic<T>, "SetAtomicMax takes float, half, int16_t, int32_t, int8_t, bfloat16_t");
  kw::setAtomic(2, kw::kDtypeOf<T>);
}
template <typename T>
KW_API void SetAtomicMin() {
  static_assert(kw::kIsAtomic<T>, "SetAtomicMin takes float, half, int16_t, int32_t, int8_t, bfloat16_t");
  kw::setAtomic(3, kw::kDtypeOf<T>);
}
KW_API void SetAtomicNone() { kw::setAtomic(0, kw::Dtype::f32); }
KW_API void DisableDmaAtomic() { SetAtomicNone(); }
template <AtomicDtype type, AtomicOp op>
KW_API void SetStoreAtomicConfig() {
  constexpr kw::Dtype kTypes[] = {kw::Dtype::f32, kw::Dtype::f32, kw::Dtype::f16, kw::Dtype::i16,
                                  kw::Dtype::i32, kw::Dtype::i8, kw::Dtype::bf16};
  kw::setAtomic(type == AtomicDtype::ATOMIC_NONE ? 0 : 1, kTypes[static_cast<int>(type)]);
}

}  // namespace AscendC
