// Plain structs of the high-level APIs' tiling, as the kernel reads them.
#pragma once
#include <cstdint>
#include "kw/tiling_tables.h"

#define KW_PLAIN_INT(name) int32_t name;
#define KW_PLAIN_UINT(name) uint32_t name;
struct TCubeTiling { KW_TCUBE_TILING_FIELDS(KW_PLAIN_INT) };
struct SoftMaxTiling { KW_SOFTMAX_TILING_FIELDS(KW_PLAIN_UINT) };
struct LayerNormTiling { KW_LAYERNORM_TILING_FIELDS(KW_PLAIN_UINT) };
struct RmsNormTiling { KW_RMSNORM_TILING_FIELDS(KW_PLAIN_UINT) };
struct UnPadTiling { KW_UNPAD_TILING_FIELDS(KW_PLAIN_UINT) };
struct PadTiling { KW_PAD_TILING_FIELDS(KW_PLAIN_UINT) };
struct TopkTiling { KW_MEAN_TOPK_TILING_FIELDS(KW_PLAIN_INT) };
#undef KW_PLAIN_INT
#undef KW_PLAIN_UINT

#define KW_TILING_ALIASES \
  using ::TCubeTiling; \
  using ::SoftMaxTiling; \
  using ::LayerNormTiling; \
  using ::RmsNormTiling; \
  using ::UnPadTiling; \
  using ::PadTiling; \
  using ::TopkTiling;

namespace AscendC {
namespace tiling {
KW_TILING_ALIASES
}  // namespace tiling
}  // namespace AscendC

#if defined(KW_KERNEL_SIDE)
namespace optiling {
KW_TILING_ALIASES
}  // namespace optiling
#endif
