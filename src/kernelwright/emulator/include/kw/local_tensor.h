// LocalTensor: a range of on-chip memory. Address, position, length in bytes, and the buffer that
// a queue lent it from.
#pragma once
#include "kw/element.h"
#include "kw/enums.h"
#include "kw/tensor_shape.h"

namespace kw {

struct Buffer;  // one lent buffer of a queue; the runtime's

// Where a position's addresses start in the running core's arena.
char* localBase(AscendC::TPosition position);

}  // namespace kw

namespace AscendC {

using TBufHandle = kw::Buffer*;

struct TBuffAddr {
  uint8_t logicPos = static_cast<uint8_t>(TPosition::VECCALC);
  TBufHandle bufferHandle = nullptr;
  uint32_t dataLen = 0;     // bytes
  uint32_t bufferAddr = 0;  // byte offset in its memory
};

template <typename T>
class LocalTensor {
 public:
  using PrimType = T;
  LocalTensor() = default;
  LocalTensor(TPosition position, uint32_t address, uint32_t count) {
    address_.logicPos = static_cast<uint8_t>(position);
    address_.bufferAddr = address;
    address_.dataLen = static_cast<uint32_t>(kw::bytesOf<T>(count));
    start_ = reinterpret_cast<T*>(kw::localBase(position) + address);
  }
  explicit LocalTensor(uint32_t address) : LocalTensor(TPosition::VECCALC, address, 0) {}

  KW_API LocalTensor operator[](uint32_t offset) const { return moved(kw::bytesOf<T>(offset)); }
  KW_API T GetValue(uint32_t index) const {
    return kw::Element<T, false>(start_ + index).get();
  }
  template <typename U>
  KW_API void SetValue(uint32_t index, U value) const {
    kw::Element<T, false>(start_ + index).set(static_cast<T>(value));
  }
  KW_API kw::Element<T, false> operator()(uint32_t index) const {
    return kw::Element<T, false>(start_ + index);
  }
  KW_API __ubuf__ T* GetPhyAddr() const { return start_; }
  KW_API __ubuf__ T* GetPhyAddr(uint32_t offset) const {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(start_) + kw::bytesOf<T>(offset));
  }
  KW_API uint32_t GetSize() const {
    return kw::kDtypeOf<T> == kw::Dtype::i4 ? address_.dataLen * 2
                                            : address_.dataLen / static_cast<uint32_t>(sizeof(T));
  }
  KW_API uint32_t GetLength() const { return address_.dataLen; }
  KW_API void SetSize(uint32_t count) {
    address_.dataLen = static_cast<uint32_t>(kw::bytesOf<T>(count));
  }
  KW_API void SetBufferLen(uint32_t bytes) { address_.dataLen = bytes; }
  KW_API TPosition GetPosition() const { return static_cast<TPosition>(address_.logicPos); }
  KW_API TBufHandle GetBufferHandle() const { return address_.bufferHandle; }

  template <typename U>
  KW_API LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> out;
    out.address_ = address_;
    out.start_ = reinterpret_cast<U*>(start_);
    out.shape_ = shape_;
    return out;
  }
  KW_API void SetAddr(const TBuffAddr& address) {
    address_ = address;
    start_ = reinterpret_cast<T*>(kw::localBase(GetPosition()) + address.bufferAddr);
  }
  KW_API void SetAddr(uint32_t offset) { *this = moved(offset); }
  template <typename U>
  KW_API void SetAddrWithOffset(LocalTensor<U>& source, uint32_t offset) {
    *this = source.template ReinterpretCast<T>().moved(offset * sizeof(U));
  }
  void SetShapeInfo(const ShapeInfo& info) { shape_ = kw::keepShape(info); }
  ShapeInfo GetShapeInfo() const { return shape_ == nullptr ? kw::emptyShape() : *shape_; }
  KW_API void SetUserTag(TTagType tag) { tag_ = tag; }
  KW_API TTagType GetUserTag() const { return tag_; }

  TBuffAddr address_;

 private:
  template <typename U>
  friend class LocalTensor;

  KW_API LocalTensor moved(uint64_t bytes) const {
    LocalTensor out = *this;
    const uint32_t step = static_cast<uint32_t>(bytes);
    out.start_ = reinterpret_cast<T*>(reinterpret_cast<char*>(start_) + bytes);
    out.address_.bufferAddr += step;
    out.address_.dataLen = step < address_.dataLen ? address_.dataLen - step : 0;
    return out;
  }

  T* start_ = nullptr;
  ShapeInfo* shape_ = nullptr;
  TTagType tag_ = 0;
};

}  // namespace AscendC
