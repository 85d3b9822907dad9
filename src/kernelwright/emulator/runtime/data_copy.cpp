// DataCopy and DataCopyPad: rows of bytes between global and on-chip memory.
#include "kw/copy_abi.h"

#include <cstring>
#include "atomic_add.h"
#include "global_memory.h"
#include "instruction.h"
#include "launch.h"

namespace kw {

namespace {

constexpr uint32_t kUb = Instruction::bit(Memory::UB);
constexpr uint32_t kL1 = Instruction::bit(Memory::L1);

const char* apiName(CopyForm form) { return form == CopyForm::kPad ? "DataCopyPad" : "DataCopy"; }

// Applies the form's length rules. Returns false when nothing can be moved.
bool checkLengths(Instruction& run, CopyArgs& args) {
  if (args.form == CopyForm::kCount) {
    const uint64_t left = args.rowBytes % 32;
    if (left != 0) {
      run.fault(FaultCode::LENGTH_TRUNCATED,
                "%llu bytes (%llu elements) are not a multiple of 32: the last %llu bytes are not moved",
                static_cast<unsigned long long>(args.rowBytes),
                static_cast<unsigned long long>(args.rowBytes / args.itemBytes),
                static_cast<unsigned long long>(left));
      args.rowBytes -= left;
    }
    return args.rowBytes != 0;
  }
  const uint64_t mostBytes = args.form == CopyForm::kPad ? 2097151 : 65535 * 32ull;
  if (args.rows > 4095 || args.rowBytes > mostBytes) {
    run.fault(FaultCode::COPY_PARAMS, "blockCount %llu (at most 4095), blockLen %llu bytes (at most %llu)",
              static_cast<unsigned long long>(args.rows),
              static_cast<unsigned long long>(args.rowBytes),
              static_cast<unsigned long long>(mostBytes));
  }
  return args.rows != 0 && args.rowBytes != 0;
}

void checkPadding(Instruction& run, const CopyArgs& args) {
  const uint64_t most = 32 / args.itemBytes;
  if (args.left * static_cast<uint64_t>(args.itemBytes) > 32 ||
      args.right * static_cast<uint64_t>(args.itemBytes) > 32) {
    run.fault(FaultCode::COPY_PARAMS, "leftPadding %u and rightPadding %u: at most %llu elements each",
              args.left, args.right, static_cast<unsigned long long>(most));
  }
}

void charge(Instruction& run, const CopyArgs& args, CopyPath path, bool isOut) {
  CopyCost cost;
  cost.path = path;
  cost.rows = static_cast<uint32_t>(args.rows);
  cost.row_bytes = args.rowBytes;
  cost.gm = reinterpret_cast<uint64_t>(isOut ? args.dst : args.src);
  cost.gm_stride = args.rowBytes + (isOut ? args.dstGap : args.srcGap);
  cost.bypass_l2 = args.bypassL2;
  cost.atomic = isOut && run.core().atomic != Atomic::kNone;
  run.cost(cost);
}

// One row into UB, filled up to whole 32-byte blocks: with the padding value, with the row's first
// element where no padding is asked for, or (isPad = false beside a padding) with nothing known.
struct PadRow { uint64_t left, body, whole, filled; };

PadRow padRow(const CopyArgs& args) {
  PadRow row{0, args.rowBytes, args.rowBytes, args.rowBytes};
  if (args.form != CopyForm::kPad) return row;
  row.left = static_cast<uint64_t>(args.left) * args.itemBytes;
  const uint64_t right = static_cast<uint64_t>(args.right) * args.itemBytes;
  row.whole = (row.left + row.body + right + 31) / 32 * 32;
  const bool isKnown = args.isPadded || row.left + right == 0;
  row.filled = isKnown ? row.whole : row.left + row.body;
  return row;
}

void fill(char* from, const char* to, const void* item, uint32_t itemBytes) {
  for (; from + itemBytes <= to; from += itemBytes) std::memcpy(from, item, itemBytes);
}

void moveRowIn(Instruction& run, const CopyArgs& args, const PadRow& row, char* dst, const char* src) {
  const uint64_t have = gmRange(run, {src, args.rowBytes, false, false, nullptr});
  if (run.skipsValues()) return;
  char* body = dst + row.left;
  std::memcpy(body, src, have);
  if (row.whole == row.body || row.filled != row.whole) return;
  const void* item = args.left + args.right == 0 ? static_cast<const void*>(body) : &args.padBits;
  fill(dst, body, item, args.itemBytes);
  fill(body + row.body, dst + row.whole, item, args.itemBytes);
}

}  // namespace

void copyIn(const CopyArgs& given) {
  CopyArgs args = given;
  Instruction run(Pipe::MTE2, apiName(args.form), __builtin_return_address(0));
  run.allow(kUb | kL1);
  if (!checkLengths(run, args)) return;
  if (args.form == CopyForm::kPad) checkPadding(run, args);
  run.aligned(args.dst, 32, "dst");
  const PadRow row = padRow(args);
  const uint64_t step = row.whole + args.dstGap;
  if (!run.writeRows(args.dst, args.rows, row.filled, step, "dst")) return;
  const bool isOne = args.srcGap == 0 && step == args.rowBytes && row.left == 0;
  if (isOne) {
    args.rowBytes *= args.rows;
    moveRowIn(run, args, padRow(args), static_cast<char*>(args.dst), static_cast<const char*>(args.src));
  } else {
    for (uint64_t i = 0; i < args.rows; ++i) {
      moveRowIn(run, args, row, static_cast<char*>(args.dst) + i * step,
                static_cast<const char*>(args.src) + i * (args.rowBytes + args.srcGap));
    }
  }
  const bool isUb = placeOf(run.core(), args.dst).memory == Memory::UB;
  charge(run, given.form == CopyForm::kCount ? args : given, isUb ? CopyPath::GmToUb : CopyPath::GmToL1,
         false);
}

namespace {

void moveRowOut(Instruction& run, const CopyArgs& args, char* dst, const char* src) {
  Core& core = run.core();
  const bool isAtomic = core.atomic != Atomic::kNone;
  const uint64_t have = gmRange(run, {dst, args.rowBytes, true, isAtomic, src});
  if (run.skipsValues()) return;
  if (isAtomic) {
    atomicCombine(core.atomic, core.atomicDtype, dst, src, have);
  } else {
    std::memcpy(dst, src, have);
  }
}

}  // namespace

void copyOut(const CopyArgs& given) {
  CopyArgs args = given;
  Instruction run(Pipe::MTE3, apiName(args.form), __builtin_return_address(0));
  run.allow(kUb | kL1);
  if (!checkLengths(run, args)) return;
  run.aligned(args.src, 32, "src");
  // In UB each row starts on a block of its own.
  const uint64_t step = (args.rowBytes + 31) / 32 * 32 + args.srcGap;
  if (!run.readRows(args.src, args.rows, args.rowBytes, step, "src")) return;
  if (args.dstGap == 0 && step == args.rowBytes) {
    args.rowBytes *= args.rows;
    moveRowOut(run, args, static_cast<char*>(args.dst), static_cast<const char*>(args.src));
  } else {
    for (uint64_t i = 0; i < args.rows; ++i) {
      moveRowOut(run, args, static_cast<char*>(args.dst) + i * (args.rowBytes + args.dstGap),
                 static_cast<const char*>(args.src) + i * step);
    }
  }
  charge(run, given.form == CopyForm::kCount ? args : given, CopyPath::UbToGm, true);
}

void copyLocal(const CopyArgs& given) {
  CopyArgs args = given;
  const LocalPlace to = placeOf(*runningCore(), args.dst);
  const LocalPlace from = placeOf(*runningCore(), args.src);
  const bool isInUb = to.memory == Memory::UB && from.memory == Memory::UB;
  const bool isFromL1 = from.isLocal && from.memory == Memory::L1;
  Instruction run(isInUb ? Pipe::V : isFromL1 ? Pipe::MTE1 : Pipe::MTE3, "DataCopy",
                  __builtin_return_address(0));
  run.allow(kUb | kL1 | Instruction::bit(Memory::BT) | Instruction::bit(Memory::FB));
  if (!checkLengths(run, args)) return;
  run.aligned(args.src, 32, "src");
  run.aligned(args.dst, 32, "dst");
  const uint64_t srcStep = args.rowBytes + args.srcGap;
  const uint64_t dstStep = args.rowBytes + args.dstGap;
  if (!run.readRows(args.src, args.rows, args.rowBytes, srcStep, "src")) return;
  if (!run.writeRows(args.dst, args.rows, args.rowBytes, dstStep, "dst")) return;
  for (uint64_t i = 0; i < args.rows && !run.skipsValues(); ++i) {
    std::memmove(static_cast<char*>(args.dst) + i * dstStep,
                 static_cast<const char*>(args.src) + i * srcStep, args.rowBytes);
  }
  const CopyPath fromL1 = to.memory == Memory::UB ? CopyPath::L1ToUb : CopyPath::L1ToBt;
  charge(run, args, isInUb ? CopyPath::UbToUb : isFromL1 ? fromL1 : CopyPath::UbToL1, false);
}

}  // namespace kw
