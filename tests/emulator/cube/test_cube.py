"""The cube unit by its own instructions: layouts, products, and what Fixpipe makes of them."""

from __future__ import annotations

import numpy as np
import pytest

_HEAD = """
#include "kernel_operator.h"
using namespace AscendC;
"""

# C = A (32 x 64) x B (64 x 48), both in half, through queues as kernels do it.
_PRODUCT = (
    _HEAD
    + """
constexpr uint16_t m = 32, k = 64, n = 48, mb = 2, kb = 4, nb = 3;
extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR w) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  GlobalTensor<half> xGm, yGm;
  GlobalTensor<OUT> zGm;
  GlobalTensor<float> biasGm;
  xGm.SetGlobalBuffer((__gm__ half*)x);
  yGm.SetGlobalBuffer((__gm__ half*)y);
  zGm.SetGlobalBuffer((__gm__ OUT*)z);
  biasGm.SetGlobalBuffer((__gm__ float*)w);
  TPipe pipe;
  TQue<TPosition::A1, 1> a1Q; TQue<TPosition::B1, 1> b1Q; TQue<TPosition::C1, 1> c1Q;
  TQue<TPosition::A2, 1> a2Q; TQue<TPosition::B2, 1> b2Q; TQue<TPosition::C2, 1> c2Q;
  TQue<TPosition::CO1, 1> cQ;
  pipe.InitBuffer(a1Q, 1, m * k * 2); pipe.InitBuffer(b1Q, 1, k * n * 2);
  pipe.InitBuffer(a2Q, 1, m * k * 2); pipe.InitBuffer(b2Q, 1, k * n * 2);
  pipe.InitBuffer(c1Q, 1, 256); pipe.InitBuffer(c2Q, 1, 256);
  pipe.InitBuffer(cQ, 1, m * n * 4);
  {
    LocalTensor<half> a1 = a1Q.AllocTensor<half>(), b1 = b1Q.AllocTensor<half>();
    DataCopy(a1, xGm, Nd2NzParams(1, m, k, 0, k, m, 1, 0));
    DataCopy(b1, yGm, Nd2NzParams(1, k, n, 0, n, k, 1, 0));
    a1Q.EnQue(a1); b1Q.EnQue(b1);
    LocalTensor<float> c1 = c1Q.AllocTensor<float>();
    DataCopy(c1, biasGm, n);
    c1Q.EnQue(c1);
  }
  {
    LocalTensor<half> a1 = a1Q.DeQue<half>(), b1 = b1Q.DeQue<half>();
    LocalTensor<half> a2 = a2Q.AllocTensor<half>(), b2 = b2Q.AllocTensor<half>();
    LOADS
    a2Q.EnQue(a2); b2Q.EnQue(b2);
    a1Q.FreeTensor(a1); b1Q.FreeTensor(b1);
    LocalTensor<float> c1 = c1Q.DeQue<float>(), c2 = c2Q.AllocTensor<float>();
    DataCopy(c2, c1, n);
    c2Q.EnQue(c2); c1Q.FreeTensor(c1);
  }
  {
    LocalTensor<half> a2 = a2Q.DeQue<half>(), b2 = b2Q.DeQue<half>();
    LocalTensor<float> c2 = c2Q.DeQue<float>(), c = cQ.AllocTensor<float>();
    MmadParams params;
    params.m = m; params.n = n; params.k = k;
    MULTIPLY
    cQ.EnQue(c); a2Q.FreeTensor(a2); b2Q.FreeTensor(b2); c2Q.FreeTensor(c2);
  }
  LocalTensor<float> c = cQ.DeQue<float>();
  STORE
  cQ.FreeTensor(c);
}
"""
)
_BY_FRACTALS = """
    for (int i = 0; i < mb; ++i) {
      LoadData2DParams p; p.repeatTimes = kb; p.srcStride = mb;
      LoadData(a2[i * kb * 256], a1[i * 256], p);
    }
    for (int i = 0; i < kb; ++i) {
      LoadData2DParams p; p.repeatTimes = nb; p.srcStride = kb; p.ifTranspose = true;
      LoadData(b2[i * nb * 256], b1[i * 256], p);
    }
"""
_BY_SQUARES = """
    for (int i = 0; i < mb; ++i) {
      LoadData2DParams p; p.repeatTimes = kb; p.srcStride = mb;
      LoadData(a2[i * kb * 256], a1[i * 256], p);
    }
    for (int i = 0; i < kb; ++i) {
      LoadData2dTransposeParams p; p.repeatTimes = nb; p.srcStride = kb;
      LoadDataWithTranspose(b2[i * nb * 256], b1[i * 256], p);
    }
"""
# A and B as images of one row: their patches of 1 x 1 are the matrices themselves.
_BY_PATCHES = """
    LoadData3DParamsV2<half> p;
    p.l1H = 1; p.l1W = m; p.channelSize = k; p.kExtension = k; p.mExtension = m;
    LoadData(a2, a1, p);
    p.l1W = k; p.channelSize = n; p.kExtension = n; p.mExtension = k;
    LoadData(b2, b1, p);
"""
_PLAIN = "Mmad(c, a2, b2, params);"
_FIX = "FixpipeParamsV220 f; f.nSize = n; f.mSize = m; f.srcStride = m; f.dstStride = n;"
_F32 = ("float", np.float32)


