// What a binding hands to an operator call, free of any tensor library.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kw {

// A call that cannot go on; the sentence is for whoever wrote the project.
class HostError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One tensor argument: where its elements lie and how.
struct ExecTensor {
  void* data = nullptr;  // first element
  void* storage = nullptr;
  int64_t storageBytes = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int dtype = 0;  // a ge::DataType
  bool isOnDevice = true;
};

enum class ExecKind : uint8_t {
  kNone, kTensor, kTensorList, kInt, kInt32, kDouble, kFloat, kBool, kString, kIntList,
  kDoubleList, kBoolList, kType, kScalar
};

struct ExecArg {
  ExecKind kind = ExecKind::kNone;
  int64_t asInt = 0;
  double asDouble = 0;
  std::string asString;
  std::vector<ExecTensor> tensors;
  std::vector<int64_t> ints;
  std::vector<double> doubles;
};

// Runs operator `api` ("aclnn" and the operator's type): tiling, inference, kernel.
// Throws HostError when the chip's runtime would refuse the call.
void execute(const char* api, std::vector<ExecArg> args);

}  // namespace kw
