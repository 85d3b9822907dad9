#pragma once
#include "kw/torch_autograd.h"
