// Matmul tiling: how a product is cut over cores, then into pieces that fit L0 and L1.
//
// The cuts are this emulator's own choice; the vendor's differ in detail. What is kept is the
// contract: requested splits are honoured, every piece fits its memory, -1 says it cannot.
#include <algorithm>
#include "host_platform.h"
#include "tiling/matmul/bmm_tiling.h"
#include "tiling/vector_tiling.h"

namespace matmul_tiling {

namespace {

constexpr int32_t kFractal = 16;

int32_t ceilDiv(int32_t value, int32_t unit) { return (value + unit - 1) / unit; }
int32_t roundUp(int32_t value, int32_t unit) { return ceilDiv(value, unit) * unit; }

int32_t bytesOf(DataType type) {
  int32_t bytes = ge::GetSizeByDataType(static_cast<ge::DataType>(type));
  return bytes == 0 ? 1 : bytes;
}

int64_t limited(int64_t asked, uint64_t has) {
  auto most = static_cast<int64_t>(has);
  return asked < 0 ? most : std::min(asked, most);
}

int32_t orElse(int32_t value, int32_t other) { return value > 0 ? value : other; }

// The grid of cores whose largest piece is smallest; on a tie the squarer one.
struct Grid {
  int32_t singleM, singleN;
};

Grid chooseGrid(int32_t m, int32_t n, int32_t cores, int32_t unitM, int32_t unitN) {
  Grid best = {m, n};
  int64_t bestWork = INT64_MAX;
  for (int32_t mCores = 1; mCores <= cores; ++mCores) {
    int32_t nCores = cores / mCores;
    Grid grid = {std::min(m, roundUp(ceilDiv(m, mCores), unitM)),
                 std::min(n, roundUp(ceilDiv(n, nCores), unitN))};
    int64_t work = static_cast<int64_t>(grid.singleM) * grid.singleN * 4096 +
                   grid.singleM + grid.singleN;
    if (work < bestWork) {
      bestWork = work;
      best = grid;
    }
  }
  return best;
}

}  // namespace

MatmulApiTilingBase::MatmulApiTilingBase()
    : l1Bytes_(kw::hostPlatform().l1_bytes), l0cBytes_(kw::hostPlatform().l0c_bytes),
      ubBytes_(kw::hostPlatform().ub_bytes), l0aBytes_(kw::hostPlatform().l0a_bytes),
      l0bBytes_(kw::hostPlatform().l0b_bytes) {}

MatmulApiTilingBase::MatmulApiTilingBase(const platform_ascendc::PlatformAscendC&)
    : MatmulApiTilingBase() {}

MatmulApiTilingBase::MatmulApiTilingBase(const PlatformInfo& chip)
    : l1Bytes_(chip.l1Size), l0cBytes_(chip.l0CSize), ubBytes_(chip.ubSize),
      l0aBytes_(chip.l0ASize), l0bBytes_(chip.l0BSize) {}

int32_t MatmulApiTilingBase::SetAType(TPosition position, CubeFormat format, DataType type,
                                      bool transpose) {
  request_.a = {position, format, type, transpose};
  return 0;
}
int32_t MatmulApiTilingBase::SetBType(TPosition position, CubeFormat format, DataType type,
                                      bool transpose) {
  request_.b = {position, format, type, transpose};
  return 0;
}
int32_t MatmulApiTilingBase::SetCType(TPosition position, CubeFormat format, DataType type) {
  request_.c = {position, format, type, false};
  return 0;
}
int32_t MatmulApiTilingBase::SetBiasType(TPosition position, CubeFormat format, DataType type) {
  request_.bias = {position, format, type, false};
  return 0;
}
int32_t MatmulApiTilingBase::SetShape(int32_t m, int32_t n, int32_t k) {
  request_.m = m;
  request_.n = n;
  request_.ka = request_.kb = k;
  return 0;
}
int32_t MatmulApiTilingBase::SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb) {
  request_.orgM = m;
  request_.orgN = n;
  request_.orgKa = ka;
  request_.orgKb = kb;
  return 0;
}
int32_t MatmulApiTilingBase::SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
  const int32_t layout[] = {b, s, n, g, d};
  std::copy(layout, layout + 5, request_.aLayout);
  return 0;
}
int32_t MatmulApiTilingBase::SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
  const int32_t layout[] = {b, s, n, g, d};
  std::copy(layout, layout + 5, request_.bLayout);
  return 0;
}
int32_t MatmulApiTilingBase::SetCLayout(int32_t b, int32_t s1, int32_t n, int32_t g, int32_t s2) {
  const int32_t layout[] = {b, s1, n, g, s2};
  std::copy(layout, layout + 5, request_.cLayout);
  return 0;
}
int32_t MatmulApiTilingBase::SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m,
                                                   int32_t n, int32_t k) {
  request_.batchM = batchA;
  request_.batchN = batchB;
  return SetShape(m, n, k);
}
int32_t MatmulApiTilingBase::SetFixSplit(int32_t baseM, int32_t baseN, int32_t baseK) {
  request_.baseM = baseM;
  request_.baseN = baseN;
  request_.baseK = baseK;
  return 0;
}
int32_t MatmulApiTilingBase::SetBufferSpace(int32_t l1, int32_t l0c, int32_t ub, int32_t) {
  request_.l1Bytes = l1;
  request_.l0cBytes = l0c;
  request_.ubBytes = ub;
  return 0;
}
int32_t MatmulApiTilingBase::SetSplitRange(int32_t, int32_t, int32_t, int32_t, int32_t, int32_t) {
  return 0;
}

