// Precompiled for op_host sources.
#pragma once
#include "register/op_def_registry.h"
#include "tiling/tiling_api.h"
