// Stand-ins for the small types of PyTorch's C++ interface that bindings use.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace c10 {

using std::nullopt;
using std::nullopt_t;
template <typename T>
using optional = std::optional<T>;
template <typename T>
constexpr std::optional<std::decay_t<T>> make_optional(T&& value) {
  return std::optional<std::decay_t<T>>(std::forward<T>(value));
}

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
using IndexError = Error;
using ValueError = Error;
using TypeError = Error;

// A view of a list that someone else owns.
template <typename T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  constexpr ArrayRef() = default;
  ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  ArrayRef(const T* begin, const T* end) : data_(begin), size_(end - begin) {}
  ArrayRef(const std::vector<T>& values) : data_(values.data()), size_(values.size()) {}
  template <size_t N>
  ArrayRef(const std::array<T, N>& values) : data_(values.data()), size_(N) {}
  template <size_t N>
  ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
  // For arguments only, as with the real one: the list dies with the call.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  ArrayRef(const std::initializer_list<T>& values)
      : data_(values.begin()), size_(values.size()) {}
#pragma GCC diagnostic pop
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t index) const { return at(index); }
  const T& at(size_t index) const {
    if (index >= size_) {
      throw Error("index " + std::to_string(index) + " is out of range of " +
                  std::to_string(size_));
    }
    return data_[index];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  ArrayRef slice(size_t from, size_t count) const { return {data_ + from, count}; }
  ArrayRef slice(size_t from) const { return {data_ + from, size_ - from}; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  bool equals(ArrayRef other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};
template <typename T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <typename T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <typename T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(b);
}
template <typename T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << "[";
  for (size_t i = 0; i < list.size(); ++i) out << (i > 0 ? ", " : "") << list[i];
  return out << "]";
}
using IntArrayRef = ArrayRef<int64_t>;
using string_view = std::string;

enum class ScalarType : int8_t {
  Byte = 0, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble,
  Bool, QInt8, QUInt8, QInt32, BFloat16, Undefined = 44, NumOptions
};
std::ostream& operator<<(std::ostream& out, ScalarType type);
const char* toString(ScalarType type);
size_t elementSize(ScalarType type);
inline bool isFloatingType(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::Float || type == ScalarType::Double ||
         type == ScalarType::BFloat16;
}
inline bool isIntegralType(ScalarType type, bool includeBool = false) {
  return type <= ScalarType::Long || (includeBool && type == ScalarType::Bool);
}

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, PrivateUse1 = 20 };
using DeviceIndex = int8_t;
std::ostream& operator<<(std::ostream& out, DeviceType type);

class Device {
 public:
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(const std::string& text)
      : type_(text.rfind("npu", 0) == 0 ? DeviceType::PrivateUse1 : DeviceType::CPU), index_(-1) {}
  Device(const char* text) : Device(std::string(text)) {}
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  bool is_privateuseone() const { return type_ == DeviceType::PrivateUse1; }
  bool operator==(const Device& other) const { return type_ == other.type_; }
  bool operator!=(const Device& other) const { return type_ != other.type_; }
  std::string str() const { return is_cpu() ? "cpu" : "npu:0"; }

 private:
  DeviceType type_;
  DeviceIndex index_;
};
std::ostream& operator<<(std::ostream& out, const Device& device);
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;
constexpr DeviceType kCPU = DeviceType::CPU;

enum class Layout : int8_t { Strided, Sparse };
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

// One number of any type.
class Scalar {
 public:
  Scalar() : Scalar(static_cast<int64_t>(0)) {}
  template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  Scalar(T value)
      : isFloat_(std::is_floating_point<T>::value), isBool_(std::is_same<T, bool>::value),
        int_(static_cast<int64_t>(value)), double_(static_cast<double>(value)) {}
  template <typename T>
  T to() const {
    return isFloat_ ? static_cast<T>(double_) : static_cast<T>(int_);
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<double>() != 0; }
  bool isFloatingPoint() const { return isFloat_; }
  bool isIntegral(bool includeBool) const { return !isFloat_ && (includeBool || !isBool_); }
  bool isBoolean() const { return isBool_; }

 private:
  bool isFloat_, isBool_;
  int64_t int_;
  double double_;
};

}  // namespace c10
