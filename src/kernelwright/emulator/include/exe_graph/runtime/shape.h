// Shapes as tiling and inference functions see them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include "graph/types.h"

namespace gert {

// At most 25 dimensions; reading past the last one gives the vendor's error value, not a crash.
class Shape {
 public:
  static constexpr size_t kMaxDimNum = 25;
  static constexpr int64_t kInvalidDimValue = INT64_MIN;

  Shape() = default;
  Shape(const std::initializer_list<int64_t>& dims) {
    for (int64_t dim : dims) AppendDim(dim);
  }
  bool operator==(const Shape& other) const {
    if (count_ != other.count_) return false;
    for (size_t i = 0; i < count_; ++i) {
      if (dims_[i] != other.dims_[i]) return false;
    }
    return true;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }

  // Product of the dimensions: 1 for a scalar, -1 on overflow or when a dimension is unknown.
  int64_t GetShapeSize() const {
    int64_t size = 1;
    for (size_t i = 0; i < count_; ++i) {
      if (dims_[i] < 0 || __builtin_mul_overflow(size, dims_[i], &size)) return -1;
    }
    return size;
  }
  bool IsScalar() const { return count_ == 0; }
  void SetScalar() { count_ = 0; }
  size_t GetDimNum() const { return count_; }
  void SetDimNum(size_t count) { count_ = count > kMaxDimNum ? kMaxDimNum : count; }
  int64_t GetDim(size_t index) const { return index < count_ ? dims_[index] : kInvalidDimValue; }
  int64_t operator[](size_t index) const { return GetDim(index); }
  int64_t& operator[](size_t index) { return dims_[index < kMaxDimNum ? index : kMaxDimNum - 1]; }
  void SetDim(size_t index, int64_t value) {
    if (index < kMaxDimNum) dims_[index] = value;
  }
  Shape& AppendDim(int64_t value) {
    if (count_ < kMaxDimNum) dims_[count_++] = value;
    return *this;
  }

 private:
  size_t count_ = 0;
  int64_t dims_[kMaxDimNum] = {};
};

// The shape in the model's format and the shape as stored; equal for ND.
class StorageShape {
 public:
  StorageShape() = default;
  StorageShape(const Shape& origin, const Shape& storage) : origin_(origin), storage_(storage) {}
  StorageShape(const std::initializer_list<int64_t>& origin,
               const std::initializer_list<int64_t>& storage)
      : origin_(origin), storage_(storage) {}
  const Shape& GetOriginShape() const { return origin_; }
  const Shape& GetStorageShape() const { return storage_; }
  Shape& MutableOriginShape() { return origin_; }
  Shape& MutableStorageShape() { return storage_; }
  bool operator==(const StorageShape& other) const {
    return origin_ == other.origin_ && storage_ == other.storage_;
  }

 private:
  Shape origin_;
  Shape storage_;
};

class StorageFormat {
 public:
  StorageFormat() = default;
  StorageFormat(ge::Format origin, ge::Format storage) : origin_(origin), storage_(storage) {}
  ge::Format GetOriginFormat() const { return origin_; }
  ge::Format GetStorageFormat() const { return storage_; }

 private:
  ge::Format origin_ = ge::FORMAT_ND;
  ge::Format storage_ = ge::FORMAT_ND;
};

}  // namespace gert
