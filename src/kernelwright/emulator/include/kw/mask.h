// Which lanes of a vector instruction are active.
#pragma once
#include "kw/abi.h"
#include "kw/constants.h"
#include "kw/enums.h"

namespace kw {

// Mask of a level-0 call as given: the first `count` lanes of each repeat, 128 lane bits, or what
// the mask register holds (isSetMask = false).
struct MaskArg {
  enum Kind : uint8_t { kCount, kBits, kRegister } kind = kCount;
  uint64_t count = 0;
  uint64_t bits[2] = {0, 0};  // [0] holds lanes 0..63
};

KW_API MaskArg maskArg(uint64_t count, bool isSetMask = true) {
  MaskArg mask;
  mask.kind = isSetMask ? MaskArg::kCount : MaskArg::kRegister;
  mask.count = count;
  return mask;
}
KW_API MaskArg maskArg(const uint64_t* bits, bool isSetMask = true) {
  MaskArg mask;
  mask.kind = isSetMask ? MaskArg::kBits : MaskArg::kRegister;
  mask.bits[0] = bits[0];
  mask.bits[1] = bits[1];
  return mask;
}

// Strides of one operand in 32-byte blocks: between the blocks of a repeat, and between repeats.
struct Stride {
  uint16_t block = 1;
  uint16_t repeat = 8;
};

void setMaskRegister(uint64_t high, uint64_t low);
void setMaskMode(AscendC::MaskMode mode);
void resetMask();

}  // namespace kw

namespace AscendC {

KW_API void SetMaskCount() { kw::setMaskMode(MaskMode::COUNTER); }
KW_API void SetMaskNorm() { kw::setMaskMode(MaskMode::NORMAL); }
KW_API void ResetMask() { kw::resetMask(); }
template <typename T, MaskMode mode = MaskMode::NORMAL>
KW_API void SetVectorMask(uint64_t high, uint64_t low) {
  kw::setMaskRegister(high, low);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
KW_API void SetVectorMask(int32_t count) {
  if constexpr (mode == MaskMode::COUNTER) {
    kw::setMaskRegister(0, static_cast<uint64_t>(count));
  } else {
    const uint64_t lanes = static_cast<uint64_t>(count);
    const uint64_t all = ~0ull;
    const uint64_t low = lanes >= 64 ? all : (1ull << lanes) - 1;
    const uint64_t high = lanes >= 128 ? all : lanes > 64 ? (1ull << (lanes - 64)) - 1 : 0;
    kw::setMaskRegister(high, low);
  }
}

}  // namespace AscendC
