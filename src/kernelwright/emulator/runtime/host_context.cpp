// What tiling, shape and type inference functions see of a call.
#include "graph/utils/type_utils.h"
#include "host_call.h"
#include "host_fault.h"

namespace kw {

HostCall*& currentCall() {
  static HostCall* call = nullptr;
  return call;
}

void hostFault(const char* code, HostSeverity severity, const std::string& message) {
  HostCall* call = currentCall();
  if (call == nullptr) throw HostError(message);
  std::string fault = "{\"code\":" + quoted(code) + ",\"severity\":\"" +
                      (severity == HostSeverity::kError ? "error" : "warning") +
                      "\",\"message\":" + quoted(message) + "}";
  for (const std::string& known : call->faults) {
    if (known == fault) return;
  }
  call->faults.push_back(fault);
}

const void* valuesNotOnHost(const char* operand) {
  hostFault("HOST_VALUES_NOT_ON_HOST", HostSeverity::kWarning,
            std::string("the values of ") + quoted(operand) +
                " were asked for on the host, where they are null: only an operand with "
                "ValueDepend has values there");
  return nullptr;
}

namespace {

const Operand* irOperand(const HostCall& call, size_t irIndex, size_t relative) {
  for (const Operand& operand : call.inputs) {
    if (operand.irIndex == irIndex && operand.relative == relative) return &operand;
  }
  return nullptr;
}

template <typename T>
const T* at(const std::vector<T>& all, size_t index) {
  return index < all.size() ? &all[index] : nullptr;
}

// A null that the function is about to read through deserves a name.
template <typename T>
const T* orNull(const T* found, const HostCall& call, const char* what, size_t index) {
  if (found == nullptr && what != nullptr) {
    hostFault("HOST_NO_SUCH_OPERAND", HostSeverity::kWarning,
              call.phase + " asked for " + what + " " + std::to_string(index) +
                  ", which this call does not have: it got null");
  }
  return found;
}

}  // namespace

}  // namespace kw

