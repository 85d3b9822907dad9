// EXEC_NPU_CMD: hands a binding's arguments to the operator library.
#pragma once
#include "kw/exec_args.h"
#include "kw/torch_factories.h"

namespace kw {

ExecArg execArg(const at::Tensor& tensor);
ExecArg execArg(const at::TensorList& tensors);
inline ExecArg execArg(const std::vector<at::Tensor>& tensors) {
  return execArg(at::TensorList(tensors));
}
ExecArg execArg(const c10::Scalar& value);
ExecArg execArg(const std::string& text);
inline ExecArg execArg(const char* text) { return execArg(std::string(text)); }
inline ExecArg execArg(char* text) { return execArg(std::string(text)); }
ExecArg execArg(c10::ArrayRef<int64_t> values);
ExecArg execArg(c10::ArrayRef<double> values);
ExecArg execArg(c10::ArrayRef<bool> values);
inline ExecArg execArg(const std::vector<int64_t>& values) {
  return execArg(c10::ArrayRef<int64_t>(values));
}
inline ExecArg execArg(const std::vector<double>& values) {
  return execArg(c10::ArrayRef<double>(values));
}
template <size_t N>
ExecArg execArg(const std::array<bool, N>& values) {
  return execArg(c10::ArrayRef<bool>(values.data(), N));
}
ExecArg execArg(c10::ScalarType type);
inline ExecArg execArg(std::nullptr_t) { return {}; }
inline ExecArg execArg(std::nullopt_t) { return {}; }

// Numbers keep their C++ type: the operator's function reads exactly that.
template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
ExecArg execArg(T value) {
  ExecArg arg;
  arg.kind = std::is_same<T, bool>::value      ? ExecKind::kBool
             : std::is_same<T, double>::value  ? ExecKind::kDouble
             : std::is_floating_point<T>::value ? ExecKind::kFloat
             : sizeof(T) == 8                  ? ExecKind::kInt
                                               : ExecKind::kInt32;
  arg.asInt = static_cast<int64_t>(value);
  arg.asDouble = static_cast<double>(value);
  return arg;
}
template <typename T>
ExecArg execArg(const std::optional<T>& value) {
  return value.has_value() ? execArg(*value) : ExecArg();
}

void execNpuCommand(const char* api, std::vector<ExecArg> args);

template <typename... Args>
void execNpu(const char* api, const Args&... args) {
  std::vector<ExecArg> all;
  all.reserve(sizeof...(args));
  (all.push_back(execArg(args)), ...);
  execNpuCommand(api, std::move(all));
}

}  // namespace kw

#define EXEC_NPU_CMD(aclnn_api, ...) ::kw::execNpu(#aclnn_api, __VA_ARGS__)
#define EXEC_NPU_CMD_SYNC EXEC_NPU_CMD
#define EXEC_NPU_NO_FORMAT_CHECK_CMD EXEC_NPU_CMD