def _operands() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    x = rng.integers(-4, 5, (32, 64)).astype(np.float16)
    y = rng.integers(-4, 5, (64, 48)).astype(np.float16)
    return x, y, rng.integers(-9, 9, 48).astype(np.float32)


def _nz(matrix: np.ndarray, width: int) -> np.ndarray:
    rows, columns = matrix.shape
    return matrix.reshape(rows, columns // width, width).transpose(1, 0, 2)


CASES = {
    "by fractals": (_BY_FRACTALS, _PLAIN, _F32, _FIX + "Fixpipe(zGm, c, f);", lambda p, b: p),
    "by squares": (_BY_SQUARES, _PLAIN, _F32, _FIX + "Fixpipe(zGm, c, f);", lambda p, b: p),
    "by patches": (_BY_PATCHES, _PLAIN, _F32, _FIX + "Fixpipe(zGm, c, f);", lambda p, b: p),
    "a bias in C2": (
        _BY_FRACTALS, "Mmad(c, a2, b2, c2, params);", _F32, _FIX + "Fixpipe(zGm, c, f);",
        lambda p, b: p + b),
    "added to what is there": (
        _BY_FRACTALS,
        "Mmad(c, a2, b2, params); PipeBarrier<PIPE_M>(); params.cmatrixInitVal = false;"
        "Mmad(c, a2, b2, params);", _F32, _FIX + "Fixpipe(zGm, c, f);", lambda p, b: 2 * p),
    "half and ReLU": (
        _BY_FRACTALS, _PLAIN, ("half", np.float16),
        _FIX + "f.quantPre = QuantMode_t::F322F16; f.reluEn = true; Fixpipe(zGm, c, f);",
        lambda p, b: np.maximum(p, 0)),
    "bytes": (
        _BY_FRACTALS, _PLAIN, ("int8_t", np.int8),
        _FIX + "float s = 0.5f; uint32_t bits; memcpy(&bits, &s, 4); f.deqScalar = bits;"
        "f.quantPre = QuantMode_t::QF322B8_PRE; Fixpipe(zGm, c, f);",
        lambda p, b: np.clip(np.rint(p * 0.5), -128, 127)),
    "columns in blocks": (
        _BY_FRACTALS, _PLAIN, _F32,
        _FIX + "f.dstStride = m * 2; Fixpipe<float, float, CFG_NZ>(zGm, c, f);",
        lambda p, b: _nz(p, 16)),
    "columns in narrow blocks": (
        _BY_FRACTALS, _PLAIN, _F32,
        _FIX + "f.dstStride = m; f.isChannelSplit = true;"
        "Fixpipe<float, float, CFG_NZ>(zGm, c, f);", lambda p, b: _nz(p, 8)),
    "DataCopy from CO1": (
        _BY_FRACTALS, _PLAIN, ("half", np.float16),
        "SetFixpipeNz2ndFlag(1, 0, 0); DataCopyCO12DstParams d; d.nSize = n; d.mSize = m;"
        "d.srcStride = m; d.dstStride = n; d.nz2ndEn = true; d.quantPre = QuantMode_t::F322F16;"
        "DataCopy(zGm, c, d);", lambda p, b: p),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CASES))
