#pragma once
#include "kw/torch_npu_stream.h"
