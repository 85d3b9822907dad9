#include "atomic_add.h"

#include "kw/half.h"

namespace kw {

namespace {

template <typename T>
void combine(Atomic op, void* dst, const void* src, uint64_t bytes) {
  T* to = static_cast<T*>(dst);
  const T* from = static_cast<const T*>(src);
  for (uint64_t i = 0; i < bytes / sizeof(T); ++i) {
    if (op == Atomic::kAdd) {
      to[i] = static_cast<T>(to[i] + from[i]);
    } else {
      const bool takes = op == Atomic::kMax ? from[i] > to[i] : from[i] < to[i];
      if (takes) to[i] = from[i];
    }
  }
}

}  // namespace

void atomicCombine(Atomic op, Dtype dtype, void* dst, const void* src, uint64_t bytes) {
  switch (dtype) {
    case Dtype::f16: combine<half>(op, dst, src, bytes); break;
    case Dtype::bf16: combine<bfloat16_t>(op, dst, src, bytes); break;
    case Dtype::i8: combine<int8_t>(op, dst, src, bytes); break;
    case Dtype::i16: combine<int16_t>(op, dst, src, bytes); break;
    case Dtype::i32: combine<int32_t>(op, dst, src, bytes); break;
    default: combine<float>(op, dst, src, bytes); break;
  }
}

}  // namespace kw
