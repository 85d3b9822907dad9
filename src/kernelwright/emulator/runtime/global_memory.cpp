#include "global_memory.h"

#include <algorithm>
#include <cstring>
#include "cross_core.h"
#include "launch.h"
#include "report.h"

namespace kw {

namespace {

std::vector<std::unique_ptr<GmRecord>>& records() {
  static std::vector<std::unique_ptr<GmRecord>> all;
  return all;
}

uint64_t lineMask(uint64_t low, uint64_t high) {  // bytes [low, high) of one line
  const uint64_t upTo = high >= 64 ? ~0ull : (1ull << high) - 1;
  return upTo & (~0ull << low);
}


// Everything one call of gmTouch carries along.
struct Touch {
  GmRecord& record;
  const GmAccess& access;
  const Core& core;
  Pipe pipe;
  Stamp stamp;
  const char* api;
  Stamp finished[2];  // stamps found finished, so that neighbours need no second look
};

bool isFinished(Touch& touch, Stamp other, int slot) {
  if (!other.isSet() || other.word == touch.finished[slot].word) return true;
  if (!coreSees(touch.core, touch.pipe, other)) return false;
  touch.finished[slot] = other;
  return true;
}

bool sameBytes(const Touch& touch, uint64_t line, uint64_t mask) {
  if (touch.access.data == nullptr) return false;
  const char* base = reinterpret_cast<const char*>((touch.record.lineBase + line) << 6);
  const char* start = static_cast<const char*>(touch.access.start);
  for (int i = 0; i < 64; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (base[i] != static_cast<const char*>(touch.access.data)[base + i - start]) return false;
  }
  return true;
}

void reportPair(Touch& touch, Stamp other, uint64_t line, bool otherWrote, uint64_t overlap) {
  FaultPlace place;
  place.pc = touch.core.pc;
  place.pipe = static_cast<int>(touch.pipe);
  const uint64_t address = (touch.record.lineBase + line) << 6;
  const uint64_t start = reinterpret_cast<uint64_t>(touch.record.start);
  const unsigned long long offset = address > start ? address - start : 0;
  const char* did = touch.access.isWrite ? "writes" : "reads";
  const char* had = otherWrote ? "writes" : "reads";
  if (other.core() == touch.core.index) {
    fault(FaultCode::GM_RACE_PIPES, place,
          "%s on pipe %s %s %s near byte %llu while pipe %s, which %s it, may not have finished",
          touch.api, kPipeLabels[static_cast<int>(touch.pipe)], did, touch.record.name.c_str(),
          offset, kPipeLabels[other.pipe()], had);
    return;
  }
  const uint32_t block = other.core() / currentLaunch()->coresPerBlock();
  if (touch.access.isWrite && otherWrote && sameBytes(touch, line, overlap)) {
    fault(FaultCode::GM_SAME_VALUE_WRITTEN, place,
          "%s writes %s near byte %llu, where block %u has written the same bytes", touch.api,
          touch.record.name.c_str(), offset, block);
    return;
  }
  fault(FaultCode::GM_RACE_BLOCKS, place,
        "%s %s %s near byte %llu, which block %u %s; nothing orders the two blocks", touch.api, did,
        touch.record.name.c_str(), offset, block, had);
}

void checkWriters(Touch& touch, GmLine& line, uint64_t at, uint64_t mask) {
  if ((line.mask & mask) != 0 && !(touch.access.isAtomic && line.writer.isAtomic()) &&
      !isFinished(touch, line.writer, 0)) {
    reportPair(touch, line.writer, at, true, line.mask & mask);
    touch.finished[0] = line.writer;
  }
  if (touch.record.shared.empty()) return;
  const auto found = touch.record.shared.find(at);
  if (found == touch.record.shared.end()) return;
  for (const OldWriter& old : found->second) {
    if ((old.mask & mask) == 0 || (touch.access.isAtomic && old.writer.isAtomic())) continue;
    if (!isFinished(touch, old.writer, 1)) reportPair(touch, old.writer, at, true, old.mask & mask);
  }
}

void noteRead(Touch& touch, GmLine& line) {
  if (line.readers[0].word == touch.stamp.word) return;
  if (line.readers[0].isSet() && line.readers[0].core() != touch.stamp.core()) {
    line.readers[1] = line.readers[0];
  }
  line.readers[0] = touch.stamp;
}

void noteWrite(Touch& touch, GmLine& line, uint64_t at, uint64_t mask) {
  if (line.writer.word == touch.stamp.word) {
    line.mask |= mask;
    return;
  }
  const uint64_t left = line.mask & ~mask;
  if (line.writer.isSet() && left != 0 && !coreSees(touch.core, touch.pipe, line.writer)) {
    touch.record.shared[at].push_back({line.writer, left});
  }
  line.writer = touch.stamp;
  line.mask = mask;
}

void touchLine(Touch& touch, uint64_t at, uint64_t mask) {
  GmLine& line = touch.record.lines[at];
  checkWriters(touch, line, at, mask);
  if (!touch.access.isWrite) {
    noteRead(touch, line);
    return;
  }
  for (const Stamp reader : line.readers) {
    if (reader.isSet() && reader.word != touch.stamp.word && !isFinished(touch, reader, 1)) {
      // Lines at the border of two blocks' ranges are read whole by neither: only a line that
      // the write covers is surely the same data.
      if (mask == ~0ull) reportPair(touch, reader, at, false, mask);
      touch.finished[1] = reader;
    }
  }
  noteWrite(touch, line, at, mask);
}

}  // namespace

GmRecord* gmFind(const void* address) {
  static GmRecord* last = nullptr;
  const char* at = static_cast<const char*>(address);
  for (const auto& record : records()) {
    if (at >= record->start && at < record->start + record->bytes) {
      last = record.get();
      return last;
    }
  }
  return nullptr;
}

GmRecord* gmNamed(const std::string& name) {
  for (const auto& record : records()) {
    if (record->name == name) return record.get();
  }
  return nullptr;
}

uint64_t gmBytes() {
  uint64_t total = 0;
  for (const auto& record : records()) total += record->bytes;
  return total;
}

uint64_t gmRoom(const GmRecord& record, const void* start) {
  return static_cast<uint64_t>(record.start + record.bytes - static_cast<const char*>(start));
}

bool coreSees(const Core& core, Pipe pipe, Stamp stamp) {
  if (stamp.core() != core.index) return knowsOther(core, stamp.core(), stamp.pipe(), stamp.epoch());
  const uint32_t own = static_cast<uint32_t>(pipe);
  // The compiler orders the scalar unit against every other pipe.
  if (stamp.pipe() == own || stamp.pipe() == 0 || own == 0) return true;
  return stamp.epoch() <= core.pipes[own].seen.at[stamp.pipe()];
}

void gmTouch(GmRecord& record, const GmAccess& access, Pipe pipe, const char* api) {
  if (access.bytes == 0) return;
  const Core& core = *runningCore();
  const uint32_t p = static_cast<uint32_t>(pipe);
  if (record.lines == nullptr) {
    record.lineBase = reinterpret_cast<uint64_t>(record.start) >> 6;
    const uint64_t end = (reinterpret_cast<uint64_t>(record.start) + record.bytes + 63) >> 6;
    record.lines.reset(static_cast<GmLine*>(std::calloc(end - record.lineBase, sizeof(GmLine))));
    if (record.lines == nullptr) std::abort();
  }
  Touch touch{record, access, core, pipe,
              Stamp::of(core.index, p, core.pipes[p].seen.at[p], access.isAtomic), api, {}};
  const uint64_t low = reinterpret_cast<uint64_t>(access.start);
  const uint64_t high = low + access.bytes;
  for (uint64_t line = low >> 6; line <= (high - 1) >> 6; ++line) {
    const uint64_t begin = line << 6;
    touchLine(touch, line - record.lineBase,
              lineMask(low > begin ? low - begin : 0, high - begin < 64 ? high - begin : 64));
  }
}

uint64_t gmRange(Instruction& run, const GmAccess& access) {
  GmRecord* record = gmFind(access.start);
  const char* verb = access.isWrite ? "writes" : "reads";
  if (record == nullptr) {
    run.fault(FaultCode::GM_OUT_OF_BOUNDS, "%s %llu bytes at an address outside every tensor%s", verb,
              static_cast<unsigned long long>(access.bytes), nearestRecord(access.start).c_str());
    return 0;
  }
  const uint64_t room = gmRoom(*record, access.start);
  GmAccess inside = access;
  if (access.bytes > room) {
    inside.bytes = room;
    const bool isTail = !access.isWrite && access.bytes - room < 32;
    run.fault(isTail ? FaultCode::GM_TAIL_OVERREAD : FaultCode::GM_OUT_OF_BOUNDS,
              "%s %llu bytes at byte %llu of %s, which has %llu bytes: %llu past its end", verb,
              static_cast<unsigned long long>(access.bytes),
              static_cast<unsigned long long>(record->bytes - room), record->name.c_str(),
              static_cast<unsigned long long>(record->bytes),
              static_cast<unsigned long long>(access.bytes - room));
  }
  if (!launchIsUnchecked()) gmTouch(*record, inside, run.pipe(), run.name());
  return inside.bytes;
}

std::string nearestRecord(const void* address) {
  const char* at = static_cast<const char*>(address);
  for (const auto& record : records()) {
    const char* end = record->start + record->bytes;
    if (at >= end && at - end < 1 << 20) {
      return ", " + std::to_string(at - end) + " bytes past the end of " + record->name;
    }
    if (at < record->start && record->start - at < 1 << 20) {
      return ", " + std::to_string(record->start - at) + " bytes before " + record->name;
    }
  }
  return "";
}

void beginGm(uint32_t) {
  for (const auto& record : records()) {
    record->lines.reset();
    record->shared.clear();
  }
}

}  // namespace kw

extern "C" void kw_gm_register(void* start, uint64_t bytes, const char* name) {
  auto record = std::make_unique<kw::GmRecord>();
  record->start = static_cast<char*>(start);
  record->bytes = bytes;
  record->name = name == nullptr ? "" : name;
  kw::records().push_back(std::move(record));
}

extern "C" void kw_gm_unregister(void* start) {
  auto& all = kw::records();
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const auto& record) { return record->start == start; }),
            all.end());
}
