// Matmul tiling for one core and for many.
#pragma once
#include "tiling/matmul/matmul_tiling_base.h"

namespace matmul_tiling {

class MatmulApiTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
};

// Splits M and N (and K where asked) over cores.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
  int32_t SetDim(int32_t cores);
  int32_t SetShape(int32_t m, int32_t n, int32_t k) override;
  int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1);
  int32_t SetSingleRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1,
                         int32_t minM = -1, int32_t minN = -1, int32_t minK = -1);
  int32_t SetAlignSplit(int32_t alignM, int32_t alignN, int32_t alignK);
  int32_t EnableMultiCoreSplitK(bool isUsed) { request_.splitsK = isUsed; return 0; }
  int32_t SetSplitK(bool isUsed) { return EnableMultiCoreSplitK(isUsed); }
  int32_t GetSingleShape(int32_t& m, int32_t& n, int32_t& k) const;
  int32_t GetCoreNum(int32_t& used, int32_t& mCores, int32_t& nCores) const;
};

}  // namespace matmul_tiling

// Sizes of the scratch memory that the Matmul API wants for this tiling; -1 for a bad tiling.
int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                            matmul_tiling::SysTilingTempBufSize& sizes);
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                                     matmul_tiling::SysTilingTempBufSize& sizes);
