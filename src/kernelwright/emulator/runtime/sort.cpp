// Sort32, Sort, MrgSort, Extract: highest score first, of equal ones the earlier.
#include "kw/sort.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kw/half.h"
#include "vector_map.h"

namespace kw {

namespace {

struct Scored { float score; uint32_t index; };

constexpr uint64_t kPair = 8;  // bytes of one sorted element

uint32_t itemBytes(Dtype dtype) { return dtype == Dtype::f16 ? 2 : 4; }

float scoreAt(Dtype dtype, const void* from, uint64_t i) {
  return dtype == Dtype::f16 ? static_cast<float>(static_cast<const half*>(from)[i])
                             : static_cast<const float*>(from)[i];
}

void writeScore(Dtype dtype, void* to, float score) {
  if (dtype == Dtype::f16) {
    const half value(score);
    std::memcpy(to, &value, 2);
  } else {
    std::memcpy(to, &score, 4);
  }
}

void writePair(Dtype dtype, void* dst, uint64_t i, const Scored& one) {
  char* to = static_cast<char*>(dst) + i * kPair;
  writeScore(dtype, to, one.score);
  std::memcpy(to + 4, &one.index, 4);
}

Scored pairAt(Dtype dtype, const void* src, uint64_t i) {
  const char* from = static_cast<const char*>(src) + i * kPair;
  Scored one{scoreAt(dtype, from, 0), 0};
  std::memcpy(&one.index, from + 4, 4);
  return one;
}

// A NaN counts as the highest score, so that the order is total.
bool isBefore(const Scored& a, const Scored& b) {
  if (std::isnan(a.score) || std::isnan(b.score)) return std::isnan(a.score) && !std::isnan(b.score);
  return a.score > b.score;
}

bool hasRepeats(const Instruction& run, int32_t repeats, int32_t most) {
  if (repeats >= 1 && repeats <= most) return true;
  run.fault(FaultCode::REPEAT, "repeatTime is %d; it is 1 to %d here", repeats, most);
  return false;
}

void charge(Instruction& run, VectorOp op, Dtype dtype, const void* dst, const void* src,
            uint32_t repeats) {
  const MapCall call(op, {dst, dtype, {}, "dst"}, {src, dtype, {}, "src"});
  chargeMap(run, call, repeats);
}

void sortGroups(Dtype dtype, void* dst, const void* scores, const void* indices, uint64_t n,
                uint64_t group) {
  std::vector<Scored> all(n);
  for (uint64_t i = 0; i < n; ++i) {
    all[i] = {scoreAt(dtype, scores, i), static_cast<const uint32_t*>(indices)[i]};
  }
  for (uint64_t first = 0; first < n; first += group) {
    std::stable_sort(all.begin() + first, all.begin() + std::min(n, first + group), isBefore);
  }
  for (uint64_t i = 0; i < n; ++i) writePair(dtype, dst, i, all[i]);
}

bool touchSort(Instruction& run, Dtype dtype, void* dst, const void* scores, const void* indices,
               uint64_t n) {
  run.aligned(dst, 32, "dst");
  run.aligned(scores, 32, "src0");
  run.aligned(indices, 32, "src1");
  bool ok = run.read(scores, n * itemBytes(dtype), "src0");
  ok = run.read(indices, n * 4, "src1") && ok;
  return run.write(dst, n * kPair, "dst") && ok;
}

// Merges `count` lists; stops at the first empty one if `suspends`. Returns what was written.
uint64_t mergeLists(Dtype dtype, char* dst, std::vector<std::vector<Scored>>& lists, bool suspends,
                    uint32_t* taken) {
  std::vector<size_t> at(lists.size(), 0);
  uint64_t made = 0;
  while (true) {
    int best = -1;
    bool isOneEmpty = false;
    for (size_t i = 0; i < lists.size(); ++i) {
      if (at[i] == lists[i].size()) {
        isOneEmpty = true;
      } else if (best < 0 || isBefore(lists[i][at[i]], lists[best][at[best]])) {
        best = static_cast<int>(i);
      }
    }
    if (best < 0 || (suspends && isOneEmpty)) break;
    writePair(dtype, dst, made++, lists[best][at[best]++]);
  }
  for (size_t i = 0; taken != nullptr && i < lists.size(); ++i) taken[i] = static_cast<uint32_t>(at[i]);
  return made;
}

// How many lists the bits name: they are named from the first on.
int listCount(const Instruction& run, uint16_t bits) {
  if (bits == 3) return 2;
  if (bits == 7) return 3;
  if (bits == 15) return 4;
  run.fault(FaultCode::ARGUMENT, "validBit is %u; it is 3, 7 or 15 for two, three or four lists", bits);
  return 0;
}

bool mayRepeat(const Instruction& run, const MergeCall& call, int count) {
  if (call.repeats == 1) return true;
  const uint16_t* n = call.lengths;
  if (count == 4 && n[0] == n[1] && n[1] == n[2] && n[2] == n[3] && !call.suspends) return true;
  run.fault(FaultCode::ARGUMENT, "several repeats need four lists of one length without suspension");
  return false;
}

}  // namespace

void sort32(Dtype dtype, void* dst, const void* scores, const void* indices, int32_t repeats) {
  Instruction run(Pipe::V, "Sort32", __builtin_return_address(0));
  if (!hasRepeats(run, repeats, 255)) return;
  const uint64_t n = static_cast<uint64_t>(repeats) * 32;
  const bool ok = touchSort(run, dtype, dst, scores, indices, n);
  if (ok && !run.skipsValues()) sortGroups(dtype, dst, scores, indices, n, 32);
  charge(run, VectorOp::Sort32, dtype, dst, scores, static_cast<uint32_t>(repeats));
}

void sortAll(Dtype dtype, void* dst, const void* scores, const void* indices, const void* work,
             int32_t repeats, bool isFull) {
  Instruction run(Pipe::V, "Sort", __builtin_return_address(0));
  if (!hasRepeats(run, repeats, 255)) return;
  const uint64_t n = static_cast<uint64_t>(repeats) * 32;
  run.aligned(work, 32, "tmp");
  bool ok = touchSort(run, dtype, dst, scores, indices, n);
  if (isFull && repeats > 1) ok = run.write(work, n * kPair, "tmp") && ok;
  if (ok && !run.skipsValues()) sortGroups(dtype, dst, scores, indices, n, isFull ? n : 32);
  charge(run, VectorOp::Sort32, dtype, dst, scores, static_cast<uint32_t>(repeats));
  for (uint64_t sorted = 32; isFull && sorted < n; sorted *= 4) {
    charge(run, VectorOp::MergeSort, dtype, dst, work, static_cast<uint32_t>(repeats));
  }
}

void extractSorted(Dtype dtype, void* scores, void* indices, const void* sorted, int32_t repeats) {
  Instruction run(Pipe::V, "Extract", __builtin_return_address(0));
  if (!hasRepeats(run, repeats, 255)) return;
  const uint64_t n = static_cast<uint64_t>(repeats) * 32;
  run.aligned(scores, 32, "dstValue");
  run.aligned(indices, 32, "dstIndex");
  run.aligned(sorted, 32, "sorted");
  bool ok = run.read(sorted, n * kPair, "sorted");
  ok = run.write(scores, n * itemBytes(dtype), "dstValue") && ok;
  ok = run.write(indices, n * 4, "dstIndex") && ok;
  for (uint64_t i = 0; ok && !run.skipsValues() && i < n; ++i) {
    const Scored one = pairAt(dtype, sorted, i);
    writeScore(dtype, static_cast<char*>(scores) + i * itemBytes(dtype), one.score);
    static_cast<uint32_t*>(indices)[i] = one.index;
  }
  charge(run, VectorOp::GatherMask, dtype, scores, sorted, 2 * static_cast<uint32_t>(repeats));
}

void mergeSorted(Dtype dtype, void* dst, const MergeCall& call) {
  Instruction run(Pipe::V, "MrgSort", __builtin_return_address(0));
  const int count = listCount(run, call.validBit);
  if (count == 0 || !hasRepeats(run, call.repeats, 255) || !mayRepeat(run, call, count)) return;
  run.aligned(dst, 32, "dst");
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += call.lengths[i];
  char* to = static_cast<char*>(dst);
  for (int32_t repeat = 0; repeat < call.repeats; ++repeat) {
    std::vector<std::vector<Scored>> lists(count);
    bool ok = true;
    for (int i = 0; i < count; ++i) {
      const char* from = static_cast<const char*>(call.lists[i]) + repeat * total * kPair;
      run.aligned(from, 8, "a source list");
      ok = run.read(from, call.lengths[i] * kPair, "a source list") && ok;
      for (uint16_t k = 0; ok && k < call.lengths[i]; ++k) lists[i].push_back(pairAt(dtype, from, k));
    }
    ok = run.write(to, total * kPair, "dst") && ok;
    if (ok) to += mergeLists(dtype, to, lists, call.suspends, call.taken) * kPair;
  }
  charge(run, VectorOp::MergeSort, dtype, dst, call.lists[0],
         static_cast<uint32_t>((total * call.repeats + 31) / 32));
}

}  // namespace kw
