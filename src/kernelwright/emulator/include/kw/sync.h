// Order between cores: SyncAll, cross-core flags, and coherence of the scalar unit's data cache.
#pragma once
#include "kw/cross_core_abi.h"
#include "kw/event.h"
#include "kw/global_tensor.h"
#include "kw/local_tensor.h"

namespace kw {

// Soft SyncAll: its workspace must be zeroed and large enough.
void syncAllSoft(void* global, uint64_t globalBytes, const void* local, uint64_t localBytes,
                 int32_t usedCores);
void cleanCache(const void* address, bool isWhole);

}  // namespace kw

namespace AscendC {

template <bool isAIVOnly = true>
KW_API void SyncAll() { kw::syncAll(isAIVOnly); }
template <bool isAIVOnly = true>
KW_API void SyncAll(const GlobalTensor<int32_t>& gmWorkspace,
                    const LocalTensor<int32_t>& ubWorkspace, const int32_t usedCores = 0) {
  kw::syncAllSoft(gmWorkspace.GetPhyAddr(0), gmWorkspace.GetSize() * 4, ubWorkspace.GetPhyAddr(),
                  ubWorkspace.GetLength(), usedCores);
}

template <uint8_t modeId, pipe_t pipe>
KW_API void CrossCoreSetFlag(uint16_t flagId) {
  static_assert(modeId <= 2, "CrossCoreSetFlag has the modes 0, 1 and 2");
  kw::crossSet(modeId, kw::pipeOf(pipe), flagId);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
KW_API void CrossCoreWaitFlag(uint16_t flagId) {
  kw::crossWait(kw::pipeOf(pipe), flagId);
}

// Waits on two vector cores of one block, or between blocks in turn, by global memory.
template <typename T, CacheLine entireType, DcciDst dcciDst>
KW_API void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor) {
  kw::cleanCache(tensor.GetPhyAddr(0), entireType == CacheLine::ENTIRE_DATA_CACHE);
}
template <typename T, CacheLine entireType>
KW_API void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor) {
  kw::cleanCache(tensor.GetPhyAddr(0), entireType == CacheLine::ENTIRE_DATA_CACHE);
}
template <typename T, CacheLine entireType, DcciDst dcciDst>
KW_API void DataCacheCleanAndInvalid(const LocalTensor<T>&) {}
template <typename T>
KW_API void DataCachePreload(const GlobalTensor<uint64_t>&, const T) {}
template <MemDsbT type>
KW_API void DataSyncBarrier() {}

}  // namespace AscendC

template <typename T>
KW_API void dcci(T* address, uint64_t type, uint64_t = 0) { kw::cleanCache(address, type != 0); }
KW_API void dsb(uint64_t) {}