def test_a_product_goes_through_the_cubes_memories(compiled, name):
    loads, product, (element, dtype), store, want = CASES[name]
    source = _PRODUCT.replace("OUT", element).replace("LOADS", loads)
    source = source.replace("MULTIPLY", product).replace("STORE", store)
    x, y, bias = _operands()
    ran = compiled(source, parameters=4).run(x, y, np.zeros((32, 48), dtype), bias)
    assert not ran.faults, [fault.text for fault in ran.faults]
    wanted = want(x.astype(np.float32) @ y.astype(np.float32), bias).astype(dtype)
    np.testing.assert_array_equal(ran.arrays[2].reshape(wanted.shape), wanted)


_EXPLICIT = (
    _HEAD
    + """
template <HardEvent e> void order() { SetFlag<e>(EVENT_ID0); WaitFlag<e>(EVENT_ID0); }
extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  GlobalTensor<IN> xGm, yGm;
  GlobalTensor<OUT> zGm;
  xGm.SetGlobalBuffer((__gm__ IN*)x);
  yGm.SetGlobalBuffer((__gm__ IN*)y);
  zGm.SetGlobalBuffer((__gm__ OUT*)z);
  TPipe pipe;
  TBuf<TPosition::A1> l1; TBuf<TPosition::A2> l0a; TBuf<TPosition::B2> l0b;
  TBuf<TPosition::CO1> l0c;
  pipe.InitBuffer(l1, 65536); pipe.InitBuffer(l0a, 16384); pipe.InitBuffer(l0b, 16384);
  pipe.InitBuffer(l0c, 65536);
  LocalTensor<IN> a1 = l1.Get<IN>(), b1 = a1[32768 / sizeof(IN)];
  LocalTensor<IN> a2 = l0a.Get<IN>(), b2 = l0b.Get<IN>();
  LocalTensor<ACC> c = l0c.Get<ACC>();
  BODY
}
"""
)


def _explicit(body: str, element: str, accumulator: str, out: str) -> str:
    text = _EXPLICIT.replace("BODY", body).replace("IN*", f"{element}*")
    text = text.replace("<IN>", f"<{element}>").replace("(IN)", f"({element})")
    return text.replace("ACC", accumulator).replace("OUT", out)


def test_bytes_are_turned_in_squares_of_32(compiled):
    body = """
  DataCopy(a1, xGm, Nd2NzParams(1, 16, 64, 0, 64, 16, 1, 0));
  DataCopy(b1, yGm, Nd2NzParams(1, 64, 32, 0, 32, 64, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData2DParams p; p.repeatTimes = 2; p.srcStride = 1;
  LoadData(a2, a1, p);
  LoadData2dTransposeParams t; t.repeatTimes = 2; t.srcStride = 1; t.dstGap = 1;
  LoadDataWithTranspose(b2, b1, t);
  order<HardEvent::MTE1_M>();
  Mmad(c, a2, b2, MmadParams(16, 32, 64));
  order<HardEvent::M_FIX>();
  Fixpipe(zGm, c, FixpipeParamsV220(32, 16, 16, 32, false));
"""
    rng = np.random.default_rng(6)
    x, y = rng.integers(-99, 99, (16, 64), np.int8), rng.integers(-99, 99, (64, 32), np.int8)
    kernel = compiled(_explicit(body, "int8_t", "int32_t", "int32_t"), parameters=3)
    ran = kernel.run(x, y, np.zeros((16, 32), np.int32))
    assert not ran.errors
    np.testing.assert_array_equal(ran.arrays[2], x.astype(np.int32) @ y.astype(np.int32))


_UNEVEN = """
  DataCopy(a1, xGm, Nd2NzParams(1, 20, 24, 0, 24, 32, 1, 0));
  DataCopy(b1, yGm, Nd2NzParams(1, 40, 24, 0, 24, 48, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  for (int i = 0; i < 2; ++i) {
    LoadData2DParams p; p.repeatTimes = 3; p.srcStride = 2;
    LoadData(a2[i * 384], a1[i * 128], p);
  }
  LoadData2DParams p; p.repeatTimes = 9; p.srcStride = 1;
  LoadData(b2, b1, p);
  order<HardEvent::MTE1_M>();
  MmadParams params(20, 40, 24); params.unitFlag = UNIT;
  Mmad(c, a2, b2, params);
  FLAG
  FixpipeParamsV220 f(40, 20, 32, 40, false); f.unitFlag = UNIT;
  Fixpipe(zGm, c, f);
"""


