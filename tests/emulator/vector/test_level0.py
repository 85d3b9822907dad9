"""Masks, repeats and strides of level-0 calls against a slow model, lane by lane."""

from __future__ import annotations

import numpy as np
import pytest

KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR params) {
  constexpr uint32_t n = 2048;
  GlobalTensor<float> xGm, yGm, zGm;
  GlobalTensor<uint64_t> p;
  xGm.SetGlobalBuffer((__gm__ float*)x);
  yGm.SetGlobalBuffer((__gm__ float*)y);
  zGm.SetGlobalBuffer((__gm__ float*)z);
  p.SetGlobalBuffer((__gm__ uint64_t*)params);
  TPipe pipe;
  TBuf<TPosition::VECCALC> bufA, bufB, bufC;
  pipe.InitBuffer(bufA, n * 4);
  pipe.InitBuffer(bufB, n * 4);
  pipe.InitBuffer(bufC, n * 4);
  LocalTensor<float> a = bufA.Get<float>(), b = bufB.Get<float>(), c = bufC.Get<float>();
  DataCopy(a, xGm, n);
  DataCopy(b, yGm, n);
  PipeBarrier<PIPE_ALL>();
  Duplicate(c, -9.0f, n);
  uint64_t mask[2] = {p.GetValue(0), 0};
  uint8_t times = p.GetValue(1), s[6];
  for (int i = 0; i < 6; ++i) s[i] = p.GetValue(2 + i);
  UnaryRepeatParams one(s[0], s[1], s[3], s[4]);
  BinaryRepeatParams two(s[0], s[1], s[2], s[3], s[4], s[5]);
  switch (p.GetValue(8)) {
    case 0: Max(c, a, b, mask, times, two); break;
    case 1: Abs(c, a, mask, times, one); break;
    case 2: Muls(c, a, 3.0f, mask, times, one); break;
    case 3: Duplicate(c, 5.0f, mask, times, s[0], s[3]); break;
    case 4: MulAddDst(c, a, b, mask, times, two); break;
    case 5: Relu(c, a, mask, times, one); break;
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(zGm, c, n);
}
"""
RULES = {
    "Max": lambda x, y, old: max(x, y),
    "Abs": lambda x, y, old: abs(x),
    "Muls": lambda x, y, old: x * np.float32(3),
    "Duplicate": lambda x, y, old: np.float32(5),
    "MulAddDst": lambda x, y, old: x * y + old,
    "Relu": lambda x, y, old: max(x, np.float32(0)),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("which", range(len(RULES)), ids=list(RULES))
def test_active_lanes_are_computed_and_the_others_kept(compiled, which, seed):
    rng = np.random.default_rng(100 * which + seed)
    x, y = rng.integers(-50, 50, (2, 2048)).astype(np.float32)
    mask, times = int(rng.integers(1, 2**63)), int(rng.integers(1, 5))
    blocks = [int(v) for v in rng.integers(1, 4, 3)]
    repeats = [8 * blocks[0], *(int(v) for v in rng.integers(0, 17, 2))]
    params = np.array([mask, times, *blocks, *repeats, which, *[0] * 7], np.uint64)
    want = np.full(2048, -9, np.float32)
    rule = list(RULES.values())[which]
    for repeat in range(times):
        for lane in (lane for lane in range(64) if mask >> lane & 1):
            at = [
                (repeat * step + lane // 8 * block) * 8 + lane % 8
                for step, block in zip(repeats, blocks, strict=True)
            ]
            want[at[0]] = rule(x[at[1]], y[at[2]], want[at[0]])
    ran = compiled(KERNEL, parameters=4).run(x, y, np.zeros_like(x), params)
    assert not ran.errors
    np.testing.assert_array_equal(ran.arrays[2], want)
