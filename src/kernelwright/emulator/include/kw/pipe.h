// TPipe, TBufPool, LocalMemAllocator: who hands out on-chip memory.
#pragma once
#include "kw/queue.h"

namespace AscendC {

template <TPosition pos, uint32_t bufIDSize = 4>
class TBufPool {
 public:
  template <TPosition src, TPosition dst, int32_t depth, auto mask>
  KW_API bool InitBuffer(TQueBind<src, dst, depth, mask>& queue, uint8_t count, uint32_t bytes) {
    queue.kwInit(range_, count, bytes);
    return true;
  }
  template <TPosition position>
  KW_API bool InitBuffer(TBuf<position>& buffer, uint32_t bytes) {
    buffer.kwInit(range_, bytes);
    return true;
  }
  template <class T>
  KW_API bool InitBufPool(T& pool, uint32_t bytes) {
    pool.range_ = kw::poolInit(pos, range_, bytes, nullptr);
    return true;
  }
  template <class T, class U>
  KW_API bool InitBufPool(T& pool, uint32_t bytes, U& shared) {
    pool.range_ = kw::poolInit(pos, range_, bytes, shared.range_);
    return true;
  }
  KW_API void Reset() { kw::poolReset(range_); }

 private:
  friend class TPipe;
  template <TPosition position, uint32_t size>
  friend class TBufPool;

  kw::Range* range_ = nullptr;
};

class TPipe {
 public:
  TPipe() { kw::pipeOpen(this); }
  ~TPipe() { kw::pipeClose(this); }
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;

  KW_API void Init() { kw::pipeOpen(this); }
  KW_API void Destroy() { kw::pipeClose(this); }
  KW_API void Reset() { kw::pipeReset(); }

  template <TPosition src, TPosition dst, int32_t depth, auto mask>
  KW_API bool InitBuffer(TQueBind<src, dst, depth, mask>& queue, uint8_t count, uint32_t bytes) {
    queue.kwInit(nullptr, count, bytes);
    return true;
  }
  template <TPosition pos>
  KW_API bool InitBuffer(TBuf<pos>& buffer, uint32_t bytes) {
    buffer.kwInit(nullptr, bytes);
    return true;
  }
  template <TPosition pos, uint32_t size>
  KW_API bool InitBufPool(TBufPool<pos, size>& pool, uint32_t bytes) {
    pool.range_ = kw::poolInit(pos, nullptr, bytes, nullptr);
    return true;
  }
  template <TPosition pos, uint32_t size, class U>
  KW_API bool InitBufPool(TBufPool<pos, size>& pool, uint32_t bytes, U& shared) {
    pool.range_ = kw::poolInit(pos, nullptr, bytes, shared.range_);
    return true;
  }

  KW_API TEventID FetchEventID(HardEvent event) { return kw::eventFetch(event); }
  template <HardEvent event>
  KW_API TEventID FetchEventID() { return kw::eventFetch(event); }
  template <HardEvent event>
  KW_API TEventID AllocEventID() { return kw::eventAlloc(event); }
  template <HardEvent event>
  KW_API void ReleaseEventID(TEventID id) { kw::eventRelease(event, id); }
  template <TPosition pos>
  KW_API TBuffAddr GetAbsAddr(int32_t offset, int32_t bytes) const {
    TBuffAddr address;
    address.logicPos = static_cast<uint8_t>(pos);
    address.bufferAddr = static_cast<uint32_t>(offset);
    address.dataLen = static_cast<uint32_t>(bytes);
    return address;
  }
  template <TPosition pos, typename T>
  KW_API LocalTensor<T> GetAbsAddr(int32_t offset, int32_t count) const {
    return kw::tensorAt<T>(GetAbsAddr<pos>(offset, static_cast<int32_t>(count * sizeof(T))));
  }
};

template <Hardware memory = Hardware::UB>
class LocalMemAllocator {
 public:
  template <class T, uint32_t count>
  KW_API LocalTensor<T> Alloc() { return Alloc<T>(count); }
  template <TPosition pos, class T, uint32_t count>
  KW_API LocalTensor<T> Alloc() { return Alloc<pos, T>(count); }
  template <class T>
  KW_API LocalTensor<T> Alloc(uint32_t count) { return Alloc<kPosition, T>(count); }
  template <TPosition pos, class T>
  KW_API LocalTensor<T> Alloc(uint32_t count) {
    return kw::tensorAt<T>(kw::allocLocal(pos, static_cast<uint32_t>(kw::bytesOf<T>(count))));
  }
  KW_API uint32_t GetCurAddr() const { return kw::allocatedLocal(kPosition); }

 private:
  static constexpr TPosition kPosition =
      memory == Hardware::L1 ? TPosition::A1
      : memory == Hardware::L0A ? TPosition::A2
      : memory == Hardware::L0B ? TPosition::B2
      : memory == Hardware::L0C ? TPosition::CO1
      : memory == Hardware::BIAS ? TPosition::C2
      : memory == Hardware::FIXBUF ? TPosition::C2PIPE2GM
                                   : TPosition::VECCALC;
};

template <TPosition pos, typename T>
KW_API bool PopStackBuffer(LocalTensor<T>& tensor) {
  tensor = kw::tensorAt<T>(kw::stackBuffer(pos));
  return tensor.GetSize() > 0;
}
template <typename T, TPosition pos>
KW_API bool PopStackBuffer(LocalTensor<T>& tensor) { return PopStackBuffer<pos, T>(tensor); }

}  // namespace AscendC

// The TPipe that was constructed last on this core.
AscendC::TPipe* GetTPipePtr();
namespace AscendC {
using ::GetTPipePtr;
}
