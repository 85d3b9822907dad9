// Precompiled for bindings.
#pragma once
#include "torch/extension.h"
#include "torch/library.h"
#include "pytorch_npu_helper.hpp"
