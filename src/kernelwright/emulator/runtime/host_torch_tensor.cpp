// Tensors of a binding: views, copies, allocation.
#include <algorithm>
#include "host_strided.h"
#include "host_torch_storage.h"

namespace at {

using kw::TensorStorage;

namespace {

// What `empty` holds before anything is written: every float is NaN, every integer -1.
constexpr int kPoison = 0xFF;

Tensor allocated(IntArrayRef sizes, ScalarType type, Device device, int fill) {
  auto state = std::make_shared<TensorState>();
  state->sizes = sizes.vec();
  for (int64_t size : state->sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size);
  }
  state->strides = kw::denseStrides(state->sizes);
  state->type = type;
  state->device = device;
  size_t bytes = static_cast<size_t>(kw::elementCount(state->sizes)) * elementSize(type);
  state->storage = std::make_shared<TensorStorage>(bytes, fill);
  return Tensor(std::move(state));
}

Tensor viewed(const Tensor& of, std::vector<int64_t> sizes, std::vector<int64_t> strides,
              int64_t offset) {
  auto state = std::make_shared<TensorState>(of.state());
  state->sizes = std::move(sizes);
  state->strides = std::move(strides);
  state->offset = offset;
  return Tensor(std::move(state));
}

std::vector<int64_t> withInferred(IntArrayRef wanted, int64_t count) {
  std::vector<int64_t> sizes = wanted.vec();
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& size : sizes) {
    if (size == -1) {
      unknown = &size;
    } else {
      known *= size;
    }
  }
  if (unknown != nullptr && known > 0) *unknown = count / known;
  TORCH_CHECK(kw::elementCount(sizes) == count, "shape '", wanted,
              "' is invalid for input of size ", count);
  return sizes;
}

}  // namespace

const TensorState& Tensor::state() const {
  TORCH_CHECK(state_ != nullptr, "an undefined tensor has no shape, type or data");
  return *state_;
}

size_t Tensor::wrapped(int64_t index) const {
  int64_t count = dim();
  TORCH_CHECK(index >= -count && index < count, "Dimension out of range (expected to be in range of [",
              -count, ", ", count - 1, "], but got ", index, ")");
  return static_cast<size_t>(index < 0 ? index + count : index);
}

int64_t Tensor::numel() const { return kw::elementCount(state().sizes); }

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) return false;
  return kw::isDense(state().sizes, state().strides);
}

void* Tensor::data_ptr() const {
  return state().storage->data + state().offset * static_cast<int64_t>(elementSize(state().type));
}

Scalar Tensor::itemScalar() const {
  TORCH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  double value = kw::readNumber(data_ptr(), state().type);
  if (state().type == ScalarType::Long) return Scalar(*data_ptr<int64_t>());
  return isFloatingType(state().type) ? Scalar(value) : Scalar(static_cast<int64_t>(value));
}

Tensor Tensor::view(IntArrayRef sizes) const {
  std::vector<int64_t> wanted = withInferred(sizes, numel());
  TORCH_CHECK(is_contiguous(), "view size is not compatible with input tensor's size and stride; "
              "use .reshape(...) instead");
  std::vector<int64_t> strides = kw::denseStrides(wanted);
  return viewed(*this, std::move(wanted), std::move(strides), state().offset);
}
Tensor Tensor::reshape(IntArrayRef sizes) const { return contiguous().view(sizes); }

Tensor Tensor::permute(IntArrayRef dims) const {
  TORCH_CHECK(static_cast<int64_t>(dims.size()) == dim(), "permute takes one entry a dimension");
  std::vector<int64_t> sizes, strides;
  for (int64_t index : dims) {
    sizes.push_back(size(index));
    strides.push_back(stride(index));
  }
  return viewed(*this, std::move(sizes), std::move(strides), state().offset);
}

Tensor Tensor::transpose(int64_t first, int64_t second) const {
  if (dim() < 2) return *this;
  std::vector<int64_t> sizes = state().sizes, strides = state().strides;
  std::swap(sizes[wrapped(first)], sizes[wrapped(second)]);
  std::swap(strides[wrapped(first)], strides[wrapped(second)]);
  return viewed(*this, std::move(sizes), std::move(strides), state().offset);
}