namespace gert {

using kw::Operand;

const RuntimeAttrs::Value* RuntimeAttrs::typed(size_t index, const char* type) const {
  const kw::HostCall* call = kw::currentCall();
  std::string who = call == nullptr ? "the host function" : call->phase;
  if (index >= values_.size()) {
    kw::hostFault("HOST_NO_SUCH_ATTRIBUTE", kw::HostSeverity::kError,
                  who + " asked for attribute " + std::to_string(index) + " of " +
                      std::to_string(values_.size()) + ": it got a null pointer");
    return nullptr;
  }
  const Value* value = &values_[index];
  if (type != nullptr && value->type != type) {
    kw::hostFault("HOST_ATTRIBUTE_TYPE", kw::HostSeverity::kError,
                  who + " read attribute " + kw::quoted(value->name) + " as " + type +
                      " but it is " + value->type);
  }
  return value;
}

const void* RuntimeAttrs::pointer(size_t index, size_t bytes) const {
  const Value* value = typed(index, nullptr);
  if (value == nullptr) return nullptr;
  size_t stored = value->type == "int" ? 8 : value->type == "float" ? 4 : 1;
  bool isScalar = value->type == "int" || value->type == "float" || value->type == "bool";
  if (isScalar && bytes > stored) {
    kw::hostFault("HOST_ATTRIBUTE_TYPE", kw::HostSeverity::kError,
                  "attribute " + kw::quoted(value->name) + " is " + value->type + " (" +
                      std::to_string(stored) + " bytes) but was read as a type of " +
                      std::to_string(bytes) + " bytes");
  }
  if (value->type == "int") return &value->asInt;
  if (value->type == "float") return &value->asFloat;
  if (value->type == "bool") return &value->asBool;
  if (value->type == "str") return value->asStr.c_str();
  if (bytes == SIZE_MAX || value->type == "list_bool") return &value->untyped;
  if (value->type == "list_int") return &value->ints;
  return &value->floats;
}

const int64_t* RuntimeAttrs::GetInt(size_t index) const {
  const Value* value = typed(index, "int");
  return value == nullptr ? nullptr : &value->asInt;
}
const float* RuntimeAttrs::GetFloat(size_t index) const {
  const Value* value = typed(index, "float");
  return value == nullptr ? nullptr : &value->asFloat;
}
const bool* RuntimeAttrs::GetBool(size_t index) const {
  const Value* value = typed(index, "bool");
  return value == nullptr ? nullptr : &value->asBool;
}
const char* RuntimeAttrs::GetStr(size_t index) const {
  const Value* value = typed(index, "str");
  return value == nullptr ? nullptr : value->asStr.c_str();
}
const TypedContinuousVector<int64_t>* RuntimeAttrs::GetListInt(size_t index) const {
  const Value* value = typed(index, "list_int");
  return value == nullptr ? nullptr : &value->ints;
}
const TypedContinuousVector<float>* RuntimeAttrs::GetListFloat(size_t index) const {
  const Value* value = typed(index, "list_float");
  return value == nullptr ? nullptr : &value->floats;
}

const char* ExtendedKernelContext::GetNodeName() const { return GetNodeType(); }
const char* ExtendedKernelContext::GetNodeType() const {
  return call_->record->definition->type().c_str();
}
size_t ExtendedKernelContext::GetComputeNodeInputNum() const { return call_->inputs.size(); }
size_t ExtendedKernelContext::GetComputeNodeOutputNum() const { return call_->outputs.size(); }
const RuntimeAttrs* ExtendedKernelContext::GetAttrs() const { return &call_->attrs; }

const CompileTimeTensorDesc* ExtendedKernelContext::GetInputDesc(size_t index) const {
  const Operand* found = kw::orNull(kw::at(call_->inputs, index), *call_, "input", index);
  return found == nullptr ? nullptr : &found->description;
}
const CompileTimeTensorDesc* ExtendedKernelContext::GetOutputDesc(size_t index) const {
  const Operand* found = kw::orNull(kw::at(call_->outputs, index), *call_, "output", index);
  return found == nullptr ? nullptr : &found->description;
}
const CompileTimeTensorDesc* ExtendedKernelContext::GetDynamicInputDesc(size_t irIndex,
                                                                        size_t relative) const {
  const Operand* found = kw::irOperand(*call_, irIndex, relative);
  return found == nullptr ? nullptr : &found->description;
}
const CompileTimeTensorDesc* ExtendedKernelContext::GetRequiredInputDesc(size_t irIndex) const {
  return GetDynamicInputDesc(irIndex, 0);
}
const CompileTimeTensorDesc* ExtendedKernelContext::GetOptionalInputDesc(size_t irIndex) const {
  return GetDynamicInputDesc(irIndex, 0);
}
size_t ExtendedKernelContext::GetDynamicInputNum(size_t irIndex) const {
  size_t count = 0;
  for (const Operand& operand : call_->inputs) count += operand.irIndex == irIndex;
  return count;
}

const Tensor* ExtendedKernelContext::inputTensor(size_t index) const {
  const Operand* found = kw::orNull(kw::at(call_->inputs, index), *call_, "input", index);
  return found == nullptr ? nullptr : &found->tensor;
}
const Tensor* ExtendedKernelContext::irInputTensor(size_t irIndex, size_t relative) const {
  const Operand* found = kw::irOperand(*call_, irIndex, relative);
  return found == nullptr ? nullptr : &found->tensor;
}
const StorageShape* ExtendedKernelContext::inputShape(size_t index) const {
  const Operand* found = kw::orNull(kw::at(call_->inputs, index), *call_, "input", index);
  return found == nullptr ? nullptr : &found->shape;
}
const StorageShape* ExtendedKernelContext::irInputShape(size_t irIndex, size_t relative) const {
  const Operand* found = kw::irOperand(*call_, irIndex, relative);
  return found == nullptr ? nullptr : &found->shape;
}

const StorageShape* TilingContext::GetOutputShape(size_t index) const {
  const Operand* found = kw::orNull(kw::at(call_->outputs, index), *call_, "output", index);
  return found == nullptr ? nullptr : &found->shape;
}
TilingData* TilingContext::GetRawTilingData() { return &call_->tilingData; }
const void* TilingContext::compileInfo() const { return call_->record->compileInfo; }
void* TilingParseContext::compiledInfo() const { return call_->record->compileInfo; }

size_t* TilingContext::GetWorkspaceSizes(size_t count) {
  if (count > 16) {
    kw::hostFault("HOST_WORKSPACE_COUNT", kw::HostSeverity::kError,
                  "the tiling function asked for " + std::to_string(count) +
                      " workspace sizes; at most 16 exist, and it got null");
    return nullptr;
  }
  call_->workspaces.reserve(16);  // earlier pointers stay good
  if (call_->workspaces.size() < count) call_->workspaces.resize(count, 0);
  return call_->workspaces.data();
}
size_t TilingContext::GetWorkspaceNum() const { return call_->workspaces.size(); }
ge::graphStatus TilingContext::SetBlockDim(uint32_t count) {
  call_->blockDim = count;
  return ge::GRAPH_SUCCESS;
}
uint32_t TilingContext::GetBlockDim() const { return call_->blockDim; }
ge::graphStatus TilingContext::SetTilingKey(uint64_t key) {
  call_->tilingKey = key;
  return ge::GRAPH_SUCCESS;
}
uint64_t TilingContext::GetTilingKey() const { return call_->tilingKey; }
ge::graphStatus TilingContext::SetScheduleMode(uint32_t mode) {
  call_->scheduleMode = mode;
  return ge::GRAPH_SUCCESS;
}
uint32_t TilingContext::GetScheduleMode() const { return call_->scheduleMode; }
ge::graphStatus TilingContext::SetTilingCond(int32_t) { return ge::GRAPH_SUCCESS; }
ge::graphStatus TilingContext::SetNeedAtomic(bool) { return ge::GRAPH_SUCCESS; }
ge::graphStatus TilingContext::SetLocalMemorySize(uint32_t) { return ge::GRAPH_SUCCESS; }
ge::graphStatus TilingContext::SetAicpuBlockDim(uint32_t) { return ge::GRAPH_SUCCESS; }

const Shape* InferShapeContext::GetInputShape(size_t index) const {
  const StorageShape* found = inputShape(index);
  return found == nullptr ? nullptr : &found->GetOriginShape();
}
const Shape* InferShapeContext::GetDynamicInputShape(size_t irIndex, size_t relative) const {
  const StorageShape* found = irInputShape(irIndex, relative);
  return found == nullptr ? nullptr : &found->GetOriginShape();
}
const Shape* InferShapeContext::GetRequiredInputShape(size_t irIndex) const {
  return GetDynamicInputShape(irIndex, 0);
}
const Shape* InferShapeContext::GetOptionalInputShape(size_t irIndex) const {
  return GetDynamicInputShape(irIndex, 0);
}
Shape* InferShapeContext::GetOutputShape(size_t index) {
  return index < call_->inferredShapes.size() ? &call_->inferredShapes[index] : nullptr;
}

ge::DataType InferDataTypeContext::GetInputDataType(size_t index) const {
  const CompileTimeTensorDesc* found = GetInputDesc(index);
  return found == nullptr ? ge::DT_UNDEFINED : found->GetDataType();
}
ge::DataType InferDataTypeContext::GetDynamicInputDataType(size_t ir, size_t relative) const {
  const CompileTimeTensorDesc* found = GetDynamicInputDesc(ir, relative);
  return found == nullptr ? ge::DT_UNDEFINED : found->GetDataType();
}
ge::DataType InferDataTypeContext::GetRequiredInputDataType(size_t irIndex) const {
  return GetDynamicInputDataType(irIndex, 0);
}
ge::DataType InferDataTypeContext::GetOptionalInputDataType(size_t irIndex) const {
  return GetDynamicInputDataType(irIndex, 0);
}
ge::DataType InferDataTypeContext::GetOutputDataType(size_t index) const {
  return index < call_->inferredTypes.size() ? call_->inferredTypes[index] : ge::DT_UNDEFINED;
}
ge::graphStatus InferDataTypeContext::SetOutputDataType(size_t index, ge::DataType type) {
  if (index >= call_->inferredTypes.size()) return ge::GRAPH_FAILED;
  call_->inferredTypes[index] = type;
  return ge::GRAPH_SUCCESS;
}

}  // namespace gert
