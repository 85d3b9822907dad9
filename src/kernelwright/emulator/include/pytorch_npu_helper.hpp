#pragma once
#include "kw/torch_exec.h"
#include "torch/extension.h"
#include "torch/library.h"
#include "kw/torch_npu_stream.h"
#include "acl/acl.h"
