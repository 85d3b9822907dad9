#pragma once
#include "kw/torch_bind.h"
