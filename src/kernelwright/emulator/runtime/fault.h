// Faults of the launch in progress: what broke which rule, where, and by whom.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include "kw/abi.h"

namespace kw {

enum class FaultCode : uint16_t {
#define KW_FAULT(code, severity, title, rule, mend) code,
#include "faults.def"
#undef KW_FAULT
  kCount
};

// Where a fault happened. Without a pipe it is the whole core's.
struct FaultPlace {
  const void* pc = nullptr;     // return address into the kernel
  const void* other = nullptr;  // the other party's, for races: "{other}" in the message
  int pipe = -1;
  int block = -1;  // -1: the running core's
  int sub = 0;
};

struct Fault {
  FaultCode code;
  std::string message;
  FaultPlace place;
  uint32_t times = 1;
};

const char* faultName(FaultCode code);
const char* faultSeverity(FaultCode code);

class FaultLog {
 public:
  void clear() { faults_.clear(); dropped_ = 0; }
  // Adds a fault; one of the same code and place is counted, not repeated.
  void add(FaultCode code, const FaultPlace& place, const std::string& message);
  bool isKnown(FaultCode code, const FaultPlace& place);
  const std::vector<Fault>& faults() const { return faults_; }
  bool hasErrors() const;
  std::string json() const;

 private:
  static constexpr size_t kMost = 200;
  std::vector<Fault> faults_;
  uint64_t dropped_ = 0;
};

FaultLog& faultLog();

// printf-style message; cheap when the same fault is known already.
__attribute__((format(printf, 3, 4)))
void fault(FaultCode code, const FaultPlace& place, const char* format, ...);

}  // namespace kw