bool MatmulApiTilingBase::chooseBase(int32_t m, int32_t n, int32_t k) {
  const MatmulRequest& want = request_;
  int32_t bytesA = bytesOf(want.a.type), bytesB = bytesOf(want.b.type);
  int32_t c0 = 32 / std::max(bytesA, bytesB);
  int64_t l0c = limited(want.l0cBytes, l0cBytes_);
  ::TCubeTiling& out = result_;
  out.baseM = orElse(want.baseM, std::min(128, roundUp(m, kFractal)));
  out.baseN = orElse(want.baseN, std::min(256, roundUp(n, kFractal)));
  int64_t accumulator = static_cast<int64_t>(out.baseM) * out.baseN * 4;
  if (accumulator > l0c) return false;
  int32_t fitA = static_cast<int32_t>(l0aBytes_ / 2 / (static_cast<int64_t>(out.baseM) * bytesA));
  int32_t fitB = static_cast<int32_t>(l0bBytes_ / 2 / (static_cast<int64_t>(out.baseN) * bytesB));
  int32_t fitK = std::min(fitA, fitB) / c0 * c0;
  out.baseK = orElse(want.baseK, std::min(fitK, roundUp(k, c0)));
  if (out.baseK <= 0 || out.baseK > 2 * std::min(fitA, fitB)) return false;
  out.dbL0A = out.dbL0B = out.baseK <= fitK ? 2 : 1;
  out.dbL0C = 2 * accumulator <= l0c ? 2 : 1;
  out.shareL0CSize = static_cast<int32_t>(accumulator);
  out.transLength = static_cast<int32_t>(accumulator);
  return true;
}

bool MatmulApiTilingBase::chooseDepth() {
  const MatmulRequest& want = request_;
  ::TCubeTiling& out = result_;
  int64_t l1 = limited(want.l1Bytes, l1Bytes_);
  int64_t row = static_cast<int64_t>(out.baseM) * bytesOf(want.a.type) +
                static_cast<int64_t>(out.baseN) * bytesOf(want.b.type);
  int64_t piece = 2 * out.baseK * row;  // double buffered
  int64_t bias = want.hasBias ? 4LL * out.baseN : 0;
  if (piece / 2 + bias > l1) return false;
  auto fit = static_cast<int32_t>(std::max<int64_t>(1, (l1 - bias) / piece));
  int32_t steps = std::min({fit, ceilDiv(out.singleCoreK, out.baseK), 8});
  out.stepM = out.stepN = 1;
  out.stepKa = out.stepKb = steps;
  out.depthA1 = out.depthB1 = piece * steps + bias <= l1 ? 2 * steps : 1;
  out.shareL1Size = static_cast<int32_t>(std::min<int64_t>(l1, piece * steps + bias));
  return true;
}

void MatmulApiTilingBase::copyRequest() {
  const MatmulRequest& want = request_;
  ::TCubeTiling& out = result_;
  out.isBias = want.hasBias ? 1 : 0;
  out.iterateOrder = want.traverse == MatrixTraverse::FIRSTN ? 1 : 0;
  out.batchM = out.singleBatchM = want.batchM;
  out.batchN = out.singleBatchN = want.batchN;
  out.BatchNum = want.batchNum;
  out.ALayoutInfoB = want.aLayout[0], out.ALayoutInfoS = want.aLayout[1];
  out.ALayoutInfoN = want.aLayout[2], out.ALayoutInfoG = want.aLayout[3];
  out.ALayoutInfoD = want.aLayout[4];
  out.BLayoutInfoB = want.bLayout[0], out.BLayoutInfoS = want.bLayout[1];
  out.BLayoutInfoN = want.bLayout[2], out.BLayoutInfoG = want.bLayout[3];
  out.BLayoutInfoD = want.bLayout[4];
  out.CLayoutInfoB = want.cLayout[0], out.CLayoutInfoS1 = want.cLayout[1];
  out.CLayoutInfoN = want.cLayout[2], out.CLayoutInfoG = want.cLayout[3];
  out.CLayoutInfoS2 = want.cLayout[4];
}

