// Functions of PyTorch that allocate; a binding may use these and nothing that computes.
#pragma once
#include "kw/torch_tensor.h"

namespace at {

constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short, kInt = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long, kHalf = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kDouble = ScalarType::Double;
constexpr ScalarType kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt;
constexpr ScalarType kInt64 = kLong, kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;

Tensor empty(IntArrayRef sizes, const TensorOptions& options = {},
             optional<MemoryFormat> = nullopt);
Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});
Tensor empty_like(const Tensor& like);
Tensor empty_like(const Tensor& like, const TensorOptions& options,
                  optional<MemoryFormat> = nullopt);
Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {});
Tensor zeros_like(const Tensor& like);
Tensor zeros_like(const Tensor& like, const TensorOptions& options);
Tensor ones(IntArrayRef sizes, const TensorOptions& options = {});
Tensor ones_like(const Tensor& like);
Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {});
Tensor full_like(const Tensor& like, const Scalar& value);
Tensor full_like(const Tensor& like, const Scalar& value, const TensorOptions& options);
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});
Tensor tensor(const std::vector<int64_t>& values, const TensorOptions& options);
Tensor tensor(const std::vector<float>& values, const TensorOptions& options);

}  // namespace at

namespace torch {

using namespace at;
using Dtype = at::ScalarType;
using ScalarType = at::ScalarType;
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device where) { return TensorOptions(where); }
class NoGradGuard {};

namespace indexing {
using c10::nullopt;
}

}  // namespace torch

namespace c10 {
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  template <typename T>
  explicit OptionalDeviceGuard(const T&) {}
};
class DeviceGuard {
 public:
  template <typename T>
  explicit DeviceGuard(const T&) {}
};
}  // namespace c10
