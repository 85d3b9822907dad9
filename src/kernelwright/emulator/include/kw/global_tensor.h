// GlobalTensor: a range of global memory.
#pragma once
#include "kw/element.h"
#include "kw/enums.h"
#include "kw/tensor_shape.h"

namespace AscendC {

template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;
  GlobalTensor() = default;

  KW_API void SetGlobalBuffer(__gm__ T* buffer, uint64_t count) {
    address_ = buffer;
    size_ = count;
  }
  KW_API void SetGlobalBuffer(__gm__ T* buffer) { SetGlobalBuffer(buffer, 0); }
  KW_API const __gm__ T* GetPhyAddr() const { return address_; }
  KW_API __gm__ T* GetPhyAddr(uint64_t offset) const { return at(offset); }
  KW_API GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor out = *this;
    out.address_ = at(offset);
    out.size_ = offset < size_ ? size_ - offset : 0;
    return out;
  }
  KW_API T GetValue(uint64_t index) const {
    return kw::Element<T, true>(address_ + index).get();
  }
  KW_API void SetValue(uint64_t index, T value) const {
    kw::Element<T, true>(address_ + index).set(value);
  }
  KW_API kw::Element<T, true> operator()(uint64_t index) const {
    return kw::Element<T, true>(address_ + index);
  }
  KW_API uint64_t GetSize() const { return size_; }
  KW_API void SetAddr(uint64_t offset) { address_ = at(offset); }
  void SetShapeInfo(const ShapeInfo& info) { shape_ = kw::keepShape(info); }
  ShapeInfo GetShapeInfo() const { return shape_ == nullptr ? kw::emptyShape() : *shape_; }
  template <CacheRwMode rw = CacheRwMode::RW>
  KW_API void SetL2CacheHint(CacheMode mode) {
    cacheMode_ = mode;
  }
  KW_API CacheMode GetL2CacheHint() const { return cacheMode_; }
  template <typename U>
  KW_API GlobalTensor<U> ReinterpretCast() const {
    GlobalTensor<U> out;
    out.SetGlobalBuffer(reinterpret_cast<__gm__ U*>(address_), size_ * sizeof(T) / sizeof(U));
    return out;
  }

 private:
  KW_API T* at(uint64_t offset) const {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(address_) + kw::bytesOf<T>(offset));
  }

  __gm__ T* address_ = nullptr;
  uint64_t size_ = 0;
  ShapeInfo* shape_ = nullptr;
  CacheMode cacheMode_ = CacheMode::CACHE_MODE_NORMAL;
};

}  // namespace AscendC
