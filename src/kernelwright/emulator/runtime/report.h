// JSON of a launch's report.
#pragma once
#include <string>
#include "kw/abi.h"

namespace kw {

constexpr const char* kPipeLabels[kPipeCount] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};

std::string jsonText(const std::string& text);
// {"image": path, "offset": n} of an address in a loaded library, or null.
std::string jsonPlace(const void* pc);

}  // namespace kw
