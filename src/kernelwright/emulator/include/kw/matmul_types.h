// Types that describe matrices and the configuration of the Matmul API.
#pragma once
#include "kw/enums.h"
#include "kw/half.h"

enum class CubeFormat : uint8_t { ND, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, COLUMN_MAJOR };
enum class LayoutMode : uint8_t { NONE, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode : uint8_t {
  NONE, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1
};
enum class IterateOrder : uint8_t { ORDER_M, ORDER_N, UNDEF };
enum class ScheduleType : uint8_t { INNER_PRODUCT, OUTER_PRODUCT, N_BUFFER_33 };
enum class IterateMode : uint8_t {
  ITERATE_MODE_NORMAL = 1, ITERATE_MODE_ALL = 2, ITERATE_MODE_BATCH = 4, ITERATE_MODE_N_BATCH = 8,
  ITERATE_MODE_DEFAULT = 255
};

// Chosen at compile time. It tells the device how to spend its L1; no result depends on it.
struct MatmulConfig {
  bool doNorm = true;
  bool doBasicBlock = false;
  bool doMultiDataLoad = false;
  uint32_t basicM = 0, basicN = 0, basicK = 0;
  bool intrinsicsCheck = false;
  bool isNBatch = false;
  bool enVecND2NZ = false;
  bool doSpecialBasicBlock = false;
  uint32_t doMTE2Preload = 0;
  uint32_t singleCoreM = 0, singleCoreN = 0, singleCoreK = 0;
  uint32_t stepM = 0, stepN = 0;
  uint32_t baseMN = 0;
  uint32_t singleCoreMN = 0;
  bool enUnitFlag = false;
  bool isPerTensor = false;
  bool hasAntiQuantOffset = false;
  bool doIBShareNorm = false;
  bool doSpecialMDL = false;
  bool enableInit = true;
  BatchMode batchMode = BatchMode::NONE;
  bool enableEnd = true;
  bool enableGetTensorC = true;
  bool enableSetOrgShape = true;
  bool enableSetBias = true;
  bool enableSetTail = true;
  bool enableQuantVector = true;
  bool enableSetDefineData = true;
  uint8_t iterateMode = 255;
  bool enableReuse = true;
  bool enableUBReuse = true;
  bool enableL1CacheUB = false;
  bool intraBlockPartSum = false;
  IterateOrder iterateOrder = IterateOrder::UNDEF;
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  bool enableDoubleCache = false;
  bool isBiasBatch = true;
  bool enableStaticPadZeros = false;
};

__aicore__ constexpr MatmulConfig GetNormalConfig(
    bool intrinsicsCheck = false, bool isNBatch = false, bool enVecND2NZ = false,
    BatchMode batchMode = BatchMode::BATCH_LESS_THAN_L1, bool isMsgReuse = true,
    IterateOrder order = IterateOrder::UNDEF, ScheduleType schedule = ScheduleType::INNER_PRODUCT,
    bool enUnitFlag = true, bool enableMixDualMaster = false, bool isBiasBatch = true) {
  (void)isMsgReuse;
  (void)enableMixDualMaster;
  MatmulConfig config;
  config.intrinsicsCheck = intrinsicsCheck;
  config.isNBatch = isNBatch;
  config.enVecND2NZ = enVecND2NZ;
  config.batchMode = batchMode;
  config.iterateOrder = order;
  config.scheduleType = schedule;
  config.enUnitFlag = enUnitFlag;
  config.isBiasBatch = isBiasBatch;
  return config;
}

__aicore__ constexpr MatmulConfig GetMDLConfig(bool intrinsicsCheck = false, bool isNBatch = false,
                                               uint32_t doMTE2Preload = 0,
                                               bool enVecND2NZ = false, bool isPerTensor = false,
                                               bool hasAntiQuantOffset = false,
                                               bool enUnitFlag = false, bool isMsgReuse = true,
                                               bool enableUBReuse = true,
                                               bool enableL1CacheUB = false) {
  (void)isMsgReuse;
  MatmulConfig config;
  config.doNorm = false;
  config.doMultiDataLoad = true;
  config.intrinsicsCheck = intrinsicsCheck;
  config.isNBatch = isNBatch;
  config.doMTE2Preload = doMTE2Preload;
  config.enVecND2NZ = enVecND2NZ;
  config.isPerTensor = isPerTensor;
  config.hasAntiQuantOffset = hasAntiQuantOffset;
  config.enUnitFlag = enUnitFlag;
  config.enableUBReuse = enableUBReuse;
  config.enableL1CacheUB = enableL1CacheUB;
  return config;
}

__aicore__ constexpr MatmulConfig GetSpecialMDLConfig(bool intrinsicsCheck = false,
                                                      bool isNBatch = false,
                                                      uint32_t doMTE2Preload = 0) {
  MatmulConfig config = GetMDLConfig(intrinsicsCheck, isNBatch, doMTE2Preload);
  config.doSpecialMDL = true;
  return config;
}

__aicore__ constexpr MatmulConfig GetIBShareNormConfig(bool intrinsicsCheck = false) {
  MatmulConfig config = GetNormalConfig(intrinsicsCheck);
  config.doIBShareNorm = true;
  return config;
}

__aicore__ constexpr MatmulConfig GetBasicConfig(uint32_t basicM, uint32_t basicN, uint32_t basicK,
                                                 bool intrinsicsCheck = false) {
  MatmulConfig config = GetNormalConfig(intrinsicsCheck);
  config.doBasicBlock = true;
  config.basicM = basicM;
  config.basicN = basicN;
  config.basicK = basicK;
  return config;
}

constexpr MatmulConfig CFG_NORM = GetNormalConfig();
constexpr MatmulConfig CFG_MDL = GetMDLConfig();
constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);
constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();

namespace AscendC {

using ::BatchMode;
using ::CubeFormat;
using ::IterateOrder;
using ::LayoutMode;
using ::MatmulConfig;
using ::ScheduleType;

// One operand of a product: where it lies, how, and of what.
template <TPosition position, CubeFormat layout, typename Type, bool isTransposed = false,
          LayoutMode batches = LayoutMode::NONE, bool isShared = false>
struct MatmulType {
  static constexpr TPosition pos = position;
  static constexpr CubeFormat format = layout;
  using T = Type;
  static constexpr bool isTrans = isTransposed;
  static constexpr LayoutMode layoutMode = batches;
  static constexpr LayoutMode layout_ = batches;
  static constexpr bool ibShare = isShared;
};

template <auto... functions>
struct MatmulCallBackFunc {};

}  // namespace AscendC
