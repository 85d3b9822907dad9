"""The first family of vector instructions: what every other one is written after."""

from __future__ import annotations

import numpy as np

KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  constexpr uint32_t kTile = 1024;
  TPipe pipe;
  TQue<QuePosition::VECIN, 2> inX, inY;
  TQue<QuePosition::VECOUT, 2> out;
  GlobalTensor<float> xGm, yGm, zGm;
  xGm.SetGlobalBuffer((__gm__ float*)x + GetBlockIdx() * 4 * kTile, 4 * kTile);
  yGm.SetGlobalBuffer((__gm__ float*)y + GetBlockIdx() * 4 * kTile, 4 * kTile);
  zGm.SetGlobalBuffer((__gm__ float*)z + GetBlockIdx() * 4 * kTile, 4 * kTile);
  pipe.InitBuffer(inX, 2, kTile * sizeof(float));
  pipe.InitBuffer(inY, 2, kTile * sizeof(float));
  pipe.InitBuffer(out, 2, kTile * sizeof(float));
  for (uint32_t i = 0; i < 4; ++i) {
    LocalTensor<float> a = inX.AllocTensor<float>();
    LocalTensor<float> b = inY.AllocTensor<float>();
    DataCopy(a, xGm[i * kTile], kTile);
    DataCopy(b, yGm[i * kTile], kTile);
    inX.EnQue(a);
    inY.EnQue(b);
    a = inX.DeQue<float>();
    b = inY.DeQue<float>();
    LocalTensor<float> c = out.AllocTensor<float>();
    BODY
    out.EnQue(c);
    inX.FreeTensor(a);
    inY.FreeTensor(b);
    c = out.DeQue<float>();
    DataCopy(zGm[i * kTile], c, kTile);
    out.FreeTensor(c);
  }
}
"""


def run(compiled, body: str, **mode):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 2 * 4096)).astype(np.float32)
    z = np.zeros_like(x)
    kernel = compiled(KERNEL.replace("BODY", body), parameters=3)
    return x, y, kernel.run(x, y, z, names="xyz", **{"blocks": 2, **mode})


def test_a_double_buffered_add_of_two_blocks_is_right_and_without_fault(compiled):
    x, y, ran = run(compiled, "Add(c, a, b, kTile);")
    np.testing.assert_array_equal(ran.arrays[2], x + y)
    assert ran.faults == ()


def test_a_scalar_of_the_tensors_type_is_added_and_multiplied(compiled):
    x, _, ran = run(compiled, "Muls(c, a, 2.0f, kTile); Adds(c, c, 1.5f, kTile);")
    np.testing.assert_array_equal(ran.arrays[2], x * np.float32(2) + np.float32(1.5))


def test_a_double_scalar_on_a_float_tensor_does_not_compile(complaint):
    body = "Adds(c, a, 0.5, kTile);"
    assert "no matching function" in complaint(KERNEL.replace("BODY", body))
    assert complaint(KERNEL.replace("BODY", "Adds(c, a, 0.5f, kTile);")) == ""


def test_a_mask_of_lanes_leaves_the_other_lanes_alone(compiled):
    body = "Muls(c, a, 0.0f, kTile); Add(c, a, b, (uint64_t)3, 16, {1, 1, 1, 8, 8, 8});"
    x, y, ran = run(compiled, body)
    want = np.where(np.arange(x.size) % 64 < 3, x + y, 0)
    np.testing.assert_array_equal(ran.arrays[2], want)


def test_mask_bits_select_single_lanes(compiled):
    body = (
        "Muls(c, a, 0.0f, kTile); uint64_t mask[2] = {0x8000000000000005ull, 0};"
        "Sub(c, a, b, mask, 16, {1, 1, 1, 8, 8, 8});"
    )
    x, y, ran = run(compiled, body)
    lane = np.arange(x.size) % 64
    np.testing.assert_array_equal(ran.arrays[2], np.where(np.isin(lane, [0, 2, 63]), x - y, 0))


def test_repeat_strides_skip_and_repeat_blocks(compiled):
    """src1 repeats its first 256 bytes (stride 0); src0 takes every second block."""
    body = "Muls(c, a, 0.0f, kTile); Mul(c, a, b, (uint64_t)64, 8, {1, 2, 1, 8, 16, 0});"
    x, y, ran = run(compiled, body)
    tiles = x.reshape(-1, 1024)
    want = np.zeros_like(tiles)
    for repeat in range(8):
        blocks = tiles[:, repeat * 128 : repeat * 128 + 128].reshape(-1, 8, 2, 8)[:, :, 0]
        first = y.reshape(-1, 1024)[:, :64]
        want[:, repeat * 64 : repeat * 64 + 64] = blocks.reshape(-1, 64) * first
    np.testing.assert_array_equal(ran.arrays[2], want.ravel())
    assert ran.faults == ()


def test_counter_mode_takes_the_number_of_elements(compiled):
    body = (
        "Muls(c, a, 0.0f, kTile); SetMaskCount(); SetVectorMask<float, MaskMode::COUNTER>(0, 100);"
        "Add<float, false>(c, a, b, MASK_PLACEHOLDER, 1, {1, 1, 1, 8, 8, 8});"
        "SetMaskNorm(); ResetMask();"
    )
    x, y, ran = run(compiled, body)
    np.testing.assert_array_equal(ran.arrays[2], np.where(np.arange(x.size) % 1024 < 100, x + y, 0))


def test_a_fault_says_the_line_of_the_kernel(compiled):
    body = "Add(c, a, b[3], 64); /* here */ Muls(c, a, 0.0f, kTile);"
    _, _, ran = run(compiled, body)
    fault = ran.only("UB_MISALIGNED")
    source = KERNEL.replace("BODY", body)
    assert fault.line == next(
        n for n, text in enumerate(source.splitlines(), 1) if "/* here */" in text
    )
    assert fault.path.endswith("kernel.cpp") and fault.block == 0 and fault.pipe == "V"
