#include "fault.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include "core.h"
#include "report.h"

namespace kw {

namespace {

struct CodeFacts { const char* name; const char* severity; };

constexpr CodeFacts kCodes[] = {
#define KW_FAULT(code, severity, title, rule, mend) {#code, #severity},
#include "faults.def"
#undef KW_FAULT
};

const CodeFacts& facts(FaultCode code) { return kCodes[static_cast<size_t>(code)]; }

}  // namespace

const char* faultName(FaultCode code) { return facts(code).name; }
const char* faultSeverity(FaultCode code) { return facts(code).severity; }

FaultLog& faultLog() {
  static FaultLog log;
  return log;
}

bool FaultLog::isKnown(FaultCode code, const FaultPlace& place) {
  for (Fault& known : faults_) {
    if (known.code == code && known.place.pc == place.pc && known.place.pipe == place.pipe) {
      known.times++;
      return true;
    }
  }
  if (faults_.size() >= kMost) {
    dropped_++;
    return true;
  }
  return false;
}

void FaultLog::add(FaultCode code, const FaultPlace& place, const std::string& message) {
  faults_.push_back({code, message, place});
}

bool FaultLog::hasErrors() const {
  for (const Fault& known : faults_) {
    if (std::strcmp(faultSeverity(known.code), "error") == 0) return true;
  }
  return false;
}

void fault(FaultCode code, const FaultPlace& where, const char* format, ...) {
  FaultPlace place = where;
  const Core* core = runningCore();
  if (core != nullptr) {
    if (place.pc == nullptr) place.pc = core->pc;
    if (place.block < 0) {
      place.block = static_cast<int>(core->block);
      place.sub = static_cast<int>(core->sub);
    }
  }
  if (faultLog().isKnown(code, place)) return;
  char text[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  faultLog().add(code, place, text);
}

std::string FaultLog::json() const {
  std::string out = "[";
  for (const Fault& known : faults_) {
    if (out.size() > 1) out += ",";
    out += "{\"code\":" + jsonText(faultName(known.code)) +
           ",\"severity\":" + jsonText(faultSeverity(known.code)) +
           ",\"message\":" + jsonText(known.message) +
           ",\"block\":" + std::to_string(known.place.block) +
           ",\"core\":" + std::to_string(known.place.sub) + ",\"pipe\":" +
           jsonText(known.place.pipe < 0 ? "" : kPipeLabels[known.place.pipe]) +
           ",\"times\":" + std::to_string(known.times) + ",\"at\":" + jsonPlace(known.place.pc) +
           ",\"other\":" + jsonPlace(known.place.other) + "}";
  }
  return out + "]";
}

}  // namespace kw