Tensor Tensor::flatten(int64_t from, int64_t to) const {
  if (dim() == 0) return reshape({1});
  size_t first = wrapped(from), last = wrapped(to);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < state().sizes.size(); ++i) {
    if (i > first && i <= last) {
      sizes.back() *= state().sizes[i];
    } else {
      sizes.push_back(state().sizes[i]);
    }
  }
  return reshape(sizes);
}

Tensor Tensor::squeeze(int64_t index) const {
  size_t at = wrapped(index);
  if (state().sizes[at] != 1) return *this;
  std::vector<int64_t> sizes = state().sizes, strides = state().strides;
  sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(at));
  strides.erase(strides.begin() + static_cast<ptrdiff_t>(at));
  return viewed(*this, std::move(sizes), std::move(strides), state().offset);
}

Tensor Tensor::squeeze() const {
  Tensor out = *this;
  for (int64_t i = dim(); i-- > 0;) out = out.squeeze(i);
  return out;
}

Tensor Tensor::unsqueeze(int64_t index) const {
  int64_t at = index < 0 ? index + dim() + 1 : index;
  TORCH_CHECK(at >= 0 && at <= dim(), "Dimension out of range for unsqueeze: ", index);
  std::vector<int64_t> sizes = state().sizes, strides = state().strides;
  int64_t stride = at < dim() ? sizes[at] * strides[at] : 1;
  sizes.insert(sizes.begin() + at, 1);
  strides.insert(strides.begin() + at, stride);
  return viewed(*this, std::move(sizes), std::move(strides), state().offset);
}

Tensor Tensor::expand(IntArrayRef wanted, bool) const {
  TORCH_CHECK(static_cast<int64_t>(wanted.size()) >= dim(), "expand to fewer dimensions");
  size_t extra = wanted.size() - state().sizes.size();
  std::vector<int64_t> sizes = wanted.vec(), strides(wanted.size(), 0);
  for (size_t i = extra; i < sizes.size(); ++i) {
    int64_t has = state().sizes[i - extra];
    if (sizes[i] == -1) sizes[i] = has;
    TORCH_CHECK(sizes[i] == has || has == 1, "The expanded size of the tensor (", sizes[i],
                ") must match the existing size (", has, ")");
    strides[i] = has == 1 && sizes[i] != 1 ? 0 : state().strides[i - extra];
  }
  return viewed(*this, std::move(sizes), std::move(strides), state().offset);
}

Tensor Tensor::slice(int64_t index, optional<int64_t> from, optional<int64_t> to,
                     int64_t step) const {
  size_t at = wrapped(index);
  int64_t length = state().sizes[at];
  auto clamp = [&](int64_t place) {
    return std::max<int64_t>(0, std::min(length, place < 0 ? place + length : place));
  };
  int64_t start = clamp(from.value_or(0)), end = std::max(start, clamp(to.value_or(length)));
  std::vector<int64_t> sizes = state().sizes, strides = state().strides;
  sizes[at] = (end - start + step - 1) / step;
  int64_t offset = state().offset + start * strides[at];
  strides[at] *= step;
  return viewed(*this, std::move(sizes), std::move(strides), offset);
}

Tensor Tensor::narrow(int64_t index, int64_t start, int64_t length) const {
  TORCH_CHECK(start >= 0 && start + length <= size(index), "narrow is out of range");
  return slice(index, start, start + length, 1);
}

Tensor Tensor::select(int64_t index, int64_t place) const {
  size_t at = wrapped(index);
  int64_t from = place < 0 ? place + state().sizes[at] : place;
  TORCH_CHECK(from >= 0 && from < state().sizes[at], "index ", place, " is out of bounds");
  Tensor one = slice(index, from, from + 1, 1);
  return one.squeeze(static_cast<int64_t>(at));
}

Tensor Tensor::as_strided(IntArrayRef sizes, IntArrayRef strides, optional<int64_t> offset) const {
  return viewed(*this, sizes.vec(), strides.vec(), offset.value_or(state().offset));
}

std::vector<Tensor> Tensor::unbind(int64_t index) const {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < size(index); ++i) parts.push_back(select(index, i));
  return parts;
}

