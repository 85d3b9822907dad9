#include "hazard.h"

#include <utility>

namespace kw {

size_t Region::firstAfter(uint32_t low) const {
  size_t begin = 0;
  size_t end = segments_.size();
  while (begin < end) {
    const size_t middle = (begin + end) / 2;
    if (segments_[middle].high <= low) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

std::pair<size_t, size_t> Region::carve(uint32_t low, uint32_t high) {
  size_t i = firstAfter(low);
  const size_t first = i;
  if (i < segments_.size() && segments_[i].low == low && segments_[i].high == high) {
    return {i, i + 1};
  }
  uint32_t at = low;
  size_t begun = first;
  while (at < high) {
    if (i == segments_.size() || segments_[i].low > at) {  // a gap
      const uint32_t end = i == segments_.size() || segments_[i].low > high ? high : segments_[i].low;
      Segment fresh{};
      fresh.low = at;
      fresh.high = end;
      segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(i), fresh);
      at = end;
      ++i;
      continue;
    }
    if (segments_[i].low < at) {  // starts before: cut off its front
      Segment front = segments_[i];
      front.high = at;
      segments_[i].low = at;
      segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(i), front);
      ++i;
      begun = i;
    }
    if (segments_[i].high > high) {  // ends behind: cut off its back
      Segment front = segments_[i];
      front.high = high;
      segments_[i].low = high;
      segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(i), front);
    }
    at = segments_[i].high;
    ++i;
  }
  return {begun, i};
}

void Region::mergeAround(size_t first, size_t last) {
  size_t keep = first > 0 ? first - 1 : 0;
  const size_t end = last < segments_.size() ? last + 1 : segments_.size();
  for (size_t i = keep + 1; i < end; ++i) {
    Segment& left = segments_[keep];
    if (left.high == segments_[i].low && left.sameState(segments_[i])) {
      left.high = segments_[i].high;
    } else {
      ++keep;
      if (keep != i) segments_[keep] = segments_[i];
    }
  }
  segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(keep + 1),
                  segments_.begin() + static_cast<std::ptrdiff_t>(end));
}

Conflict Region::read(uint32_t low, uint32_t high, const Viewer& viewer) {
  Conflict conflict;
  const auto [first, last] = carve(low, high);
  bool isSame = last - first == 1;
  for (size_t i = first; i < last; ++i) {
    Segment& segment = segments_[i];
    if (conflict.kind == Conflict::kNone && segment.writeEpoch != 0 &&
        !viewer.sees(segment.writePipe, segment.writeEpoch)) {
      conflict = {Conflict::kReadAfterWrite, segment.writePipe, segment.low, segment.high,
                  segment.writePc};
    }
    isSame = isSame && segment.readEpoch[viewer.pipe] == viewer.epoch;
    segment.readEpoch[viewer.pipe] = viewer.epoch;
    segment.readPc = viewer.pc;
  }
  if (!isSame) mergeAround(first, last);
  return conflict;
}

Conflict Region::write(uint32_t low, uint32_t high, const Viewer& viewer) {
  Conflict conflict;
  const auto [first, last] = carve(low, high);
  for (size_t i = first; i < last && conflict.kind == Conflict::kNone; ++i) {
    const Segment& segment = segments_[i];
    if (segment.writeEpoch != 0 && !viewer.sees(segment.writePipe, segment.writeEpoch)) {
      conflict = {Conflict::kWriteAfterWrite, segment.writePipe, segment.low, segment.high,
                  segment.writePc};
      break;
    }
    for (uint8_t pipe = 0; pipe < kPipeCount; ++pipe) {
      if (pipe == viewer.pipe || segment.readEpoch[pipe] == 0) continue;
      if (viewer.sees(pipe, segment.readEpoch[pipe])) continue;
      conflict = {Conflict::kWriteAfterRead, pipe, segment.low, segment.high, segment.readPc};
      break;
    }
  }
  Segment& whole = segments_[first];
  whole = Segment{};
  whole.low = low;
  whole.high = high;
  whole.writeEpoch = viewer.epoch;
  whole.writePipe = viewer.pipe;
  whole.writePc = viewer.pc;
  if (last - first > 1) {
    segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(first + 1),
                    segments_.begin() + static_cast<std::ptrdiff_t>(last));
  }
  mergeAround(first, first + 1);
  return conflict;
}

uint32_t Region::around(uint32_t at, uint32_t limit, uint32_t* low, uint32_t* high) const {
  const size_t i = firstAfter(at);
  if (i < segments_.size() && segments_[i].low <= at) {
    const Segment& segment = segments_[i];
    *low = segment.low;
    *high = segment.high;
    uint32_t pipes = segment.writeEpoch != 0 ? 1u << segment.writePipe : 0;
    for (int pipe = 0; pipe < kPipeCount; ++pipe) {
      if (segment.readEpoch[pipe] != 0) pipes |= 1u << pipe;
    }
    return pipes;
  }
  *low = i > 0 ? segments_[i - 1].high : 0;
  *high = i < segments_.size() ? segments_[i].low : limit;
  return 0;
}

}  // namespace kw
