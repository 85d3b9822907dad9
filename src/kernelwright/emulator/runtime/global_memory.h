// Global memory: its registered ranges, and for each 64-byte line who wrote and who read it last.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>
#include "core.h"
#include "instruction.h"

namespace kw {

// Who touched a line: core 28 bits, pipe 4 bits, epoch 31 bits, one bit for atomic writes.
struct Stamp {
  uint64_t word = 0;
  static Stamp of(uint32_t core, uint32_t pipe, uint32_t epoch, bool isAtomic = false) {
    return {static_cast<uint64_t>(core + 1) << 36 | static_cast<uint64_t>(pipe) << 32 |
            static_cast<uint64_t>(isAtomic) << 31 | (epoch & 0x7fffffffu)};
  }
  bool isSet() const { return word != 0; }
  uint32_t core() const { return static_cast<uint32_t>(word >> 36) - 1; }
  uint32_t pipe() const { return word >> 32 & 15; }
  uint32_t epoch() const { return word & 0x7fffffffu; }
  bool isAtomic() const { return word >> 31 & 1; }
};

struct GmLine {
  Stamp writer;
  Stamp readers[2];  // of different cores
  uint64_t mask;     // bytes that `writer` wrote
};

struct OldWriter { Stamp writer; uint64_t mask; };

struct GmRecord {
  char* start;
  uint64_t bytes;
  std::string name;
  // Zeroed, and untouched pages of it take no memory; null until the first access.
  std::unique_ptr<GmLine[], void (*)(void*)> lines{nullptr, std::free};
  uint64_t lineBase;  // address / 64 of the first line
  // Lines that several cores wrote side by side: the earlier ones.
  std::unordered_map<uint64_t, std::vector<OldWriter>> shared;
};

struct GmAccess {
  const void* start;
  uint64_t bytes;
  bool isWrite;
  bool isAtomic;
  const void* data;  // what a write brings, to tell a harmless double write; may be null
};

GmRecord* gmFind(const void* address);
GmRecord* gmNamed(const std::string& name);
uint64_t gmBytes();
std::string nearestRecord(const void* address);  // ", n bytes past the end of x", or nothing
// How many of the bytes from `start` lie in the record that holds it.
uint64_t gmRoom(const GmRecord& record, const void* start);
// Notes an access of a pipe and reports unordered ones. All of it lies in `record`.
void gmTouch(GmRecord& record, const GmAccess& access, Pipe pipe, const char* api);
// Checks a range of a copy: reports what is out of bounds and notes the rest. Returns how many
// bytes may be moved.
uint64_t gmRange(Instruction& run, const GmAccess& access);
// Whether `core` knows that the access `stamp` is finished, as seen from one of its pipes.
bool coreSees(const Core& core, Pipe pipe, Stamp stamp);

}  // namespace kw
