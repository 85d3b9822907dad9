// Definition of an operator: its inputs, outputs, attributes, chips and host functions.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3 };
enum class FormatCheckOption { DEFAULT = 0, ALL = 1, STRICT = 2 };

// One input or output; DataType and Format hold one entry a supported combination.
class OpParamDef {
 public:
  explicit OpParamDef(const char* name) : name_(name) {}
  OpParamDef& ParamType(Option option) { option_ = option; return *this; }
  OpParamDef& DataType(std::vector<ge::DataType> types) { types_ = std::move(types); return *this; }
  OpParamDef& DataTypeList(std::vector<ge::DataType> types) {
    types_ = std::move(types);
    isList_ = true;
    return *this;
  }
  OpParamDef& DataTypeForBinQuery(std::vector<ge::DataType> types);
  OpParamDef& Format(std::vector<ge::Format> formats) {
    formats_ = std::move(formats);
    return *this;
  }
  OpParamDef& FormatList(std::vector<ge::Format> formats) { return Format(std::move(formats)); }
  OpParamDef& FormatForBinQuery(std::vector<ge::Format>) { return *this; }
  OpParamDef& UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
  OpParamDef& UnknownShapeFormat(FormatCheckOption) { return *this; }
  OpParamDef& ValueDepend(Option option) { valueDepend_ = option; return *this; }
  OpParamDef& ValueDepend(Option option, DependScope) { return ValueDepend(option); }
  OpParamDef& IgnoreContiguous() { ignoresContiguous_ = true; return *this; }
  OpParamDef& AutoContiguous() { ignoresContiguous_ = false; return *this; }
  OpParamDef& Scalar() { isScalar_ = true; return *this; }
  OpParamDef& ScalarList() { isScalarList_ = true; return *this; }
  OpParamDef& To(const ge::DataType type) { toType_ = type; return *this; }
  OpParamDef& To(const char* name) { toName_ = name; return *this; }
  OpParamDef& Version(uint32_t) { return *this; }
  OpParamDef& InitValue(uint64_t value) { initValue_ = value; hasInit_ = true; return *this; }
  OpParamDef& OutputShapeDependOnCompute() { return *this; }
  OpParamDef& Follow(const char* name) { follow_ = name; return *this; }
  OpParamDef& Follow(const char* name, FollowType) { return Follow(name); }
  OpParamDef& Comment(const char*) { return *this; }

  const std::string& name() const { return name_; }
  Option option() const { return option_; }
  const std::vector<ge::DataType>& types() const { return types_; }
  const std::vector<ge::Format>& formats() const { return formats_; }
  bool isValueDependent() const { return valueDepend_ != IGNORE || isScalar_ || isScalarList_; }
  bool ignoresContiguous() const { return ignoresContiguous_; }
  bool isScalar() const { return isScalar_; }
  bool isTypeList() const { return isList_; }
  ge::DataType toType() const { return toType_; }
  const std::string& follow() const { return follow_; }
  bool hasInitValue() const { return hasInit_; }
  uint64_t initValue() const { return initValue_; }

 private:
  std::string name_;
  Option option_ = REQUIRED;
  std::vector<ge::DataType> types_;
  std::vector<ge::Format> formats_;
  Option valueDepend_ = IGNORE;
  bool ignoresContiguous_ = false;
  bool isScalar_ = false;
  bool isScalarList_ = false;
  bool isList_ = false;
  ge::DataType toType_ = ge::DT_UNDEFINED;
  std::string toName_;
  std::string follow_;
  uint64_t initValue_ = 0;
  bool hasInit_ = false;
};

