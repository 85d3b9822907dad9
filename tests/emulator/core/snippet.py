"""Kernels around a few lines: two operands of floats, a pipe, queues of each side."""

from __future__ import annotations

_TEXT = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR z) {
  GlobalTensor<float> xGm, zGm;
  xGm.SetGlobalBuffer((__gm__ float*)x);
  zGm.SetGlobalBuffer((__gm__ float*)z);
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in;
  TQue<TPosition::VECOUT, 2> out;
  TBuf<TPosition::VECCALC> calc;
  BODY
}
"""

_QUEUES = """
  pipe.InitBuffer(in, 2, 1024);
  pipe.InitBuffer(out, 2, 1024);
  pipe.InitBuffer(calc, 1024);
"""


def kernel(body: str, *, queues: bool = True) -> str:
    """A kernel of 256 floats a buffer (`queues`), with `in`, `out`, `calc`, `xGm` and `zGm`."""
    return _TEXT.replace("BODY", (_QUEUES if queues else "") + body)