bool MatmulApiTilingBase::compute() {
  const MatmulRequest& want = request_;
  int32_t m = orElse(want.m, want.orgM), n = orElse(want.n, want.orgN);
  int32_t k = orElse(want.ka, want.orgKa);
  ::TCubeTiling& out = result_;
  out = {};
  if (m <= 0 || n <= 0 || k <= 0 || !chooseBase(m, n, k)) return false;
  Grid grid = chooseGrid(m, n, std::max(1, want.cores), orElse(want.alignM, kFractal),
                         orElse(want.alignN, kFractal));
  out.M = orElse(want.orgM, m);
  out.N = orElse(want.orgN, n);
  out.Ka = orElse(want.orgKa, k);
  out.Kb = orElse(want.orgKb, orElse(want.kb, k));
  out.singleCoreM = orElse(want.singleM, grid.singleM);
  out.singleCoreN = orElse(want.singleN, grid.singleN);
  out.singleCoreK = orElse(want.singleK, k);
  out.usedCoreNum = ceilDiv(m, out.singleCoreM) * ceilDiv(n, out.singleCoreN) *
                    ceilDiv(k, out.singleCoreK);
  copyRequest();
  return chooseDepth();
}

int64_t MatmulApiTilingBase::GetTiling(optiling::TCubeTiling& tiling) {
  if (!compute()) return -1;
  kw::copyTiling(result_, tiling);
  return 0;
}
int64_t MatmulApiTilingBase::GetTiling(AscendC::tiling::TCubeTiling& tiling) {
  if (!compute()) return -1;
  tiling = result_;
  return 0;
}

int32_t MultiCoreMatmulTiling::SetDim(int32_t cores) {
  request_.cores = cores;
  return cores > 0 ? 0 : -1;
}
int32_t MultiCoreMatmulTiling::SetShape(int32_t m, int32_t n, int32_t k) {
  return MatmulApiTilingBase::SetShape(m, n, k);
}
int32_t MultiCoreMatmulTiling::SetSingleShape(int32_t m, int32_t n, int32_t k) {
  request_.singleM = m;
  request_.singleN = n;
  request_.singleK = k;
  return 0;
}
int32_t MultiCoreMatmulTiling::SetSingleRange(int32_t, int32_t, int32_t, int32_t, int32_t,
                                              int32_t) {
  return 0;
}
int32_t MultiCoreMatmulTiling::SetAlignSplit(int32_t alignM, int32_t alignN, int32_t alignK) {
  request_.alignM = alignM;
  request_.alignN = alignN;
  request_.alignK = alignK;
  return 0;
}
int32_t MultiCoreMatmulTiling::GetSingleShape(int32_t& m, int32_t& n, int32_t& k) const {
  m = result_.singleCoreM;
  n = result_.singleCoreN;
  k = result_.singleCoreK;
  return 0;
}
int32_t MultiCoreMatmulTiling::GetCoreNum(int32_t& used, int32_t& mCores, int32_t& nCores) const {
  if (result_.singleCoreM == 0 || result_.singleCoreN == 0) return -1;
  used = result_.usedCoreNum;
  mCores = ceilDiv(orElse(request_.m, request_.orgM), result_.singleCoreM);
  nCores = ceilDiv(orElse(request_.n, request_.orgN), result_.singleCoreN);
  return 0;
}
int32_t BatchMatmulTiling::GetCoreNum(int32_t& used, int32_t& mCores, int32_t& nCores) const {
  used = mCores = nCores = 1;
  return 0;
}

}  // namespace matmul_tiling

int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                            matmul_tiling::SysTilingTempBufSize& sizes) {
  if (tiling.get_baseM() <= 0) return -1;
  sizes.l1Size = tiling.get_shareL1Size();
  sizes.l0cSize = tiling.get_shareL0CSize();
  sizes.ubSize = tiling.get_shareUbSize();
  return 0;
}
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                                     matmul_tiling::SysTilingTempBufSize& sizes) {
  return MatmulGetTmpBufSize(tiling, sizes);
}
int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling& tiling,
                                 matmul_tiling::SysTilingTempBufSize& sizes) {
  return MatmulGetTmpBufSize(tiling, sizes);
}
