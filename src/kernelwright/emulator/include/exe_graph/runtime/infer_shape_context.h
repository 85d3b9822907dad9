// The context of a shape-inference function.
#pragma once
#include "exe_graph/runtime/kernel_context.h"

namespace gert {

class InferShapeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  const Shape* GetInputShape(size_t index) const;
  const Shape* GetRequiredInputShape(size_t irIndex) const;
  const Shape* GetOptionalInputShape(size_t irIndex) const;
  const Shape* GetDynamicInputShape(size_t irIndex, size_t relative) const;
  const Tensor* GetInputTensor(size_t index) const { return inputTensor(index); }
  const Tensor* GetRequiredInputTensor(size_t ir) const { return irInputTensor(ir, 0); }
  const Tensor* GetOptionalInputTensor(size_t ir) const { return irInputTensor(ir, 0); }
  const Tensor* GetDynamicInputTensor(size_t ir, size_t relative) const {
    return irInputTensor(ir, relative);
  }
  Shape* GetOutputShape(size_t index);
};

}  // namespace gert
