// A stand-in for at::Tensor: shapes, views and allocation; nothing that computes.
#pragma once
#include "kw/torch_check.h"

namespace kw {
struct TensorStorage;
}

namespace at {

using namespace c10;
class Tensor;
using TensorList = ArrayRef<Tensor>;

// A data type in the way `tensor.dtype()` and options hold it.
class TypeMeta {
 public:
  TypeMeta(ScalarType type = ScalarType::Float) : type_(type) {}
  operator ScalarType() const { return type_; }
  ScalarType toScalarType() const { return type_; }
  size_t itemsize() const { return elementSize(type_); }
  const char* name() const { return toString(type_); }

 private:
  ScalarType type_;
};
inline ScalarType typeMetaToScalarType(TypeMeta type) { return type.toScalarType(); }
inline std::ostream& operator<<(std::ostream& out, TypeMeta type) { return out << type.name(); }

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(Device(device)) {}
  TensorOptions dtype(ScalarType type) const {
    TensorOptions copy = *this;
    copy.type_ = type;
    return copy;
  }
  TensorOptions dtype(optional<ScalarType> type) const { return type ? dtype(*type) : *this; }
  TensorOptions device(Device device) const {
    TensorOptions copy = *this;
    copy.device_ = device;
    return copy;
  }
  TensorOptions device(DeviceType type, DeviceIndex = -1) const { return device(Device(type)); }
  TensorOptions device(optional<Device> to) const { return to ? device(*to) : *this; }
  TensorOptions requires_grad(bool) const { return *this; }
  TensorOptions layout(Layout) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  TensorOptions pinned_memory(bool) const { return *this; }
  TypeMeta dtype() const { return type_; }
  Device device() const { return device_; }
  Layout layout() const { return kStrided; }

 private:
  ScalarType type_ = ScalarType::Float;
  Device device_ = Device(DeviceType::CPU);
};

struct TensorState {
  std::shared_ptr<kw::TensorStorage> storage;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;  // elements
  ScalarType type = ScalarType::Float;
  Device device = Device(DeviceType::CPU);
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<TensorState> state) : state_(std::move(state)) {}

  bool defined() const { return state_ != nullptr; }
  void reset() { state_.reset(); }
  int64_t dim() const { return static_cast<int64_t>(state().sizes.size()); }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return state().sizes; }
  IntArrayRef strides() const { return state().strides; }
  int64_t size(int64_t index) const { return state().sizes[wrapped(index)]; }
  int64_t stride(int64_t index) const { return state().strides[wrapped(index)]; }
  int64_t numel() const;
  size_t nbytes() const { return static_cast<size_t>(numel()) * elementSize(state().type); }
  int64_t element_size() const { return static_cast<int64_t>(elementSize(state().type)); }
  int64_t itemsize() const { return element_size(); }
  int64_t storage_offset() const { return state().offset; }
  ScalarType scalar_type() const { return state().type; }
  TypeMeta dtype() const { return state().type; }
  Device device() const { return state().device; }
  Layout layout() const { return kStrided; }
  int64_t get_device() const { return is_cpu() ? -1 : 0; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return false; }
  bool is_privateuseone() const { return device().is_privateuseone(); }
  bool is_floating_point() const { return isFloatingType(state().type); }
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const;
  bool is_same(const Tensor& other) const { return state_ == other.state_; }
  bool requires_grad() const { return false; }
  MemoryFormat suggest_memory_format() const { return MemoryFormat::Contiguous; }
  TensorOptions options() const { return TensorOptions(state().type).device(state().device); }

  void* data_ptr() const;
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <typename T>
  T* data_ptr() const {
    return static_cast<T*>(data_ptr());
  }
  template <typename T>
  const T* const_data_ptr() const {
    return static_cast<const T*>(data_ptr());
  }
  template <typename T>
  T item() const {
    return itemScalar().to<T>();
  }
  Scalar item() const { return itemScalar(); }

  // Views.
  Tensor view(IntArrayRef sizes) const;
  Tensor reshape(IntArrayRef sizes) const;
  Tensor permute(IntArrayRef dims) const;
  Tensor transpose(int64_t first, int64_t second) const;
  Tensor t() const { return transpose(0, dim() > 1 ? 1 : 0); }
  Tensor flatten(int64_t from = 0, int64_t to = -1) const;
  Tensor squeeze(int64_t index) const;
  Tensor squeeze() const;
  Tensor unsqueeze(int64_t index) const;
  Tensor expand(IntArrayRef sizes, bool = false) const;
  Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
  Tensor slice(int64_t dim, optional<int64_t> from, optional<int64_t> to, int64_t step = 1) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor as_strided(IntArrayRef sizes, IntArrayRef strides, optional<int64_t> offset = nullopt) const;
  Tensor detach() const { return *this; }
  std::vector<Tensor> unbind(int64_t dim = 0) const;

  // Copies and allocation.
  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const;
  Tensor clone(optional<MemoryFormat> = nullopt) const;
  Tensor to(ScalarType type, bool = false, bool = false) const;
  Tensor to(Device device, bool = false, bool isCopied = false) const;
  Tensor to(Device device, ScalarType type, bool = false, bool = false) const {
    return to(type).to(device);
  }
  Tensor to(DeviceType device, bool = false, bool isCopied = false) const {
    return to(Device(device), false, isCopied);
  }
  Tensor to(const TensorOptions& options, bool = false) const;
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor cpu() const { return to(Device(DeviceType::CPU)); }
  Tensor& fill_(const Scalar& value);
  Tensor& zero_() { return fill_(Scalar(0)); }
  Tensor& copy_(const Tensor& from, bool = false);
  Tensor new_empty(IntArrayRef sizes) const;
  Tensor new_zeros(IntArrayRef sizes) const;
  Tensor new_full(IntArrayRef sizes, const Scalar& value) const;

  const TensorState& state() const;
  TensorState* unsafeGetTensorImpl() const { return state_.get(); }

 private:
  size_t wrapped(int64_t index) const;
  Scalar itemScalar() const;
  std::shared_ptr<TensorState> state_;
};

}  // namespace at
