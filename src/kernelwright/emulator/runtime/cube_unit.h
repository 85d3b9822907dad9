// What the cube unit's instructions share.
#pragma once
#include "instruction.h"

namespace kw {

// Whether the running core has a cube unit; on a vector core the instruction does nothing.
bool isOnCubeCore(Instruction& run);

}  // namespace kw
