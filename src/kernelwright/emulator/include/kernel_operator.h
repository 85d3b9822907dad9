// The header that kernels include: the device API on the host.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kw/qualifiers.h"
#include "kw/enums.h"
#include "kw/constants.h"
#include "kw/params.h"
#include "kw/dtype.h"
#include "kw/local_tensor.h"
#include "kw/global_tensor.h"
#include "kw/launch.h"
#include "kw/queue.h"
#include "kw/pipe.h"
#include "kw/event.h"
#include "kw/mask.h"
#include "kw/data_copy.h"
#include "kw/data_copy_pad.h"
#include "kw/vector_binary.h"
#include "kw/tiling_macros.h"
