// Order between cores as the runtime library knows it.
#pragma once
#include "kw/abi.h"

namespace kw {

void crossSet(uint32_t mode, Pipe pipe, uint32_t flag);
void crossWait(Pipe pipe, uint32_t flag);
void syncAll(bool isVectorOnly);
void syncSome(uint32_t cores);  // the first so many cores that come

}  // namespace kw
