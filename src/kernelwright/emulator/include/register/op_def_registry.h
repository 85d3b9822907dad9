// Where an op_host source registers its operator: OpDef and OP_ADD.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include "register/op_def.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace ops {

// Collective operators: accepted, not emulated.
class OpMC2Def {
 public:
  OpMC2Def& HcclGroup(const char*) { return *this; }
  OpMC2Def& HcclGroup(std::vector<const char*>) { return *this; }
};

class OpDef {
 public:
  explicit OpDef(const char* type) : type_(type) {}
  virtual ~OpDef() = default;
  OpDef(const OpDef&) = delete;

  OpParamDef& Input(const char* name) { return named(inputs_, name); }
  OpParamDef& Output(const char* name) { return named(outputs_, name); }
  OpAttrDef& Attr(const char* name);
  OpAICoreDef& AICore() { return aicore_; }
  OpMC2Def& MC2() { return mc2_; }
  OpDef& SetInferShape(InferShapeFunction function) { inferShape_ = function; return *this; }
  template <typename F>
  OpDef& SetInferShapeRange(F) { return *this; }
  OpDef& SetInferDataType(InferDataTypeFunction function) {
    inferType_ = function;
    return *this;
  }
  OpDef& FormatMatchMode(Option) { return *this; }
  OpDef& Comment(const char*) { return *this; }

  const std::string& type() const { return type_; }
  const std::deque<OpParamDef>& inputs() const { return inputs_; }
  const std::deque<OpParamDef>& outputs() const { return outputs_; }
  const std::deque<OpAttrDef>& attrs() const { return attrs_; }
  const OpAICoreDef& aicore() const { return aicore_; }
  InferShapeFunction inferShape() const { return inferShape_; }
  InferDataTypeFunction inferType() const { return inferType_; }

 private:
  static OpParamDef& named(std::deque<OpParamDef>& params, const char* name);
  std::string type_;
  std::deque<OpParamDef> inputs_;
  std::deque<OpParamDef> outputs_;
  std::deque<OpAttrDef> attrs_;
  OpAICoreDef aicore_;
  OpMC2Def mc2_;
  InferShapeFunction inferShape_ = nullptr;
  InferDataTypeFunction inferType_ = nullptr;
};

}  // namespace ops

namespace kw {
int addOperator(ops::OpDef* definition);  // takes ownership
}

#define OP_ADD(opType, ...) \
  [[maybe_unused]] static const int kwAdded##opType = ::kw::addOperator(new opType(#opType))
