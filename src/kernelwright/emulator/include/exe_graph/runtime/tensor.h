// Tensors and tensor descriptions as tiling and inference functions see them.
#pragma once
#include "exe_graph/runtime/shape.h"

namespace kw {
// Reports a read of values that the host does not have, and returns null as the chip's host does.
const void* valuesNotOnHost(const char* operand);
}  // namespace kw

namespace gert {

enum TensorPlacement { kOnDeviceHbm, kOnHost, kFollowing, kTensorPlacementEnd };

// What is known about an operand before it has a shape.
class CompileTimeTensorDesc {
 public:
  CompileTimeTensorDesc() = default;
  CompileTimeTensorDesc(ge::DataType type, ge::Format format) : type_(type), format_(format, format) {}
  ge::DataType GetDataType() const { return type_; }
  const StorageFormat& GetFormat() const { return format_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }

 private:
  ge::DataType type_ = ge::DT_UNDEFINED;
  StorageFormat format_;
};

// One operand with shape and type. Its values are on the device unless the operator declares
// ValueDepend for it.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const StorageShape& shape, ge::DataType type, ge::Format format)
      : shape_(shape), type_(type), format_(format, format) {}
  const StorageShape& GetShape() const { return shape_; }
  const Shape& GetOriginShape() const { return shape_.GetOriginShape(); }
  const Shape& GetStorageShape() const { return shape_.GetStorageShape(); }
  int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
  ge::DataType GetDataType() const { return type_; }
  const StorageFormat& GetFormat() const { return format_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  TensorPlacement GetPlacement() const { return host_ ? kOnHost : kOnDeviceHbm; }
  size_t GetSize() const {
    return static_cast<size_t>(GetShapeSize()) * ge::GetSizeByDataType(type_);
  }
  const void* GetAddr() const { return host_ ? data_ : kw::valuesNotOnHost(name_); }
  template <typename T>
  const T* GetData() const {
    return static_cast<const T*>(GetAddr());
  }

  // Our side: gives the tensor its operand name and, where the host may read them, its values.
  void bind(const char* name, const void* data, bool isOnHost) {
    name_ = name;
    data_ = data;
    host_ = isOnHost;
  }

 private:
  StorageShape shape_;
  ge::DataType type_ = ge::DT_UNDEFINED;
  StorageFormat format_;
  const char* name_ = "";
  const void* data_ = nullptr;
  bool host_ = false;
};

}  // namespace gert
