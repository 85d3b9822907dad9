// Order between cores: SyncAll and the cross-core flags.
#pragma once
#include <cstdint>
#include <string>
#include "core.h"

namespace kw {

class Launch;

constexpr uint32_t kCrossFlags = 16;

void beginCrossCore(Launch& launch);
// What the core that hangs waits for, in words.
std::string waitWords(Launch& launch, uint32_t index);
// Whether `core` knows that another core's pipe has finished `epoch`.
bool knowsOther(const Core& core, uint32_t other, uint32_t pipe, uint32_t epoch);

}  // namespace kw
