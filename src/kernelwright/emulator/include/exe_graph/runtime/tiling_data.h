// The buffer that a tiling function fills and the kernel reads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kw {
void tilingTooLarge(size_t wanted, size_t capacity);  // reports the fault
}

namespace gert {

class TilingData {
 public:
  static constexpr size_t kCapacity = 16 * 1024;
  size_t GetCapacity() const { return kCapacity; }
  size_t GetDataSize() const { return size_; }
  void SetDataSize(size_t size) {
    if (size > kCapacity) return kw::tilingTooLarge(size, kCapacity);
    size_ = size;
  }
  void* GetData() { return data_; }
  const void* GetData() const { return data_; }
  template <typename T>
  int Append(const T& value) {
    if (size_ + sizeof(T) > kCapacity) {
      kw::tilingTooLarge(size_ + sizeof(T), kCapacity);
      return -1;
    }
    std::memcpy(data_ + size_, &value, sizeof(T));
    size_ += sizeof(T);
    return 0;
  }

 private:
  size_t size_ = 0;
  alignas(64) uint8_t data_[kCapacity] = {};
};

}  // namespace gert
