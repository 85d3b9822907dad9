// Tiling of the high-level APIs: structures on both sides, the calculations on the host.
#pragma once
#include "kw/tiling_structs.h"
#if !defined(KW_KERNEL_SIDE)
#include <algorithm>
#include "kw/tiling_classes.h"
#include "tiling/matmul/bmm_tiling.h"
#include "tiling/matmul/matmul_tiling.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/vector_tiling.h"
#endif