@pytest.mark.parametrize(
    ("unit", "flag", "codes"),
    [("0", "order<HardEvent::M_FIX>();", set()), ("3", "", set()), ("0", "", {"RACE_RAW"})],
)
def test_uneven_sizes_and_the_order_of_product_and_fixpipe(compiled, unit, flag, codes):
    rng = np.random.default_rng(7)
    x = rng.integers(-4, 5, (20, 24)).astype(np.float32)
    y = rng.integers(-4, 5, (40, 24)).astype(np.float32)  # B transposed
    body = _UNEVEN.replace("UNIT", unit).replace("FLAG", flag)
    kernel = compiled(_explicit(body, "float", "float", "float"), parameters=3)
    ran = kernel.run(x, y, np.zeros((20, 40), np.float32))
    assert set(ran.codes) == codes
    np.testing.assert_array_equal(ran.arrays[2], x @ y.T)


def test_patches_of_a_convolution_are_padded(compiled):
    body = """
  DataCopy(a1, xGm, 1024);
  order<HardEvent::MTE2_MTE1>();
  LoadData3DParamsV2<half> p;
  p.l1H = 8; p.l1W = 8; p.channelSize = 16; p.kExtension = 144; p.mExtension = 16;
  p.filterW = 3; p.filterH = 3; p.strideW = 2; p.strideH = 2;
  for (int i = 0; i < 4; ++i) p.padList[i] = 1;
  LoadData(a2, a1, p);
  InitConstValue(b2, InitConstValueParams<half>(9, half(1)));
  order<HardEvent::MTE1_M>();
  Mmad(c, a2, b2, MmadParams(16, 16, 144));
  order<HardEvent::M_FIX>();
  Fixpipe(zGm, c, FixpipeParamsV220(16, 16, 16, 16, false));
"""
    x = np.random.default_rng(8).integers(-4, 5, (8, 8, 16)).astype(np.float16)
    kernel = compiled(_explicit(body, "half", "float", "float"), parameters=3)
    ran = kernel.run(x, x, np.zeros((16, 16), np.float32))
    assert not ran.errors
    wide = np.pad(x.astype(np.float32).sum(2), 1)
    sums = [wide[i : i + 3, j : j + 3].sum() for i in range(0, 8, 2) for j in range(0, 8, 2)]
    np.testing.assert_array_equal(ran.arrays[2], np.repeat(np.array(sums)[:, None], 16, 1))


def test_rows_become_blocks_and_blocks_rows(compiled):
    body = """
  TBuf<TPosition::VECCALC> ub;
  pipe.InitBuffer(ub, 8192);
  LocalTensor<half> u = ub.Get<half>();
  DataCopy(u, xGm, Nd2NzParams(1, 16, 64, 0, 64, 16, 1, 0));
  order<HardEvent::MTE2_MTE3>();
  DataCopy(zGm, u, Nz2NdParamsFull(1, 16, 64, 1, 16, 64, 1));
"""
    x = np.arange(1024, dtype=np.float16).reshape(16, 64)
    source = _explicit(body, "half", "float", "half").replace("TYPE_AIC_ONLY", "TYPE_AIV_ONLY")
    ran = compiled(source, parameters=3).run(x, x, np.zeros_like(x))
    assert not ran.errors
    np.testing.assert_array_equal(ran.arrays[2], x)


def test_a_vector_core_has_no_cube_unit(compiled):
    body = "Mmad(c, a2, b2, MmadParams(16, 16, 16));"
    source = _explicit(body, "half", "float", "half").replace("TYPE_AIC_ONLY", "TYPE_AIV_ONLY")
    x = np.zeros(64, np.float16)
    assert "vector core" in compiled(source, parameters=3).run(x, x, x).only("NOT_EMULATED").text


def test_factors_of_two_types_are_refused(complaint):
    text = _HEAD + (
        "void f(LocalTensor<float> c, LocalTensor<half> a, LocalTensor<float> b) {"
        "Mmad(c, a, b, MmadParams(16, 16, 16)); }"
    )
    assert "one type" in complaint(text)
