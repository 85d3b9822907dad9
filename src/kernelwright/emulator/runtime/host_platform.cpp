// Answers of PlatformAscendC and of the graph side's platform description.
#include "host_platform.h"
#include <cstring>
#include "host_call.h"
#include "platform/platform_infos_def.h"
#include "tiling/platform/platform_ascendc.h"

namespace kw {

HostPlatform& hostPlatform() {
  static HostPlatform platform;
  return platform;
}

namespace {

struct Fact {
  const char* name;
  uint64_t HostPlatform::*field;
};

const Fact kFacts[] = {
    {"aic_cores", &HostPlatform::aic_cores},   {"aiv_cores", &HostPlatform::aiv_cores},
    {"is_split", &HostPlatform::is_split},     {"ub_bytes", &HostPlatform::ub_bytes},
    {"l1_bytes", &HostPlatform::l1_bytes},     {"l0a_bytes", &HostPlatform::l0a_bytes},
    {"l0b_bytes", &HostPlatform::l0b_bytes},   {"l0c_bytes", &HostPlatform::l0c_bytes},
    {"l2_bytes", &HostPlatform::l2_bytes},     {"bt_bytes", &HostPlatform::bt_bytes},
    {"fb_bytes", &HostPlatform::fb_bytes},     {"hbm_bytes", &HostPlatform::hbm_bytes},
    {"l2_bytes_per_cycle", &HostPlatform::l2_bytes_per_cycle},
    {"hbm_bytes_per_cycle", &HostPlatform::hbm_bytes_per_cycle},
    {"system_workspace_bytes", &HostPlatform::system_workspace_bytes},
    {"soc", &HostPlatform::soc},
};

fe::PlatFormInfos& infos() {
  static fe::PlatFormInfos all;
  return all;
}

}  // namespace

}  // namespace kw

extern "C" int kw_host_set_platform(const char* name, uint64_t value) {
  for (const kw::Fact& fact : kw::kFacts) {
    if (std::strcmp(fact.name, name) == 0) {
      kw::hostPlatform().*fact.field = value;
      return 0;
    }
  }
  return -1;
}

namespace gert {

fe::PlatFormInfos* TilingContext::GetPlatformInfo() const { return &kw::infos(); }
fe::PlatFormInfos* TilingParseContext::GetPlatformInfo() const { return &kw::infos(); }

}  // namespace gert

namespace platform_ascendc {

using kw::hostPlatform;

uint32_t PlatformAscendC::GetCoreNumAic() const {
  return static_cast<uint32_t>(hostPlatform().aic_cores);
}
uint32_t PlatformAscendC::GetCoreNumAiv() const {
  return static_cast<uint32_t>(hostPlatform().aiv_cores);
}
uint32_t PlatformAscendC::GetCoreNum() const {
  return hostPlatform().is_split != 0 ? GetCoreNumAiv() : GetCoreNumAic();
}
uint32_t PlatformAscendC::GetCoreNumVector() const {
  return GetSocVersion() == SocVersion::ASCEND310P ? GetCoreNumAiv() - GetCoreNumAic() : 0;
}

uint32_t PlatformAscendC::CalcTschBlockDim(uint32_t sliceNum, uint32_t aicNum,
                                           uint32_t aivNum) const {
  // A mixed kernel starts cube cores; each brings its vector cores along.
  if (aicNum == 0 || aivNum == 0 || aicNum > aivNum) return sliceNum;
  uint32_t ratio = aivNum / aicNum;
  return (sliceNum + ratio - 1) / ratio;
}

void PlatformAscendC::GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const {
  const kw::HostPlatform& chip = hostPlatform();
  const uint64_t sizes[] = {chip.l0a_bytes, chip.l0b_bytes, chip.l0c_bytes, chip.l1_bytes,
                            chip.l2_bytes,  chip.ub_bytes,  chip.hbm_bytes, chip.fb_bytes,
                            chip.bt_bytes};
  auto index = static_cast<size_t>(type);
  bytes = index < sizeof sizes / sizeof *sizes ? sizes[index] : 0;
}

void PlatformAscendC::GetCoreMemBw(const CoreMemType& type, uint64_t& bytesPerCycle) const {
  bytesPerCycle = type == CoreMemType::L2    ? hostPlatform().l2_bytes_per_cycle
                  : type == CoreMemType::HBM ? hostPlatform().hbm_bytes_per_cycle
                                             : 0;
}

uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const {
  return static_cast<uint32_t>(hostPlatform().system_workspace_bytes);
}
uint32_t PlatformAscendC::GetResCubeGroupWorkSpaceSize() const { return 5 * 1024 * 1024; }
uint32_t PlatformAscendC::GetResGroupBarrierWorkSpaceSize() const { return 1024 * 1024; }
SocVersion PlatformAscendC::GetSocVersion() const {
  return static_cast<SocVersion>(hostPlatform().soc);
}

PlatformAscendC* PlatformAscendCManager::GetInstance() {
  static PlatformAscendC chip(&kw::infos());
  return &chip;
}
PlatformAscendC* PlatformAscendCManager::GetInstance(const char*) { return GetInstance(); }

}  // namespace platform_ascendc

namespace fe {

namespace {

platform_ascendc::PlatformAscendC* chip() {
  return platform_ascendc::PlatformAscendCManager::GetInstance();
}

}  // namespace

uint32_t PlatFormInfos::GetCoreNum() const { return chip()->GetCoreNumAic(); }
uint32_t PlatFormInfos::GetCoreNumByType(const std::string& coreType) const {
  return coreType == "VectorCore" ? chip()->GetCoreNumAiv() : chip()->GetCoreNumAic();
}
void PlatFormInfos::GetLocalMemSize(const LocalMemType& type, uint64_t& bytes) const {
  chip()->GetCoreMemSize(
      type == LocalMemType::HBM ? platform_ascendc::CoreMemType::HBM
                                : static_cast<platform_ascendc::CoreMemType>(type), bytes);
}
bool PlatFormInfos::GetPlatformRes(const std::string&, const std::string& key,
                                   std::string& value) const {
  const kw::HostPlatform& facts = kw::hostPlatform();
  if (key == "ub_size") value = std::to_string(facts.ub_bytes);
  else if (key == "ai_core_cnt" || key == "cube_core_cnt") value = std::to_string(facts.aic_cores);
  else if (key == "vector_core_cnt") value = std::to_string(facts.aiv_cores);
  else if (key == "l1_size") value = std::to_string(facts.l1_bytes);
  else return false;
  return true;
}

}  // namespace fe
