// The Matmul API.
#pragma once
#include "kw/matmul.h"
