#pragma once
#include "kw/torch_types.h"
