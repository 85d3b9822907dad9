"""half, bfloat16_t and int4b_t of the scalar unit: rounding, and the types of expressions."""

from __future__ import annotations

import numpy as np

KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
static_assert(std::is_same_v<decltype(half(1) + half(2)), half>);
static_assert(std::is_same_v<decltype(half(1) * 2), half>);
static_assert(std::is_same_v<decltype(2 - half(1)), half>);
static_assert(std::is_same_v<decltype(half(1) + 2.0f), float>);
static_assert(std::is_same_v<decltype(-bfloat16_t(1)), bfloat16_t>);
static_assert(half(2.5) > half(2) && half(0.5f) < 1.0f && half(3) == 3 && !(half(1) != 1.0f));
constexpr half kThird = 1.0f / 3.0f;
extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR h, GM_ADDR b, GM_ADDR r) {
  GlobalTensor<double> xGm;
  GlobalTensor<half> hGm;
  GlobalTensor<bfloat16_t> bGm;
  GlobalTensor<float> rGm;
  xGm.SetGlobalBuffer((__gm__ double*)x);
  hGm.SetGlobalBuffer((__gm__ half*)h);
  bGm.SetGlobalBuffer((__gm__ bfloat16_t*)b);
  rGm.SetGlobalBuffer((__gm__ float*)r);
  for (int i = 0; i < 512; ++i) {
    hGm.SetValue(i, half(xGm.GetValue(i)));
    bGm.SetValue(i, bfloat16_t(xGm.GetValue(i)));
  }
  half sum = 2048;
  sum += half(1);
  sum = sum + 1;
  int4b_t four = -3;
  float results[] = {sum, kThird, half(65520), half(70000), (float)(int)half(-2.5f), (float)four,
                     half(2049) / half(2), bfloat16_t(257)};
  for (int i = 0; i < 8; ++i) rGm.SetValue(i, results[i]);
}
"""


def _bfloat16(values: np.ndarray) -> np.ndarray:
    """By the definition: the nearer of the two neighbours, the even one of a tie."""
    low = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint32)
    best = low.copy()
    for step in (-1, 1):
        other = (low.astype(np.int64) + step).astype(np.uint32)
        near = np.abs((best << 16).view(np.float32).astype(float) - values)
        far = np.abs((other << 16).view(np.float32).astype(float) - values)
        best = np.where((far < near) | ((far == near) & (other % 2 == 0)), other, best)
    return best.astype(np.uint16)


def test_conversions_round_once_to_nearest_even_and_expressions_have_the_devices_types(compiled):
    rng = np.random.default_rng(9)
    x = rng.normal(size=512) * 10.0 ** rng.integers(-4, 4, 512)
    # Just beside a tie: rounded to float first, they would fall to the wrong side.
    x[:4] = [1 + 2**-11 + 2**-40, 1 + 2**-8 + 2**-40, -(1 + 2**-8 - 2**-40), 1 + 3 * 2**-8]
    zeros = np.zeros(512, np.uint16)
    ran = compiled(KERNEL, parameters=4).run(x, zeros, zeros, np.zeros(8, np.float32))
    assert not ran.errors
    np.testing.assert_array_equal(ran.arrays[1].view(np.float16), x.astype(np.float16))
    np.testing.assert_array_equal(ran.arrays[2], _bfloat16(x))
    want = [2048, np.float16(1 / 3), np.inf, np.inf, -2, -3, 1024, 256]
    assert ran.arrays[3].tolist() == want
