// Copies as the runtime library sees them: rows of bytes between two memories.
#pragma once
#include "kw/abi.h"
#include "kw/enums.h"

namespace kw {

// Which rules a copy's lengths obey.
enum class CopyForm : uint8_t { kCount, kBlocks, kPad };

struct CopyArgs {
  CopyForm form = CopyForm::kCount;
  void* dst = nullptr;
  const void* src = nullptr;
  uint64_t rows = 1;
  uint64_t rowBytes = 0;
  uint64_t dstGap = 0;  // bytes between the end of a row and the start of the next
  uint64_t srcGap = 0;
  uint32_t itemBytes = 1;
  bool bypassL2 = false;
  // DataCopyPad into UB: how a row is filled up to 32 bytes.
  bool isPadded = false;
  uint8_t left = 0, right = 0;  // elements
  uint64_t padBits = 0;
};

void copyIn(const CopyArgs& args);     // GM to UB or L1
void copyOut(const CopyArgs& args);    // UB, L1 or L0C to GM
void copyLocal(const CopyArgs& args);  // between on-chip memories

}  // namespace kw
