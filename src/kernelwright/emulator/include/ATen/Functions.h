#pragma once
#include "kw/torch_factories.h"
