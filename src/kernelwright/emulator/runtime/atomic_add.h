// What a copy to global memory does while an atomic mode is on.
#pragma once
#include <cstdint>
#include "core.h"

namespace kw {

// dst = dst op src, element by element.
void atomicCombine(Atomic op, Dtype dtype, void* dst, const void* src, uint64_t bytes);

}  // namespace kw
