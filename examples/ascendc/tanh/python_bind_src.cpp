#include <torch/extension.h>
#include <torch/library.h>

#include "pytorch_npu_helper.hpp"

at::Tensor tanh_example(const at::Tensor& x)
{
    TORCH_CHECK(x.scalar_type() == at::kFloat, "x must be float32");
    at::Tensor y = at::empty_like(x);
    EXEC_NPU_CMD(aclnnTanhExample, x, y);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("tanh_example", &tanh_example, "tanh of every element");
}
