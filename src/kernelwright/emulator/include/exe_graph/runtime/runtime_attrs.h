// Attribute values by index, in the order of the operator's definition.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gert {

// A list of values that the attribute owns.
template <typename T>
class TypedContinuousVector {
 public:
  TypedContinuousVector() = default;
  explicit TypedContinuousVector(std::vector<T> values) : values_(std::move(values)) {}
  const T* GetData() const { return values_.data(); }
  size_t GetSize() const { return values_.size(); }
  size_t GetCapacity() const { return values_.capacity(); }

 private:
  std::vector<T> values_;
};

// An untyped list: the same as a list of numbers, read through a cast by its users.
class ContinuousVector {
 public:
  ContinuousVector() = default;
  ContinuousVector(const void* data, size_t size) : data_(data), size_(size) {}
  const void* GetData() const { return data_; }
  size_t GetSize() const { return size_; }
  size_t GetCapacity() const { return size_; }

 private:
  const void* data_ = nullptr;
  size_t size_ = 0;
};

using ContinuousVectorVector = std::vector<std::vector<int64_t>>;

// Null for an index that the definition does not have (and a fault says so).
class RuntimeAttrs {
 public:
  struct Value {
    std::string name;
    std::string type;  // "int", "float", "bool", "str", "list_int", "list_float", "list_bool"
    int64_t asInt = 0;
    float asFloat = 0;
    bool asBool = false;
    std::string asStr;
    TypedContinuousVector<int64_t> ints;
    TypedContinuousVector<float> floats;
    std::vector<uint8_t> bools;
    ContinuousVector untyped;
  };

  size_t GetAttrNum() const { return values_.size(); }
  const int64_t* GetInt(size_t index) const;
  const float* GetFloat(size_t index) const;
  const bool* GetBool(size_t index) const;
  const char* GetStr(size_t index) const;
  const TypedContinuousVector<int64_t>* GetListInt(size_t index) const;
  const TypedContinuousVector<float>* GetListFloat(size_t index) const;
  template <typename T>
  const T* GetAttrPointer(size_t index) const {
    return static_cast<const T*>(pointer(index, sizeof(T)));
  }

  std::vector<Value>& values() { return values_; }
  const std::vector<Value>& values() const { return values_; }

 private:
  const Value* typed(size_t index, const char* type) const;
  const void* pointer(size_t index, size_t bytes) const;
  std::vector<Value> values_;
};

template <>
inline const char* RuntimeAttrs::GetAttrPointer<char>(size_t index) const {
  return static_cast<const char*>(pointer(index, 0));
}
template <>
inline const ContinuousVector* RuntimeAttrs::GetAttrPointer<ContinuousVector>(size_t index) const {
  return static_cast<const ContinuousVector*>(pointer(index, SIZE_MAX));
}

}  // namespace gert
