// torch::autograd::Function, forward only: the emulator runs inference.
#pragma once
#include "kw/torch_factories.h"

namespace torch {
namespace autograd {

using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;
using tensor_list = std::vector<at::Tensor>;

struct AutogradContext {
  std::map<std::string, c10::Scalar> saved_data;
  void save_for_backward(variable_list tensors) { saved_ = std::move(tensors); }
  variable_list get_saved_variables() const { return saved_; }
  void mark_non_differentiable(const variable_list&) {}
  void mark_dirty(const variable_list&) {}

 private:
  variable_list saved_;
};

template <typename T>
struct Function {
  template <typename... Args>
  static auto apply(Args&&... args) {
    AutogradContext context;
    return T::forward(&context, std::forward<Args>(args)...);
  }
};

}  // namespace autograd
}  // namespace torch

namespace at {
struct AutoDispatchBelowADInplaceOrView {};
struct AutoDispatchBelowAutograd {};
}  // namespace at
