// A binding's arguments in the form of the operator library.
#include "kw/torch_exec.h"
#include "host_torch_storage.h"

namespace kw {

namespace {

ExecTensor execTensor(const at::Tensor& tensor) {
  const at::TensorState& state = tensor.state();
  ExecTensor out;
  out.data = tensor.data_ptr();
  out.storage = state.storage->data;
  out.storageBytes = static_cast<int64_t>(state.storage->bytes);
  out.sizes = state.sizes;
  out.strides = state.strides;
  out.dtype = dtypeOf(state.type);
  out.isOnDevice = state.device.is_privateuseone();
  return out;
}

}  // namespace

ExecArg execArg(const at::Tensor& tensor) {
  ExecArg arg;
  if (!tensor.defined()) return arg;
  arg.kind = ExecKind::kTensor;
  arg.tensors.push_back(execTensor(tensor));
  return arg;
}

ExecArg execArg(const at::TensorList& tensors) {
  ExecArg arg;
  arg.kind = ExecKind::kTensorList;
  for (const at::Tensor& tensor : tensors) arg.tensors.push_back(execTensor(tensor));
  return arg;
}

ExecArg execArg(const c10::Scalar& value) {
  ExecArg arg;
  arg.kind = ExecKind::kScalar;
  arg.asInt = value.toLong();
  arg.asDouble = value.toDouble();
  return arg;
}

ExecArg execArg(const std::string& text) {
  ExecArg arg;
  arg.kind = ExecKind::kString;
  arg.asString = text;
  return arg;
}

ExecArg execArg(c10::ArrayRef<int64_t> values) {
  ExecArg arg;
  arg.kind = ExecKind::kIntList;
  arg.ints = values.vec();
  return arg;
}

ExecArg execArg(c10::ArrayRef<double> values) {
  ExecArg arg;
  arg.kind = ExecKind::kDoubleList;
  arg.doubles = values.vec();
  return arg;
}

ExecArg execArg(c10::ArrayRef<bool> values) {
  ExecArg arg;
  arg.kind = ExecKind::kBoolList;
  arg.ints.assign(values.begin(), values.end());
  return arg;
}

ExecArg execArg(c10::ScalarType type) {
  ExecArg arg;
  arg.kind = ExecKind::kType;
  arg.asInt = dtypeOf(type);
  return arg;
}

void execNpuCommand(const char* api, std::vector<ExecArg> args) {
  try {
    execute(api, std::move(args));
  } catch (const HostError& error) {
    throw c10::Error(std::string("call ") + api + " failed, detail: " + error.what());
  }
}

}  // namespace kw
