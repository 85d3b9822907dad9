// What tiling, shape and type inference share: access to the operands of one call.
#pragma once
#include <cstddef>
#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/tensor.h"

namespace kw {
struct HostCall;
}

namespace gert {

// Operands by instance index count what was really passed; "required", "optional" and "dynamic"
// ones go by their place in the operator's definition.
class ExtendedKernelContext {
 public:
  explicit ExtendedKernelContext(kw::HostCall* call) : call_(call) {}
  ExtendedKernelContext(const ExtendedKernelContext&) = delete;

  const char* GetNodeName() const;
  const char* GetNodeType() const;
  size_t GetComputeNodeInputNum() const;
  size_t GetComputeNodeOutputNum() const;
  const RuntimeAttrs* GetAttrs() const;
  const CompileTimeTensorDesc* GetInputDesc(size_t index) const;
  const CompileTimeTensorDesc* GetOutputDesc(size_t index) const;
  const CompileTimeTensorDesc* GetRequiredInputDesc(size_t irIndex) const;
  const CompileTimeTensorDesc* GetOptionalInputDesc(size_t irIndex) const;
  const CompileTimeTensorDesc* GetDynamicInputDesc(size_t irIndex, size_t relative) const;
  size_t GetDynamicInputNum(size_t irIndex) const;

 protected:
  const Tensor* inputTensor(size_t index) const;
  const Tensor* irInputTensor(size_t irIndex, size_t relative) const;
  const StorageShape* inputShape(size_t index) const;
  const StorageShape* irInputShape(size_t irIndex, size_t relative) const;
  kw::HostCall* call_;
};

using KernelContext = ExtendedKernelContext;

}  // namespace gert
