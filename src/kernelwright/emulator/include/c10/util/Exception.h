#pragma once
#include "kw/torch_check.h"