Tensor Tensor::clone(optional<MemoryFormat>) const {
  Tensor out = allocated(sizes(), state().type, state().device, 0);
  kw::gatherDense(out.data_ptr(), data_ptr(), state().sizes, state().strides,
                  elementSize(state().type));
  return out;
}
Tensor Tensor::contiguous(MemoryFormat) const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::to(ScalarType type, bool, bool isCopied) const {
  if (type == state().type) return isCopied ? clone() : *this;
  Tensor dense = contiguous();
  Tensor out = allocated(sizes(), type, state().device, 0);
  size_t from = elementSize(state().type), to = elementSize(type);
  auto* source = static_cast<const char*>(dense.data_ptr());
  auto* target = static_cast<char*>(out.data_ptr());
  for (int64_t i = 0, count = numel(); i < count; ++i) {
    double value = kw::readNumber(source + i * static_cast<int64_t>(from), state().type);
    kw::writeNumber(target + i * static_cast<int64_t>(to), type, Scalar(value));
  }
  return out;
}

Tensor Tensor::to(Device device, bool, bool isCopied) const {
  if (device == state().device && !isCopied) return *this;
  Tensor out = clone();
  out.state_->device = device;
  return out;
}

Tensor Tensor::to(const TensorOptions& options, bool) const {
  return to(options.dtype().toScalarType()).to(options.device());
}

Tensor& Tensor::fill_(const Scalar& value) {
  size_t bytes = elementSize(state().type);
  char one[16] = {};
  kw::writeNumber(one, state().type, value);
  std::vector<int64_t> still(state().sizes.size(), 0);  // every element reads the same value
  std::vector<char> dense(static_cast<size_t>(numel()) * bytes);
  kw::gatherDense(dense.data(), one, state().sizes, still, bytes);
  kw::scatterDense(data_ptr(), dense.data(), state().sizes, state().strides, bytes);
  return *this;
}

Tensor& Tensor::copy_(const Tensor& from, bool) {
  Tensor dense = from.expand(sizes()).to(state().type).contiguous();
  kw::scatterDense(data_ptr(), dense.data_ptr(), state().sizes, state().strides,
                   elementSize(state().type));
  return *this;
}

Tensor Tensor::new_empty(IntArrayRef sizes) const { return empty(sizes, options()); }
Tensor Tensor::new_zeros(IntArrayRef sizes) const { return zeros(sizes, options()); }
Tensor Tensor::new_full(IntArrayRef sizes, const Scalar& value) const {
  return full(sizes, value, options());
}

Tensor empty(IntArrayRef sizes, const TensorOptions& options, optional<MemoryFormat>) {
  return allocated(sizes, options.dtype(), options.device(), kPoison);
}
Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  int64_t extent = 1;
  for (size_t i = 0; i < sizes.size(); ++i) extent += (sizes[i] - 1) * strides[i];
  return empty({extent}, options).as_strided(sizes, strides);
}
Tensor empty_like(const Tensor& like) { return empty_like(like, like.options()); }
Tensor empty_like(const Tensor& like, const TensorOptions& options, optional<MemoryFormat>) {
  return empty(like.sizes(), options);
}
Tensor zeros(IntArrayRef sizes, const TensorOptions& options) {
  return allocated(sizes, options.dtype(), options.device(), 0);
}
Tensor zeros_like(const Tensor& like) { return zeros(like.sizes(), like.options()); }
Tensor zeros_like(const Tensor& like, const TensorOptions& options) {
  return zeros(like.sizes(), options);
}
Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options) {
  return empty(sizes, options).fill_(value);
}
Tensor ones(IntArrayRef sizes, const TensorOptions& options) { return full(sizes, 1, options); }
Tensor ones_like(const Tensor& like) { return full(like.sizes(), 1, like.options()); }
Tensor full_like(const Tensor& like, const Scalar& value) {
  return full(like.sizes(), value, like.options());
}
Tensor full_like(const Tensor& like, const Scalar& value, const TensorOptions& options) {
  return full(like.sizes(), value, options);
}
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) {
  return full(IntArrayRef(), value, options);
}

namespace {

template <typename T>
Tensor listed(const std::vector<T>& values, const TensorOptions& options) {
  Tensor out = empty({static_cast<int64_t>(values.size())}, options);
  for (size_t i = 0; i < values.size(); ++i) {
    out.select(0, static_cast<int64_t>(i)).fill_(values[i]);
  }
  return out;
}

}  // namespace

Tensor tensor(const std::vector<int64_t>& values, const TensorOptions& options) {
  return listed(values, options);
}
Tensor tensor(const std::vector<float>& values, const TensorOptions& options) {
  return listed(values, options);
}

}  // namespace at
