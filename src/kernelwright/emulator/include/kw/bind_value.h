// Values that cross between Python and a binding, and their C++ types.
#pragma once
#include "kw/torch_factories.h"

namespace kw {

enum class ValueKind : int32_t {
  kNone = 0, kTensor = 1, kInt = 2, kFloat = 3, kBool = 4, kString = 5, kList = 6, kType = 7
};

struct Value {
  ValueKind kind = ValueKind::kNone;
  int64_t asInt = 0;
  double asDouble = 0;
  std::string asString;
  at::Tensor tensor;
  std::vector<Value> items;
  bool isTuple = false;
};

// A value that a C++ parameter does not take; Python gets a TypeError.
class ArgumentMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How a parameter of type T is held and read; `name()` is the type in a signature.
template <typename T, typename = void>
struct Caster;

template <>
struct Caster<at::Tensor> {
  static const char* name() { return "Tensor"; }
  static at::Tensor read(const Value& value) {
    if (value.kind != ValueKind::kTensor) throw ArgumentMismatch("Tensor");
    return value.tensor;
  }
  static Value write(const at::Tensor& tensor) {
    Value value;
    if (tensor.defined()) value.kind = ValueKind::kTensor;
    value.tensor = tensor;
    return value;
  }
};

template <typename T>
struct Caster<T, std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value>> {
  static const char* name() { return "int"; }
  static T read(const Value& value) {
    if (value.kind != ValueKind::kInt && value.kind != ValueKind::kBool &&
        value.kind != ValueKind::kType) {
      throw ArgumentMismatch("int");
    }
    if (static_cast<int64_t>(static_cast<T>(value.asInt)) != value.asInt) {
      throw ArgumentMismatch("int that fits its C++ type");
    }
    return static_cast<T>(value.asInt);
  }
  static Value write(T number) {
    Value value;
    value.kind = ValueKind::kInt;
    value.asInt = static_cast<int64_t>(number);
    value.asDouble = static_cast<double>(number);
    return value;
  }
};

template <typename T>
struct Caster<T, std::enable_if_t<std::is_floating_point<T>::value>> {
  static const char* name() { return "float"; }
  static T read(const Value& value) {
    if (value.kind != ValueKind::kFloat && value.kind != ValueKind::kInt &&
        value.kind != ValueKind::kBool) {
      throw ArgumentMismatch("float");
    }
    return static_cast<T>(value.asDouble);
  }
  static Value write(T number) {
    Value value;
    value.kind = ValueKind::kFloat;
    value.asDouble = static_cast<double>(number);
    return value;
  }
};

template <>
struct Caster<bool> {
  static const char* name() { return "bool"; }
  static bool read(const Value& value) {
    if (value.kind != ValueKind::kBool) throw ArgumentMismatch("bool");
    return value.asInt != 0;
  }
  static Value write(bool flag) {
    Value value;
    value.kind = ValueKind::kBool;
    value.asInt = flag ? 1 : 0;
    value.asDouble = flag ? 1 : 0;
    return value;
  }
};

template <>
struct Caster<std::string> {
  static const char* name() { return "str"; }
  static std::string read(const Value& value) {
    if (value.kind != ValueKind::kString) throw ArgumentMismatch("str");
    return value.asString;
  }
  static Value write(const std::string& text) {
    Value value;
    value.kind = ValueKind::kString;
    value.asString = text;
    return value;
  }
};
template <>
struct Caster<const char*> {
  static Value write(const char* text) { return Caster<std::string>::write(text); }
};

template <>
struct Caster<c10::Scalar> {
  static const char* name() { return "number"; }
  static c10::Scalar read(const Value& value) {
    if (value.kind == ValueKind::kFloat) return c10::Scalar(value.asDouble);
    if (value.kind == ValueKind::kBool) return c10::Scalar(value.asInt != 0);
    if (value.kind == ValueKind::kInt) return c10::Scalar(value.asInt);
    throw ArgumentMismatch("number");
  }
};

c10::ScalarType scalarTypeOfValue(const Value& value);
template <>
struct Caster<c10::ScalarType> {
  static const char* name() { return "dtype"; }
  static c10::ScalarType read(const Value& value) { return scalarTypeOfValue(value); }
};
template <>
struct Caster<c10::Device> {
  static const char* name() { return "device"; }
  static c10::Device read(const Value& value) {
    return c10::Device(value.kind == ValueKind::kString ? value.asString : std::string("npu"));
  }
};

template <typename T>
struct Caster<std::vector<T>> {
  static const char* name() {
    static const std::string text = std::string("list[") + Caster<T>::name() + "]";
    return text.c_str();
  }
  static std::vector<T> read(const Value& value) {
    if (value.kind != ValueKind::kList) throw ArgumentMismatch(name());
    std::vector<T> all;
    for (const Value& item : value.items) all.push_back(Caster<T>::read(item));
    return all;
  }
  static Value write(const std::vector<T>& all) {
    Value value;
    value.kind = ValueKind::kList;
    for (const T& item : all) value.items.push_back(Caster<T>::write(item));
    return value;
  }
};

template <typename T>
struct Caster<std::optional<T>> {
  static const char* name() {
    static const std::string text = std::string("Optional[") + Caster<T>::name() + "]";
    return text.c_str();
  }
  static std::optional<T> read(const Value& value) {
    if (value.kind == ValueKind::kNone) return std::nullopt;
    return Caster<T>::read(value);
  }
  static Value write(const std::optional<T>& value) {
    return value.has_value() ? Caster<T>::write(*value) : Value();
  }
};

template <typename T, size_t N>
struct Caster<std::array<T, N>> {
  static const char* name() { return Caster<std::vector<T>>::name(); }
  static std::array<T, N> read(const Value& value) {
    std::vector<T> all = Caster<std::vector<T>>::read(value);
    if (all.size() != N) throw ArgumentMismatch(name());
    std::array<T, N> out;
    std::copy(all.begin(), all.end(), out.begin());
    return out;
  }
};

template <typename... T>
struct Caster<std::tuple<T...>> {
  static Value write(const std::tuple<T...>& all) {
    Value value;
    value.kind = ValueKind::kList;
    value.isTuple = true;
    std::apply([&](const T&... item) { (value.items.push_back(Caster<T>::write(item)), ...); },
               all);
    return value;
  }
};
template <typename A, typename B>
struct Caster<std::pair<A, B>> {
  static Value write(const std::pair<A, B>& both) {
    return Caster<std::tuple<A, B>>::write(std::make_tuple(both.first, both.second));
  }
};

}  // namespace kw
