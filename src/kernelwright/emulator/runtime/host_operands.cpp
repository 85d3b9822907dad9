// The binding's arguments against the operator's definition: operands, attributes, combination.
#include <cstring>
#include "graph/utils/type_utils.h"
#include "host_call.h"
#include "host_fault.h"
#include "host_strided.h"

namespace kw {

namespace {

[[noreturn]] void refuse(const char* code, const std::string& message) {
  hostFault(code, HostSeverity::kError, message);
  throw HostError(message);
}

std::string signatureText(const ops::OpDef& definition) {
  std::string out;
  for (const auto& param : definition.inputs()) out += (out.empty() ? "" : ", ") + param.name();
  for (const auto& attr : definition.attrs()) out += (out.empty() ? "" : ", ") + attr.name();
  for (const auto& param : definition.outputs()) out += (out.empty() ? "" : ", ") + param.name();
  return out;
}

size_t itemBytes(int dtype) {
  return static_cast<size_t>(ge::GetSizeByDataType(static_cast<ge::DataType>(dtype)));
}

uint8_t* allocate(std::unique_ptr<uint8_t[]>& owner, int64_t bytes) {
  owner.reset(new uint8_t[static_cast<size_t>(bytes) + 64]);
  auto address = reinterpret_cast<uintptr_t>(owner.get());
  return owner.get() + (64 - address % 64) % 64;
}

// Strided operands are copied dense, as the vendor's generated API does before the kernel starts.
void makeDense(Operand& operand, bool isInput) {
  const ExecTensor& given = operand.given;
  operand.kernelData = given.data;
  if (isDense(given.sizes, given.strides) || operand.definition->ignoresContiguous()) return;
  size_t bytes = itemBytes(given.dtype);
  operand.kernelData =
      allocate(operand.dense, elementCount(given.sizes) * static_cast<int64_t>(bytes));
  if (isInput && !isDryRun()) gatherDense(operand.kernelData, given.data, given.sizes, given.strides, bytes);
}

void describe(Operand& operand, bool isOnHost) {
  gert::Shape shape;
  for (int64_t size : operand.given.sizes) shape.AppendDim(size);
  operand.shape = gert::StorageShape(shape, shape);
  auto type = static_cast<ge::DataType>(operand.given.dtype);
  const auto& formats = operand.definition->formats();
  ge::Format format = formats.empty() ? ge::FORMAT_ND : formats.front();
  operand.description = gert::CompileTimeTensorDesc(type, format);
  operand.tensor = gert::Tensor(operand.shape, type, format);
  operand.tensor.bind(operand.definition->name().c_str(), operand.kernelData, isOnHost);
}

void addTensor(std::vector<Operand>& all, const ops::OpParamDef& param, size_t irIndex,
               ExecTensor given) {
  if (!given.isOnDevice && !param.isValueDependent()) {
    refuse("HOST_NOT_ON_DEVICE", "argument " + quoted(param.name()) +
                                     " is a CPU tensor: the kernel would read a host address; "
                                     "move it to the NPU");
  }
  Operand operand;
  operand.definition = &param;
  operand.irIndex = irIndex;
  for (const Operand& other : all) operand.relative += other.irIndex == irIndex;
  operand.given = std::move(given);
  all.push_back(std::move(operand));
}

void addOperand(HostCall& call, std::vector<Operand>& all, const ops::OpParamDef& param,
                size_t irIndex, ExecArg& arg) {
  bool isTensor = arg.kind == ExecKind::kTensor;
  if (param.option() == ops::DYNAMIC ? arg.kind == ExecKind::kTensorList : isTensor) {
    for (ExecTensor& tensor : arg.tensors) addTensor(all, param, irIndex, std::move(tensor));
    return;
  }
  if (arg.kind == ExecKind::kNone && param.option() == ops::OPTIONAL) return;
  std::string wanted = param.option() == ops::DYNAMIC ? "a list of tensors" : "a tensor";
  refuse("HOST_ARGUMENTS", "aclnn" + call.record->definition->type() + " takes " +
                               signatureText(*call.record->definition) + ": " +
                               quoted(param.name()) + " must be " + wanted +
                               (arg.kind == ExecKind::kNone ? " but nothing was passed"
                                                            : " but something else was passed"));
}

bool isIntegral(ExecKind kind) {
  return kind == ExecKind::kInt || kind == ExecKind::kInt32 || kind == ExecKind::kBool ||
         kind == ExecKind::kType;
}

[[noreturn]] void wrongAttribute(const ops::OpAttrDef& attr, const char* takes) {
  refuse("HOST_ATTRIBUTE_ARGUMENT",
         "attribute " + quoted(attr.name()) + " is " + attr.type() +
             ": the operator's function takes " + takes +
             ", and an argument of another C++ type arrives as garbage; cast it in the binding");
}

void fillList(const ops::OpAttrDef& attr, const ExecArg& arg, gert::RuntimeAttrs::Value& value) {
  if (attr.type() == "list_float") {
    if (arg.kind != ExecKind::kDoubleList) wrongAttribute(attr, "a list of float");
    value.floats = gert::TypedContinuousVector<float>({arg.doubles.begin(), arg.doubles.end()});
    value.untyped = {value.floats.GetData(), value.floats.GetSize()};
  } else if (attr.type() == "list_bool") {
    if (arg.kind != ExecKind::kBoolList) wrongAttribute(attr, "a list of bool");
    value.bools.assign(arg.ints.begin(), arg.ints.end());
    value.untyped = {value.bools.data(), value.bools.size()};
  } else {
    if (arg.kind != ExecKind::kIntList) wrongAttribute(attr, "an at::IntArrayRef");
    value.ints = gert::TypedContinuousVector<int64_t>(arg.ints);
    value.untyped = {value.ints.GetData(), value.ints.GetSize()};
  }
}

void fillAttribute(const ops::OpAttrDef& attr, const ExecArg& arg,
                   gert::RuntimeAttrs::Value& value) {
  value = attr.value();
  if (attr.type() == "int") {
    if (!isIntegral(arg.kind)) wrongAttribute(attr, "int64_t");
    if (arg.kind == ExecKind::kInt32) {
      hostFault("HOST_ATTRIBUTE_WIDTH", HostSeverity::kWarning,
                "attribute " + quoted(attr.name()) + " takes int64_t but the binding passes a "
                    "32-bit integer, whose upper half is undefined; pass int64_t");
    }
    value.asInt = arg.asInt;
  } else if (attr.type() == "float") {
    if (arg.kind != ExecKind::kDouble) wrongAttribute(attr, "double");
    value.asFloat = static_cast<float>(arg.asDouble);
  } else if (attr.type() == "bool") {
    if (arg.kind != ExecKind::kBool) wrongAttribute(attr, "bool");
    value.asBool = arg.asInt != 0;
  } else if (attr.type() == "str") {
    if (arg.kind != ExecKind::kString) wrongAttribute(attr, "const char*");
    value.asStr = arg.asString;
  } else {
    fillList(attr, arg, value);
  }
}

bool fits(const std::vector<Operand>& operands, size_t combination) {
  for (const Operand& operand : operands) {
    const auto& types = operand.definition->types();
    if (operand.definition->isScalar() || types.empty()) continue;
    if (operand.definition->isTypeList()) {
      bool isKnown = false;
      for (ge::DataType type : types) isKnown |= static_cast<int>(type) == operand.given.dtype;
      if (!isKnown) return false;
    } else if (static_cast<int>(types[combination < types.size() ? combination : 0]) !=
               operand.given.dtype) {
      return false;
    }
  }
  return true;
}

size_t combinationCount(const ops::OpDef& definition) {
  size_t count = 1;
  for (const auto& param : definition.inputs()) {
    if (!param.isTypeList() && param.types().size() > count) count = param.types().size();
  }
  for (const auto& param : definition.outputs()) {
    if (!param.isTypeList() && param.types().size() > count) count = param.types().size();
  }
  return count;
}

std::string supportedText(const ops::OpDef& definition) {
  std::string out;
  size_t count = combinationCount(definition);
  for (size_t i = 0; i < count && i < 8; ++i) {
    std::string one;
    auto add = [&](const ops::OpParamDef& param) {
      if (param.types().empty()) return;
      one += (one.empty() ? "" : ", ") + param.name() + " " +
             dtypeName(param.types()[i < param.types().size() ? i : 0]);
    };
    for (const auto& param : definition.inputs()) add(param);
    for (const auto& param : definition.outputs()) add(param);
    out += (out.empty() ? "(" : "; (") + one + ")";
  }
  return out;
}

void chooseCombination(HostCall& call) {
  const ops::OpDef& definition = *call.record->definition;
  size_t count = combinationCount(definition);
  for (size_t i = 0; i < count; ++i) {
    if (fits(call.inputs, i) && fits(call.outputs, i)) {
      call.combination = i;
      return;
    }
  }
  std::string given;
  auto add = [&](const Operand& operand) {
    given += (given.empty() ? "" : ", ") + operand.definition->name() + " " +
             dtypeName(operand.given.dtype);
  };
  for (const Operand& operand : call.inputs) add(operand);
  for (const Operand& operand : call.outputs) add(operand);
  refuse("HOST_DTYPES_NOT_SUPPORTED", "no data type combination of " + quoted(definition.type()) +
                                          " fits " + given + "; it has " +
                                          supportedText(definition));
}

}  // namespace

void fillOperands(HostCall& call, std::vector<ExecArg> args) {
  const ops::OpDef& definition = *call.record->definition;
  size_t wanted = definition.inputs().size() + definition.attrs().size() +
                  definition.outputs().size();
  if (args.size() != wanted) {
    refuse("HOST_ARGUMENTS", "aclnn" + definition.type() + " takes " + std::to_string(wanted) +
                                 " arguments (" + signatureText(definition) +
                                 ") but the binding passed " + std::to_string(args.size()));
  }
  size_t next = 0, ir = 0;
  for (const auto& param : definition.inputs()) addOperand(call, call.inputs, param, ir++, args[next++]);
  call.attrs.values().resize(definition.attrs().size());
  for (size_t i = 0; i < definition.attrs().size(); ++i) {
    fillAttribute(definition.attrs()[i], args[next++], call.attrs.values()[i]);
  }
  ir = 0;
  for (const auto& param : definition.outputs()) {
    addOperand(call, call.outputs, param, ir++, args[next++]);
  }
  for (Operand& operand : call.inputs) {
    makeDense(operand, true);
    describe(operand, operand.definition->isValueDependent());
  }
  for (Operand& operand : call.outputs) {
    makeDense(operand, false);
    describe(operand, false);
  }
  chooseCombination(call);
}

void writeBack(HostCall& call) {
  for (Operand& output : call.outputs) {
    if (output.dense == nullptr) continue;
    scatterDense(output.given.data, output.kernelData, output.given.sizes, output.given.strides,
                 itemBytes(output.given.dtype));
  }
}

}  // namespace kw
