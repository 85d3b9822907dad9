// TQueBind, TQue and TBuf.
#pragma once
#include "kw/queue_abi.h"

namespace kw {

constexpr AscendC::TPosition queueSource(AscendC::TPosition position) {
  using P = AscendC::TPosition;
  switch (position) {
    case P::VECIN: case P::A1: case P::B1: case P::C1: case P::TSCM: return P::GM;
    case P::A2: return P::A1;
    case P::B2: return P::B1;
    case P::C2: return P::C1;
    default: return position;
  }
}

constexpr AscendC::TPosition queueDestination(AscendC::TPosition position) {
  using P = AscendC::TPosition;
  switch (position) {
    case P::VECOUT: case P::CO2: return P::GM;
    case P::CO1: return P::CO2;
    default: return position;
  }
}

}  // namespace kw

namespace AscendC {

class TPipe;
template <TPosition pos, uint32_t bufIDSize>
class TBufPool;

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
 public:
  static constexpr TPosition srcPosition = src;
  static constexpr TPosition dstPosition = dst;
  // L0A, L0B and the bias table are filled from L1: such a queue lends what it fills.
  static constexpr bool isIntoL0 =
      dst == TPosition::A2 || dst == TPosition::B2 || dst == TPosition::C2;
  static constexpr TPosition bufPosition = src == TPosition::GM || isIntoL0 ? dst : src;

  TQueBind() = default;
  TQueBind(const TQueBind&) = default;

  template <typename T>
  KW_API LocalTensor<T> AllocTensor() {
    return kw::tensorAt<T>(kw::queueAlloc(queue_, sizeof(T)));
  }
  template <typename T>
  KW_API void AllocTensor(LocalTensor<T>& tensor) { tensor = AllocTensor<T>(); }
  template <typename T>
  KW_API void FreeTensor(LocalTensor<T>& tensor) {
    kw::queueFree(queue_, tensor.GetBufferHandle());
  }
  KW_API void FreeBuffer(TBufHandle buffer) { kw::queueFree(queue_, buffer); }
  KW_API TBufHandle AllocBuffer() { return kw::queueAlloc(queue_, 1).bufferHandle; }

  template <typename T>
  KW_API bool EnQue(const LocalTensor<T>& tensor) {
    return kw::queueEnqueue(queue_, tensor.GetBufferHandle(), src, dst);
  }
  template <TPosition srcUserPos, TPosition dstUserPos, typename T>
  KW_API bool EnQue(const LocalTensor<T>& tensor) {
    return kw::queueEnqueue(queue_, tensor.GetBufferHandle(), srcUserPos, dstUserPos);
  }
  KW_API bool EnQue(TBufHandle buffer) { return kw::queueEnqueue(queue_, buffer, src, dst); }
  template <typename T>
  KW_API LocalTensor<T> DeQue() { return kw::tensorAt<T>(kw::queueDequeue(queue_, src, dst)); }
  template <TPosition srcUserPos, TPosition dstUserPos, typename T>
  KW_API LocalTensor<T> DeQue() {
    return kw::tensorAt<T>(kw::queueDequeue(queue_, srcUserPos, dstUserPos));
  }
  template <typename T>
  KW_API void DeQue(LocalTensor<T>& tensor) { tensor = DeQue<T>(); }
  KW_API TBufHandle DeQue() { return kw::queueDequeue(queue_, src, dst).bufferHandle; }
  template <typename T>
  KW_API LocalTensor<T> GetBuffer(TBufHandle buffer) { return kw::tensorAt<T>(kw::bufferAddress(buffer)); }

  KW_API bool VacantInQue() { return !kw::queueIsFull(queue_); }
  KW_API bool HasTensorInQue() { return kw::queueLength(queue_) > 0; }
  KW_API int32_t GetTensorCountInQue() { return kw::queueLength(queue_); }
  KW_API bool HasIdleBuffer() { return kw::queueHasIdle(queue_); }
  KW_API void FreeAllEvent() { kw::queueFreeEvents(queue_); }

 protected:
  friend class TPipe;
  template <TPosition pos, uint32_t bufIDSize>
  friend class TBufPool;

  KW_API void kwInit(kw::Range* range, uint32_t count, uint32_t bytes) {
    queue_ = kw::queueInit(queue_, {src, dst, bufPosition, depth}, range, count, bytes);
  }

  kw::Queue* queue_ = nullptr;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<kw::queueSource(pos), kw::queueDestination(pos), depth, mask> {};

template <TPosition pos = TPosition::LCM>
class TBuf {
 public:
  static constexpr TPosition bufPosition = pos;

  template <typename T>
  KW_API LocalTensor<T> Get() { return kw::tensorAt<T>(address_); }
  template <typename T>
  KW_API LocalTensor<T> Get(uint32_t count) { return GetWithOffset<T>(count, 0); }
  template <typename T>
  KW_API LocalTensor<T> GetWithOffset(uint32_t count, uint32_t offset) {
    const uint64_t bytes = kw::bytesOf<T>(count);
    if (__builtin_expect(offset + bytes > address_.dataLen, 0)) {
      kw::checkPart(address_, offset, bytes);
    }
    TBuffAddr part = address_;
    part.bufferAddr += offset;
    part.dataLen = static_cast<uint32_t>(bytes);
    return kw::tensorAt<T>(part);
  }
  template <typename T>
  KW_API LocalTensor<T> AllocTensor() { return Get<T>(); }
  template <typename T>
  KW_API void FreeTensor(LocalTensor<T>&) {}
  KW_API uint32_t GetBufLen() const { return address_.dataLen; }

 protected:
  friend class TPipe;
  template <TPosition position, uint32_t bufIDSize>
  friend class TBufPool;

  KW_API void kwInit(kw::Range* range, uint32_t bytes) {
    address_ = kw::plainBuffer(pos, range, bytes);
  }

  TBuffAddr address_;
};

}  // namespace AscendC
