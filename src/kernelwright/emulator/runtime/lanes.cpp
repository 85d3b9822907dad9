// The vector mask: what a level-0 call's mask means, the mask register and its counter mode.
#include "instruction.h"

namespace kw {

namespace {

void firstLanes(uint64_t count, uint64_t* bits) {
  bits[0] = count >= 64 ? ~0ull : (1ull << count) - 1;
  bits[1] = count >= 128 ? ~0ull : count > 64 ? (1ull << (count - 64)) - 1 : 0;
}

Lanes counted(uint64_t total, uint32_t perRepeat) {
  Lanes out;
  out.perRepeat = perRepeat;
  out.repeats = static_cast<uint32_t>((total + perRepeat - 1) / perRepeat);
  firstLanes(perRepeat, out.bits);
  firstLanes(total == 0 ? 0 : (total - 1) % perRepeat + 1, out.lastBits);
  return out;
}

}  // namespace

void setMaskRegister(uint64_t high, uint64_t low) {
  Core& core = *runningCore();
  core.maskHigh = high;
  core.maskLow = low;
}

void setMaskMode(AscendC::MaskMode mode) { runningCore()->maskMode = mode; }

void resetMask() { setMaskRegister(~0ull, ~0ull); }

Lanes Instruction::lanes(const MaskArg& mask, uint32_t repeats, uint32_t itemBytes) {
  const uint32_t perRepeat = itemBytes >= 4 ? 256 / itemBytes : 128;
  if (core_.maskMode == AscendC::MaskMode::COUNTER) {
    return counted(mask.kind == MaskArg::kCount ? mask.count : core_.maskLow, perRepeat);
  }
  Lanes out;
  out.perRepeat = perRepeat;
  out.repeats = repeats;
  if (mask.kind == MaskArg::kRegister) {
    out.bits[0] = core_.maskLow;
    out.bits[1] = core_.maskHigh;
  } else if (mask.kind == MaskArg::kBits) {
    out.bits[0] = mask.bits[0];
    out.bits[1] = mask.bits[1];
  } else {
    if (mask.count == 0 || mask.count > perRepeat) {
      fault(FaultCode::MASK, "the mask is %llu; %u-byte elements allow 1 to %u",
            static_cast<unsigned long long>(mask.count), itemBytes, perRepeat);
    }
    firstLanes(mask.count < perRepeat ? mask.count : perRepeat, out.bits);
  }
  if (perRepeat <= 64) {
    if (perRepeat < 64) out.bits[0] &= (1ull << perRepeat) - 1;
    if (mask.kind == MaskArg::kBits && out.bits[1] != 0) {
      fault(FaultCode::MASK, "mask[1] must be 0 for %u-byte elements", itemBytes);
    }
    out.bits[1] = 0;
  }
  if (mask.kind == MaskArg::kBits && out.bits[0] == 0 && out.bits[1] == 0) {
    fault(FaultCode::MASK, "the mask selects no lane");
  }
  out.lastBits[0] = out.bits[0];
  out.lastBits[1] = out.bits[1];
  return out;
}

}  // namespace kw
