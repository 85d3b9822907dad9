"""Which cores a kernel with the Matmul API runs on."""

from __future__ import annotations

import numpy as np

KERNEL = """
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
typedef matmul::MatmulType<TPosition::GM, CubeFormat::ND, float> Type;
extern "C" __global__ __aicore__ void kernel(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR seen,
                                             GM_ADDR tiling) {
  TPipe pipe;
  TCubeTiling plan;
  auto* from = reinterpret_cast<__gm__ int32_t*>(tiling);
  auto* to = reinterpret_cast<int32_t*>(&plan);
  for (uint32_t i = 0; i < sizeof(plan) / sizeof(int32_t); ++i) to[i] = from[i];
  matmul::Matmul<Type, Type, Type> product;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, &plan);
  GlobalTensor<float> left, right, out;
  GlobalTensor<int32_t> mark;
  mark.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(seen));
  const uint32_t me = GetBlockIdx();
  mark.SetValue(me * 16, 1 + GetBlockNum());
  const uint32_t rows = plan.singleCoreM;
  left.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(a) + me * rows * plan.Ka);
  right.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(b));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c) + me * rows * plan.N);
  product.SetTensorA(left);
  product.SetTensorB(right);
  product.IterateAll(out);
  product.End();
}
"""

FIELDS = ("usedCoreNum", "M", "N", "Ka", "Kb", "singleCoreM", "singleCoreN", "singleCoreK",
          "baseM", "baseN", "baseK")  # fmt: skip
SIZES = (4, 64, 32, 48, 48, 16, 32, 48, 16, 16, 16)


def test_a_kernel_with_the_matmul_api_has_two_vector_cores_to_a_block(compiled) -> None:
    """Vector cores count through all blocks, the cube core serves them."""
    plan = np.zeros(256, np.int32)
    plan[: len(SIZES)] = SIZES
    rng = np.random.default_rng(3)
    a = rng.standard_normal((64, 48), np.float32)
    b = rng.standard_normal((48, 32), np.float32)
    c, seen = np.zeros((64, 32), np.float32), np.zeros((8, 16), np.int32)
    kernel = compiled(KERNEL, parameters=5)
    ran = kernel.run(a, b, c, seen, plan, blocks=2, uses_matmul=True)
    assert ran.errors == []
    assert ran.report["task_type"] == "MIX_AIC_1_2"
    assert ran.arrays[3][:, 0].tolist() == [3, 3, 3, 3, 0, 0, 0, 0]
    np.testing.assert_allclose(ran.arrays[2], a @ b, rtol=1e-4, atol=1e-4)
