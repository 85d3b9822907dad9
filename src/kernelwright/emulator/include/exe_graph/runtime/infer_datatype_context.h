// The context of a type-inference function.
#pragma once
#include "exe_graph/runtime/kernel_context.h"

namespace gert {

class InferDataTypeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  ge::DataType GetInputDataType(size_t index) const;
  ge::DataType GetRequiredInputDataType(size_t irIndex) const;
  ge::DataType GetOptionalInputDataType(size_t irIndex) const;
  ge::DataType GetDynamicInputDataType(size_t irIndex, size_t relative) const;
  ge::DataType GetOutputDataType(size_t index) const;
  ge::graphStatus SetOutputDataType(size_t index, ge::DataType type);
};

}  // namespace gert
