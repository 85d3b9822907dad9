// Streams and helpers of torch_npu, for bindings that launch kernels themselves.
#pragma once
#include "acl/acl_rt.h"
#include "kw/torch_factories.h"

namespace c10_npu {

class NPUStream {
 public:
  aclrtStream stream(bool = true) const { return nullptr; }
  operator aclrtStream() const { return nullptr; }
  void synchronize() const {}
};
inline NPUStream getCurrentNPUStream(c10::DeviceIndex = -1) { return NPUStream(); }
inline NPUStream getDefaultNPUStream(c10::DeviceIndex = -1) { return NPUStream(); }
class NPUGuard {
 public:
  template <typename T>
  explicit NPUGuard(const T&) {}
};
class OptionalNPUGuard {
 public:
  OptionalNPUGuard() = default;
  template <typename T>
  explicit OptionalNPUGuard(const T&) {}
};

}  // namespace c10_npu

namespace at_npu {
namespace native {

class OpPreparation {
 public:
  static at::Tensor apply_tensor_without_format(const at::Tensor& like) {
    return at::empty_like(like);
  }
  static at::Tensor apply_tensor_without_format(at::IntArrayRef sizes,
                                                const at::TensorOptions& options) {
    return at::empty(sizes, options);
  }
  static at::Tensor ApplyTensorWithoutFormat(const at::Tensor& like) { return at::empty_like(like); }
};

class OpCommand {
 public:
  template <typename F>
  static void RunOpApi(const std::string&, F&& function) { function(); }
  OpCommand& Name(const std::string&) { return *this; }
  template <typename F>
  OpCommand& SetCustomHandler(F&& function) {
    handler_ = std::forward<F>(function);
    return *this;
  }
  void Run() {
    if (handler_) handler_();
  }

 private:
  std::function<int()> handler_;
};

}  // namespace native
}  // namespace at_npu
