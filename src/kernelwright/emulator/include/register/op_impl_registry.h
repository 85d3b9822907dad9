// Host functions registered apart from a definition: IMPL_OP_OPTILING and IMPL_OP_INFERSHAPE.
#pragma once
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"

namespace kw {

using ParseFunction = ge::graphStatus (*)(gert::TilingParseContext*);

// Collects the functions of one operator; they serve where its definition names none.
class ImplRegistration {
 public:
  explicit ImplRegistration(const char* type) : type_(type) {}
  ImplRegistration& Tiling(ge::graphStatus (*function)(gert::TilingContext*), size_t = 0);
  ImplRegistration& InferShape(ge::graphStatus (*function)(gert::InferShapeContext*));
  ImplRegistration& InferDataType(ge::graphStatus (*function)(gert::InferDataTypeContext*));
  template <typename T>
  ImplRegistration& TilingParse(ParseFunction function) {
    return parse(function, []() -> void* { return new T(); });
  }
  ImplRegistration& InputsDataDependency(std::initializer_list<int32_t>) { return *this; }
  ImplRegistration& TilingInputsDataDependency(std::initializer_list<int32_t>) { return *this; }

 private:
  ImplRegistration& parse(ParseFunction function, void* (*make)());
  const char* type_;
};

}  // namespace kw

#define KW_IMPL_NAME2(op, line) kwImpl_##op##_##line
#define KW_IMPL_NAME(op, line) KW_IMPL_NAME2(op, line)
#define IMPL_OP(op) \
  [[maybe_unused]] static ::kw::ImplRegistration KW_IMPL_NAME(op, __LINE__) = \
      ::kw::ImplRegistration(#op)
#define IMPL_OP_OPTILING(op) IMPL_OP(op)
#define IMPL_OP_INFERSHAPE(op) IMPL_OP(op)
