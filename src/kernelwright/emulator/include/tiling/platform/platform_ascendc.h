// What a tiling function may ask about the chip; the answers come from the target's facts.
#pragma once
#include <cstdint>
#include <string>
#include "exe_graph/runtime/tiling_context.h"

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {

enum class CoreMemType {
  L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED
};

enum class SocVersion {
  ASCEND910 = 0, ASCEND910B, ASCEND310P, ASCEND310B, ASCEND910_93, ASCEND910D, ASCEND910_95,
  ASCEND910_55, AS31XM1, ASCEND031, MC62CM12A, KIRINX90, ASCEND950, RESERVED_VERSION = 99999
};

class PlatformAscendC {
 public:
  explicit PlatformAscendC(fe::PlatFormInfos* infos) : infos_(infos) {}
  // Vector cores where cube and vector cores are separate, AI cores where they are not.
  uint32_t GetCoreNum() const;
  uint32_t GetCoreNumAic() const;
  uint32_t GetCoreNumAiv() const;
  uint32_t GetCoreNumVector() const;  // extra vector cores, of chips that have such
  uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicNum, uint32_t aivNum) const;
  uint32_t CalcTschNumBlocks(uint32_t sliceNum, uint32_t aicNum, uint32_t aivNum) const {
    return CalcTschBlockDim(sliceNum, aicNum, aivNum);
  }
  void GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const;
  void GetCoreMemBw(const CoreMemType& type, uint64_t& bytesPerCycle) const;
  uint32_t GetLibApiWorkSpaceSize() const;
  uint32_t GetResCubeGroupWorkSpaceSize() const;
  uint32_t GetResGroupBarrierWorkSpaceSize() const;
  SocVersion GetSocVersion() const;
  void ReserveLocalMemory(uint32_t) {}

 private:
  fe::PlatFormInfos* infos_;
};

// The chip without a tiling context, for code that launches kernels itself.
class PlatformAscendCManager {
 public:
  static PlatformAscendC* GetInstance();
  static PlatformAscendC* GetInstance(const char* customSocVersion);
};

}  // namespace platform_ascendc
