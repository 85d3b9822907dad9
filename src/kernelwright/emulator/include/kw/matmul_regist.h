// How REGIST_MATMUL_OBJ hands tilings to Matmul objects.
#pragma once
#include <type_traits>
#include "kw/abi.h"

namespace kw {

// REGIST_MATMUL_OBJ names objects, each with or without its tiling: Init may come later.
KW_API void initMatmuls() {}
template <typename Object>
KW_API void initMatmuls(Object&) {}
template <typename Object, typename Next, typename... Rest>
KW_API void initMatmuls(Object& object, Next&& next, Rest&&... rest) {
  if constexpr (std::is_pointer_v<std::decay_t<Next>>) {
    if (next != nullptr) object.Init(next);
    initMatmuls(rest...);
  } else {
    initMatmuls(next, rest...);
  }
}

}  // namespace kw
