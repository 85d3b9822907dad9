// The context of a tiling function.
#pragma once
#include "exe_graph/runtime/kernel_context.h"
#include "exe_graph/runtime/tiling_data.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

class TilingContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;

  const StorageShape* GetInputShape(size_t index) const { return inputShape(index); }
  const StorageShape* GetRequiredInputShape(size_t ir) const { return irInputShape(ir, 0); }
  const StorageShape* GetOptionalInputShape(size_t ir) const { return irInputShape(ir, 0); }
  const StorageShape* GetDynamicInputShape(size_t ir, size_t relative) const {
    return irInputShape(ir, relative);
  }
  const Tensor* GetInputTensor(size_t index) const { return inputTensor(index); }
  const Tensor* GetRequiredInputTensor(size_t ir) const { return irInputTensor(ir, 0); }
  const Tensor* GetOptionalInputTensor(size_t ir) const { return irInputTensor(ir, 0); }
  const Tensor* GetDynamicInputTensor(size_t ir, size_t relative) const {
    return irInputTensor(ir, relative);
  }
  const StorageShape* GetOutputShape(size_t index) const;

  template <typename T>
  const T* GetCompileInfo() const {
    return static_cast<const T*>(compileInfo());
  }
  fe::PlatFormInfos* GetPlatformInfo() const;
  int32_t GetDeterministic() const { return 0; }

  TilingData* GetRawTilingData();
  template <typename T>
  T* GetTilingData() {
    TilingData* raw = GetRawTilingData();
    if (sizeof(T) > raw->GetCapacity()) {
      kw::tilingTooLarge(sizeof(T), raw->GetCapacity());
      return nullptr;
    }
    raw->SetDataSize(sizeof(T));
    return static_cast<T*>(raw->GetData());
  }
  size_t* GetWorkspaceSizes(size_t count);
  size_t GetWorkspaceNum() const;
  ge::graphStatus SetBlockDim(uint32_t count);
  ge::graphStatus SetNumBlocks(uint32_t count) { return SetBlockDim(count); }
  uint32_t GetBlockDim() const;
  ge::graphStatus SetTilingKey(uint64_t key);
  uint64_t GetTilingKey() const;
  ge::graphStatus SetScheduleMode(uint32_t mode);
  uint32_t GetScheduleMode() const;
  ge::graphStatus SetTilingCond(int32_t cond);
  ge::graphStatus SetNeedAtomic(bool isNeeded);
  ge::graphStatus SetLocalMemorySize(uint32_t bytes);
  ge::graphStatus SetAicpuBlockDim(uint32_t count);

 private:
  const void* compileInfo() const;
};

// The context of a tiling-parse function, which fills the compile information once.
class TilingParseContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  const char* GetCompiledJson() const { return "{}"; }
  fe::PlatFormInfos* GetPlatformInfo() const;
  template <typename T>
  T* GetCompiledInfo() {
    return static_cast<T*>(compiledInfo());
  }

 private:
  void* compiledInfo() const;
};

}  // namespace gert
