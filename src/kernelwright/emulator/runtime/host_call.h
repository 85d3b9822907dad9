// One operator call on the host: operands, attributes, and what the tiling function decided.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include "kw/exec_args.h"
#include "register/op_def_registry.h"

namespace kw {

// One tensor of the call, under the name of the definition's operand.
struct Operand {
  const ops::OpParamDef* definition = nullptr;
  size_t irIndex = 0;
  size_t relative = 0;
  ExecTensor given;
  void* kernelData = nullptr;  // dense copy where `given` is strided, else its own data
  std::unique_ptr<uint8_t[]> dense;
  gert::StorageShape shape;
  gert::CompileTimeTensorDesc description;
  gert::Tensor tensor;
};

// What the host functions of one operator are, wherever they were registered.
struct OpRecord {
  std::unique_ptr<ops::OpDef> definition;
  ops::TilingFunction tiling = nullptr;
  ops::InferShapeFunction inferShape = nullptr;
  ops::InferDataTypeFunction inferType = nullptr;
  ge::graphStatus (*parse)(gert::TilingParseContext*) = nullptr;
  void* (*makeCompileInfo)() = nullptr;
  void* compileInfo = nullptr;
};

struct HostCall {
  OpRecord* record = nullptr;
  std::string phase;  // the function that runs now, for messages
  std::vector<Operand> inputs;   // those passed, in order
  std::vector<Operand> outputs;
  gert::RuntimeAttrs attrs;
  size_t combination = 0;

  gert::TilingData tilingData;
  std::string tilingJson;
  std::vector<size_t> workspaces;
  uint32_t blockDim = 0;
  uint64_t tilingKey = 0;
  uint32_t scheduleMode = 0;
  std::vector<gert::Shape> inferredShapes;
  std::vector<ge::DataType> inferredTypes;
  std::vector<std::string> faults;  // JSON objects
  std::string launchJson;           // the kernel's report
  double hostSeconds = 0;
};

// The call in progress in this process, or null.
HostCall*& currentCall();

// Whether calls stop after tiling and new tensors are left unwritten: for shapes too large to run.
bool& isDryRun();

OpRecord* findOperator(const std::string& type);
std::vector<std::string> operatorTypes();
void fillOperands(HostCall& call, std::vector<ExecArg> args);  // arguments against definition
void runTiling(HostCall& call);
void runInference(HostCall& call);
void runKernel(HostCall& call);
void writeBack(HostCall& call);  // dense results into strided outputs
std::string callJson(const HostCall& call);
std::string operatorsJson();
std::string shapeText(const gert::Shape& shape);

}  // namespace kw
