// Types that matmul tiling and the Matmul API share, and the parameters of one tiling request.
#pragma once
#include <cstdint>
#include "kw/tiling_classes.h"
#include "kw/tiling_structs.h"
#include "tiling/platform/platform_ascendc.h"

namespace matmul_tiling {

enum class TPosition : int32_t {
  GM = 0, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM,
  SHM = SPM, TSCM, MAX
};
enum class CubeFormat : int32_t {
  ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, COLUMN_MAJOR
};
enum class DataType : int32_t {
  DT_FLOAT = 0, DT_FLOAT16 = 1, DT_INT8 = 2, DT_INT32 = 3, DT_UINT8 = 4, DT_INT16 = 6,
  DT_UINT16 = 7, DT_UINT32 = 8, DT_INT64 = 9, DT_UINT64 = 10, DT_DOUBLE = 11, DT_BOOL = 12,
  DT_BFLOAT16 = 27, DT_BF16 = 27, DT_UNDEFINED = 28, DT_INT4 = 29
};
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };

struct MatrixType {
  TPosition position = TPosition::GM;
  CubeFormat format = CubeFormat::ND;
  DataType type = DataType::DT_FLOAT;
  bool isTransposed = false;
};

// What the caller asked for; -1 means "choose".
struct MatmulRequest {
  MatrixType a, b, c, bias;
  int32_t m = -1, n = -1, ka = -1, kb = -1;
  int32_t orgM = -1, orgN = -1, orgKa = -1, orgKb = -1;
  int32_t singleM = -1, singleN = -1, singleK = -1;
  int32_t baseM = -1, baseN = -1, baseK = -1;
  int32_t minSingleM = -1, minSingleN = -1, maxSingleM = -1, maxSingleN = -1;
  int32_t alignM = -1, alignN = -1, alignK = -1;
  int64_t l1Bytes = -1, l0cBytes = -1, ubBytes = -1;
  int32_t cores = 1;
  bool hasBias = false;
  bool splitsK = false;
  MatrixTraverse traverse = MatrixTraverse::NOSET;
  int32_t batchNum = 0;
  int32_t batchM = 1, batchN = 1;
  int32_t aLayout[5] = {0, 0, 0, 0, 0};
  int32_t bLayout[5] = {0, 0, 0, 0, 0};
  int32_t cLayout[5] = {0, 0, 0, 0, 0};
};

struct SysTilingTempBufSize {
  int32_t ubSize = 0;
  int32_t l1Size = 0;
  int32_t l0cSize = 0;
};

struct PlatformInfo {
  platform_ascendc::SocVersion socVersion = platform_ascendc::SocVersion::ASCEND910B;
  uint64_t l1Size = 0, l0CSize = 0, ubSize = 0, l0ASize = 0, l0BSize = 0;
};

// The part common to one core, many cores and batches.
class MatmulApiTilingBase {
 public:
  MatmulApiTilingBase();
  explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& chip);
  explicit MatmulApiTilingBase(const PlatformInfo& chip);
  virtual ~MatmulApiTilingBase() = default;

  int32_t SetAType(TPosition position, CubeFormat format, DataType type, bool transpose = false);
  int32_t SetBType(TPosition position, CubeFormat format, DataType type, bool transpose = false);
  int32_t SetCType(TPosition position, CubeFormat format, DataType type);
  int32_t SetBiasType(TPosition position, CubeFormat format, DataType type);
  int32_t SetDequantType(DequantType) { return 0; }
  virtual int32_t SetShape(int32_t m, int32_t n, int32_t k);
  int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
  int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb);
  int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
  int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
  int32_t SetCLayout(int32_t b, int32_t s1, int32_t n, int32_t g, int32_t s2);
  int32_t SetBatchNum(int32_t count) { request_.batchNum = count; return 0; }
  int32_t SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k);
  int32_t EnableBias(bool isUsed = false) { request_.hasBias = isUsed; return 0; }
  int32_t SetBias(bool isUsed = false) { return EnableBias(isUsed); }
  int32_t SetFixSplit(int32_t baseM = -1, int32_t baseN = -1, int32_t baseK = -1);
  int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t ub = -1, int32_t bt = -1);
  int32_t SetTraverse(MatrixTraverse order) { request_.traverse = order; return 0; }
  int32_t SetMadType(MatrixMadType) { return 0; }
  int32_t SetSplitRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1,
                        int32_t minM = -1, int32_t minN = -1, int32_t minK = -1);
  int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true) { return 0; }
  int32_t SetMatmulConfigParams(int32_t = 1, bool = false, ScheduleType = {},
                                MatrixTraverse = {}, bool = false) { return 0; }
  int64_t GetTiling(optiling::TCubeTiling& tiling);
  int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling);
  int32_t GetBaseM() const { return result_.baseM; }
  int32_t GetBaseN() const { return result_.baseN; }
  int32_t GetBaseK() const { return result_.baseK; }

 protected:
  bool compute();
  bool chooseBase(int32_t m, int32_t n, int32_t k);  // what fits L0
  bool chooseDepth();                               // what fits L1
  void copyRequest();
  MatmulRequest request_;
  ::TCubeTiling result_ = {};
  uint64_t l1Bytes_, l0cBytes_, ubBytes_, l0aBytes_, l0bBytes_;
};

}  // namespace matmul_tiling
