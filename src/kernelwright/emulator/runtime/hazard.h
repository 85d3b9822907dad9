// Order between the pipes of one core, by happens-before.
//
// Each pipe has an epoch that grows whenever it signals. An access is stamped (pipe, epoch); it is
// finished for another pipe when that pipe's clock has seen the epoch.
#pragma once
#include <cstdint>
#include <vector>
#include "kw/abi.h"

namespace kw {

struct Clock {
  uint32_t at[8] = {};
  void join(const Clock& other) {
    for (int i = 0; i < 8; ++i) at[i] = at[i] > other.at[i] ? at[i] : other.at[i];
  }
};

// Who looks at a segment: its pipe, what that pipe has seen, and from which epoch on its own
// earlier instructions count as unfinished (strict mode; else none).
struct Viewer {
  uint8_t pipe;
  uint32_t epoch;
  uint32_t ownFinished;
  const Clock* seen;
  const void* pc;

  bool sees(uint8_t other, uint32_t at) const {
    return other == pipe ? at <= ownFinished : at <= seen->at[other];
  }
};

constexpr uint32_t kAlwaysFinished = 0xffffffffu;

struct Segment {
  uint32_t low, high;      // bytes [low, high)
  uint32_t writeEpoch = 0; // 0: never written
  uint8_t writePipe = 0;
  const void* writePc = nullptr;
  const void* readPc = nullptr;
  uint32_t readEpoch[kPipeCount] = {};

  bool sameState(const Segment& other) const {
    if (writeEpoch != other.writeEpoch || writePipe != other.writePipe) return false;
    for (int i = 0; i < kPipeCount; ++i) {
      if (readEpoch[i] != other.readEpoch[i]) return false;
    }
    return true;
  }
};

struct Conflict {
  enum Kind : uint8_t { kNone, kReadAfterWrite, kWriteAfterRead, kWriteAfterWrite } kind = kNone;
  uint8_t pipe = 0;
  uint32_t low = 0, high = 0;
  const void* pc = nullptr;
};

// Interval map over one memory: sorted segments that do not overlap; gaps were never touched.
class Region {
 public:
  void clear() { segments_.clear(); }
  Conflict read(uint32_t low, uint32_t high, const Viewer& viewer);
  Conflict write(uint32_t low, uint32_t high, const Viewer& viewer);
  // The segment that holds `at`, or the gap there: [low, high), and the pipes that touched it.
  uint32_t around(uint32_t at, uint32_t limit, uint32_t* low, uint32_t* high) const;
  size_t segmentCount() const { return segments_.size(); }

 private:
  size_t firstAfter(uint32_t low) const;
  // Makes [low, high) the union of whole segments; returns their indices [first, last).
  std::pair<size_t, size_t> carve(uint32_t low, uint32_t high);
  void mergeAround(size_t first, size_t last);

  std::vector<Segment> segments_;
};

}  // namespace kw
