// The platform description that the graph side hands to tiling functions.
#pragma once
#include <cstdint>
#include <string>

namespace fe {

enum class LocalMemType { L0_A, L0_B, L0_C, L1, L2, UB, HBM, RESERVED };

class PlatFormInfos {
 public:
  uint32_t GetCoreNum() const;
  uint32_t GetCoreNumByType(const std::string& coreType) const;
  void GetLocalMemSize(const LocalMemType& type, uint64_t& bytes) const;
  bool GetPlatformRes(const std::string& label, const std::string& key, std::string& value) const;
};

}  // namespace fe
