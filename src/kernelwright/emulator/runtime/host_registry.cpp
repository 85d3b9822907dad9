// The operators that a host library registers when it is loaded.
#include <map>
#include "graph/utils/type_utils.h"
#include "host_call.h"
#include "host_fault.h"

namespace ops {

OpParamDef& OpParamDef::DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }

OpAttrDef& OpAttrDef::ListBool(std::vector<bool> value) {
  value_.bools.assign(value.begin(), value.end());
  return typed("list_bool", true);
}

OpAttrDef& OpAttrDef::ListFloat(std::vector<float> value) {
  value_.floats = gert::TypedContinuousVector<float>(std::move(value));
  return typed("list_float", true);
}

OpAttrDef& OpAttrDef::ListInt(std::vector<int64_t> value) {
  value_.ints = gert::TypedContinuousVector<int64_t>(std::move(value));
  return typed("list_int", true);
}

namespace {

OpParamDef& findOrAdd(std::deque<OpParamDef>& params, const char* name) {
  for (OpParamDef& param : params) {
    if (param.name() == name) return param;
  }
  params.emplace_back(name);
  return params.back();
}

}  // namespace

OpParamDef& OpAICoreConfig::named(std::deque<OpParamDef>& params, const char* name) {
  return findOrAdd(params, name);
}

OpParamDef& OpDef::named(std::deque<OpParamDef>& params, const char* name) {
  return findOrAdd(params, name);
}

OpAttrDef& OpDef::Attr(const char* name) {
  for (OpAttrDef& attr : attrs_) {
    if (attr.name() == name) return attr;
  }
  attrs_.emplace_back(name);
  return attrs_.back();
}

}  // namespace ops

namespace kw {

namespace {

// Registration order of libraries is not ours to choose, so an operator's functions may come first.
std::map<std::string, OpRecord>& records() {
  static std::map<std::string, OpRecord> all;
  return all;
}

std::map<std::string, std::string>& tilingClasses() {
  static std::map<std::string, std::string> all;
  return all;
}

std::string paramJson(const ops::OpParamDef& param) {
  static const char* const kOptions[] = {"ignore", "optional", "required", "dynamic", "virtual"};
  std::string out = "{\"name\":" + quoted(param.name()) + ",\"option\":\"" +
                    kOptions[param.option()] + "\",\"types\":[";
  for (size_t i = 0; i < param.types().size(); ++i) {
    out += (i > 0 ? "," : "") + quoted(dtypeName(param.types()[i]));
  }
  out += "],\"formats\":[";
  for (size_t i = 0; i < param.formats().size(); ++i) {
    out += (i > 0 ? "," : "") + quoted(formatName(param.formats()[i]));
  }
  return out + "]}";
}

std::string operatorJson(const OpRecord& record) {
  const ops::OpDef& definition = *record.definition;
  std::string out = "{\"type\":" + quoted(definition.type()) + ",\"inputs\":[";
  const char* comma = "";
  for (const ops::OpParamDef& param : definition.inputs()) {
    out += comma + paramJson(param);
    comma = ",";
  }
  out += "],\"outputs\":[";
  comma = "";
  for (const ops::OpParamDef& param : definition.outputs()) {
    out += comma + paramJson(param);
    comma = ",";
  }
  out += "],\"attrs\":[";
  comma = "";
  for (const ops::OpAttrDef& attr : definition.attrs()) {
    out += std::string(comma) + "{\"name\":" + quoted(attr.name()) +
           ",\"type\":" + quoted(attr.type()) + "}";
    comma = ",";
  }
  out += "],\"socs\":[";
  comma = "";
  for (const auto& config : definition.aicore().configs()) {
    out += comma + quoted(config.first);
    comma = ",";
  }
  out += std::string("],\"has_tiling\":") + (record.tiling != nullptr ? "true" : "false") +
         ",\"has_infer_shape\":" + (record.inferShape != nullptr ? "true" : "false");
  auto found = tilingClasses().find(definition.type());
  if (found != tilingClasses().end()) out += ",\"tiling_class\":" + quoted(found->second);
  return out + "}";
}

}  // namespace

int addOperator(ops::OpDef* definition) {
  OpRecord& record = records()[definition->type()];
  record.definition.reset(definition);
  if (definition->aicore().tiling() != nullptr) record.tiling = definition->aicore().tiling();
  if (definition->inferShape() != nullptr) record.inferShape = definition->inferShape();
  if (definition->inferType() != nullptr) record.inferType = definition->inferType();
  return 0;
}

int addTilingClass(const char* op, const char* name) {
  tilingClasses()[op] = name;
  return 0;
}

ImplRegistration& ImplRegistration::Tiling(ge::graphStatus (*function)(gert::TilingContext*),
                                           size_t) {
  records()[type_].tiling = function;
  return *this;
}

ImplRegistration& ImplRegistration::InferShape(
    ge::graphStatus (*function)(gert::InferShapeContext*)) {
  records()[type_].inferShape = function;
  return *this;
}

ImplRegistration& ImplRegistration::InferDataType(
    ge::graphStatus (*function)(gert::InferDataTypeContext*)) {
  records()[type_].inferType = function;
  return *this;
}

ImplRegistration& ImplRegistration::parse(ParseFunction function, void* (*make)()) {
  records()[type_].parse = function;
  records()[type_].makeCompileInfo = make;
  return *this;
}

OpRecord* findOperator(const std::string& type) {
  auto found = records().find(type);
  if (found == records().end() || found->second.definition == nullptr) return nullptr;
  return &found->second;
}

std::vector<std::string> operatorTypes() {
  std::vector<std::string> types;
  for (const auto& entry : records()) {
    if (entry.second.definition != nullptr) types.push_back(entry.first);
  }
  return types;
}

std::string operatorsJson() {
  std::string out = "[";
  const char* comma = "";
  for (const auto& entry : records()) {
    if (entry.second.definition == nullptr) continue;
    out += comma + operatorJson(entry.second);
    comma = ",";
  }
  return out + "]";
}

}  // namespace kw
