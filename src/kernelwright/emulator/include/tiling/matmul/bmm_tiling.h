// Batched matmul tiling.
#pragma once
#include "tiling/matmul/matmul_tiling.h"

namespace matmul_tiling {

class BatchMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
  int32_t GetCoreNum(int32_t& used, int32_t& mCores, int32_t& nCores) const;
};

class MultiCoreBatchMatmulTiling : public MultiCoreMatmulTiling {
 public:
  using MultiCoreMatmulTiling::MultiCoreMatmulTiling;
};

}  // namespace matmul_tiling

int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                                 matmul_tiling::SysTilingTempBufSize& sizes);
