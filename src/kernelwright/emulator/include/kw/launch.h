// Which core this is, what kind of launch it belongs to, and how work is split between core types.
#pragma once
#include "kw/abi.h"
#include "kw/enums.h"
#include "kw/qualifiers.h"

namespace kw {

void declareTaskType(uint32_t type);

}  // namespace kw

namespace AscendC {

KW_API int64_t GetBlockIdx() { return kw::g_core->blockIdx; }
KW_API int64_t GetBlockNum() { return kw::g_core->blockNum; }
KW_API int64_t GetSubBlockIdx() { return kw::g_core->subBlockIdx; }
KW_API int64_t GetSubBlockNum() { return kw::g_core->subBlockNum; }
KW_API int64_t GetTaskRation() { return kw::g_core->subBlockNum; }
template <typename T = void>
KW_API int64_t GetBlockIdxImpl() { return GetBlockIdx(); }
KW_API uint32_t GetDataBlockSizeInBytes() { return 32; }
KW_API constexpr uint32_t GetVecLen() { return 256; }
KW_API int64_t GetProgramCounter() { return 0; }

}  // namespace AscendC

KW_API int64_t get_block_idx() { return kw::g_core->blockIdx; }
KW_API int64_t get_block_num() { return kw::g_core->blockNum; }
KW_API int64_t get_subblockid() { return kw::g_core->subBlockIdx; }
KW_API int64_t get_subblockdim() { return kw::g_core->subBlockNum; }
KW_API int64_t get_coreid() { return kw::g_core->blockIdx; }

#define g_coreType (static_cast<int32_t>(::kw::g_core->coreType))
#define ASCEND_IS_AIV (::kw::g_core->coreType == ::AscendC::AIV)
#define ASCEND_IS_AIC (::kw::g_core->coreType == ::AscendC::AIC)
#define ASCEND_IS_NOT_AIV (::kw::g_core->coreType != ::AscendC::AIV)
#define ASCEND_IS_NOT_AIC (::kw::g_core->coreType != ::AscendC::AIC)

#define KERNEL_TASK_TYPE_DEFAULT(type) ::kw::declareTaskType(type)
#define KERNEL_TASK_TYPE(key, type) \
  do { \
    if (::kw::g_core->tilingKey == static_cast<uint64_t>(key)) ::kw::declareTaskType(type); \
  } while (0)