// One attribute; a default makes it optional.
class OpAttrDef {
 public:
  explicit OpAttrDef(const char* name) { value_.name = name; }
  OpAttrDef& AttrType(Option option) { option_ = option; return *this; }
  OpAttrDef& Bool() { return typed("bool", false); }
  OpAttrDef& Bool(bool value) { value_.asBool = value; return typed("bool", true); }
  OpAttrDef& Float() { return typed("float", false); }
  OpAttrDef& Float(float value) { value_.asFloat = value; return typed("float", true); }
  OpAttrDef& Int() { return typed("int", false); }
  OpAttrDef& Int(int64_t value) { value_.asInt = value; return typed("int", true); }
  OpAttrDef& String() { return typed("str", false); }
  OpAttrDef& String(const char* value) { value_.asStr = value; return typed("str", true); }
  OpAttrDef& ListBool() { return typed("list_bool", false); }
  OpAttrDef& ListBool(std::vector<bool> value);
  OpAttrDef& ListFloat() { return typed("list_float", false); }
  OpAttrDef& ListFloat(std::vector<float> value);
  OpAttrDef& ListInt() { return typed("list_int", false); }
  OpAttrDef& ListInt(std::vector<int64_t> value);
  OpAttrDef& ListListInt() { return typed("list_list_int", false); }
  OpAttrDef& Version(uint32_t) { return *this; }
  OpAttrDef& Comment(const char*) { return *this; }

  const std::string& name() const { return value_.name; }
  const std::string& type() const { return value_.type; }
  Option option() const { return option_; }
  bool hasDefault() const { return hasDefault_; }
  const gert::RuntimeAttrs::Value& value() const { return value_; }

 private:
  OpAttrDef& typed(const char* type, bool hasDefault) {
    value_.type = type;
    hasDefault_ = hasDefault;
    return *this;
  }
  Option option_ = REQUIRED;
  bool hasDefault_ = false;
  gert::RuntimeAttrs::Value value_;
};

// Switches of one chip; operands given here replace the operator's own for that chip.
class OpAICoreConfig {
 public:
  OpAICoreConfig() = default;
  explicit OpAICoreConfig(const char* soc) : soc_(soc) {}
  OpParamDef& Input(const char* name) { return named(inputs_, name); }
  OpParamDef& Output(const char* name) { return named(outputs_, name); }
  OpAICoreConfig& DynamicCompileStaticFlag(bool) { return *this; }
  OpAICoreConfig& DynamicFormatFlag(bool) { return *this; }
  OpAICoreConfig& DynamicRankSupportFlag(bool) { return *this; }
  OpAICoreConfig& DynamicShapeSupportFlag(bool) { return *this; }
  OpAICoreConfig& NeedCheckSupportFlag(bool) { return *this; }
  OpAICoreConfig& PrecisionReduceFlag(bool) { return *this; }
  OpAICoreConfig& ExtendCfgInfo(const char*, const char*) { return *this; }
  OpAICoreConfig& Async(bool) { return *this; }

  const std::deque<OpParamDef>& inputs() const { return inputs_; }
  const std::deque<OpParamDef>& outputs() const { return outputs_; }

 private:
  static OpParamDef& named(std::deque<OpParamDef>& params, const char* name);
  std::string soc_;
  std::deque<OpParamDef> inputs_;
  std::deque<OpParamDef> outputs_;
};

using TilingFunction = ge::graphStatus (*)(gert::TilingContext*);
using InferShapeFunction = ge::graphStatus (*)(gert::InferShapeContext*);
using InferDataTypeFunction = ge::graphStatus (*)(gert::InferDataTypeContext*);

// What the operator has for the AI cores: its tiling function and the chips it is built for.
class OpAICoreDef {
 public:
  OpAICoreDef& SetTiling(TilingFunction tiling) { tiling_ = tiling; return *this; }
  template <typename F>
  OpAICoreDef& SetCheckSupport(F) { return *this; }
  template <typename F>
  OpAICoreDef& SetOpSelectFormat(F) { return *this; }
  template <typename F>
  OpAICoreDef& SetGeneralize(F) { return *this; }
  OpAICoreDef& AddConfig(const char* soc) { return AddConfig(soc, OpAICoreConfig(soc)); }
  OpAICoreDef& AddConfig(const char* soc, const OpAICoreConfig& config) {
    configs_.emplace_back(soc, config);
    return *this;
  }

  TilingFunction tiling() const { return tiling_; }
  const std::deque<std::pair<std::string, OpAICoreConfig>>& configs() const { return configs_; }

 private:
  TilingFunction tiling_ = nullptr;
  std::deque<std::pair<std::string, OpAICoreConfig>> configs_;
};

}  // namespace ops
