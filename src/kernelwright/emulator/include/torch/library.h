#pragma once
#include "kw/torch_bind.h"
#include "kw/torch_factories.h"
