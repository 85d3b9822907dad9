"""Many calls in one kernel: the fourth operand says which one runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

COUNT = 512

_TEXT = """
#include "kernel_operator.h"
using namespace AscendC;
using T = ELEMENT;
constexpr uint32_t n = 512;

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR which) {
  GlobalTensor<T> xGm, yGm;
  GlobalTensor<uint8_t> zGm;
  GlobalTensor<int32_t> whichGm;
  xGm.SetGlobalBuffer((__gm__ T*)x);
  yGm.SetGlobalBuffer((__gm__ T*)y);
  zGm.SetGlobalBuffer((__gm__ uint8_t*)z);
  whichGm.SetGlobalBuffer((__gm__ int32_t*)which);
  TPipe pipe;
  TBuf<TPosition::VECCALC> bufA, bufB, bufC, bufW;
  pipe.InitBuffer(bufA, n * sizeof(T));
  pipe.InitBuffer(bufB, n * sizeof(T));
  pipe.InitBuffer(bufC, 4096);
  pipe.InitBuffer(bufW, 8192);
  LocalTensor<T> a = bufA.Get<T>(), b = bufB.Get<T>(), c = bufC.Get<T>(), w = bufW.Get<T>();
  LocalTensor<uint8_t> bytes = bufW.Get<uint8_t>();
  DataCopy(a, xGm, n);
  DataCopy(b, yGm, n);
  PipeBarrier<PIPE_ALL>();
  Duplicate(bufC.Get<int16_t>(), (int16_t)0, 2048);
  PipeBarrier<PIPE_ALL>();
  switch (whichGm.GetValue(0)) {
CASES
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(zGm, bufC.Get<uint8_t>(), 4096);
}
"""


@dataclass(frozen=True)
class Case:
    """One call, what it should give, and how near (relative and absolute)."""

    name: str
    body: str
    want: Callable[..., Any]
    near: float = 0.0
    result: str = ""  # numpy dtype of the result; that of the operands if empty


def source(element: str, cases: Sequence[Case]) -> str:
    """The kernel that holds all cases, for one element type."""
    text = "\n".join(f"  case {i}: {{ {case.body} break; }}" for i, case in enumerate(cases))
    return _TEXT.replace("ELEMENT", element).replace("CASES", text)


def check(kernel: Any, index: int, case: Case, x: Any, y: Any) -> None:
    """Run one case; it agrees with numpy and breaks no rule."""
    out = np.zeros(4096, np.uint8)
    ran = kernel.run(x, y, out, np.array([index] * 8, np.int32), names="xyz")
    assert not ran.errors, ran.errors
    with np.errstate(all="ignore"):
        want = np.asarray(case.want(x, y))
    want = want.astype(case.result or x.dtype)
    got = ran.arrays[2].view(want.dtype)[: want.size].reshape(want.shape)
    if case.near == 0.0:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=case.near, atol=case.near)
