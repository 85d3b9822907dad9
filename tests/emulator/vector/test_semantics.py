"""Each vector call against numpy, on signed and special values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.emulator.vector.bench import COUNT, Case, check, source

F = np.float32


def _level2(name: str, want: Any, near: float = 0.0) -> Case:
    return Case(name, f"{name}(c, a, n);", want, near)


def _pair(name: str, want: Any, near: float = 0.0) -> Case:
    return Case(name, f"{name}(c, a, b, n);", want, near)


def _math(name: str, want: Any, near: float = 3e-6) -> Case:
    return Case(name, f"{name}(c, a, n);", want, near)


def _each(function: Any) -> Any:
    return lambda x, _: np.array([function(float(v)) for v in x], F)


FLOATING = [
    _level2("Exp", lambda x, _: np.exp(x.astype(F)), 1e-3),
    _level2("Ln", lambda x, _: np.log(x.astype(F)), 1e-3),
    _level2("Abs", lambda x, _: np.abs(x)),
    _level2("Reciprocal", lambda x, _: 1 / x.astype(F), 1e-3),
    _level2("Sqrt", lambda x, _: np.sqrt(x.astype(F)), 1e-3),
    _level2("Rsqrt", lambda x, _: 1 / np.sqrt(x.astype(F)), 1e-3),
    _level2("Relu", lambda x, _: np.where(np.isnan(x), x, np.maximum(x, 0))),
    _pair("Add", lambda x, y: x + y),
    _pair("Sub", lambda x, y: x - y),
    _pair("Mul", lambda x, y: x * y),
    _pair("Div", lambda x, y: x / y, 1e-3),
    _pair("Max", lambda x, y: np.maximum(x, y)),
    _pair("Min", lambda x, y: np.minimum(x, y)),
    _pair("AddRelu", lambda x, y: np.maximum(x + y, 0)),
    _pair("SubRelu", lambda x, y: np.maximum(x - y, 0)),
    Case("Adds", "Adds(c, a, (T)1.5f, n);", lambda x, _: x + x.dtype.type(1.5)),
    Case("Muls", "Muls(c, a, (T)-2.5f, n);", lambda x, _: x * x.dtype.type(-2.5)),
    Case("Maxs", "Maxs(c, a, (T)0.25f, n);", lambda x, _: np.maximum(x, x.dtype.type(0.25))),
    Case("Mins", "Mins(c, a, (T)0.25f, n);", lambda x, _: np.minimum(x, x.dtype.type(0.25))),
    Case("LeakyRelu", "LeakyRelu(c, a, (T)0.5f, n);",
         lambda x, _: np.where(x > 0, x, x * x.dtype.type(0.5))),
    Case("Duplicate", "Duplicate(c, (T)2.5f, n);", lambda x, _: np.full_like(x, 2.5)),
    Case("Axpy", "Adds(c, b, (T)0.0f, n); Axpy(c, a, (T)2.0f, n);",
         lambda x, y: y.astype(F) + 2 * x.astype(F), 1e-3),
    Case("MulAddDst", "Adds(c, b, (T)0.0f, n); MulAddDst(c, a, b, n);",
         lambda x, y: y.astype(F) + x.astype(F) * y, 2e-2),
    Case("FusedMulAdd", "Adds(c, b, (T)0.0f, n); FusedMulAdd(c, a, b, n);",
         lambda x, y: y.astype(F) * x.astype(F) + y, 2e-2),
    Case("FusedMulAddRelu", "Adds(c, b, (T)0.0f, n); FusedMulAddRelu(c, a, b, n);",
         lambda x, y: np.maximum(y.astype(F) * x.astype(F) + y, 0), 2e-2),
    Case("CompareScalar", "LocalTensor<uint8_t> m = c.template ReinterpretCast<uint8_t>();"
         "CompareScalar(m, a, (T)0.5f, CMPMODE::GT, n);",
         lambda x, _: np.packbits(x > 0.5, bitorder="little"), result="uint8"),
    Case("Select", "LocalTensor<uint8_t> m = bytes; Compare(m, a, b, CMPMODE::LT, n);"
         "Select(c, m, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);",
         lambda x, y: np.where(x < y, x, y)),
    Case("Copy", "CopyRepeatParams p{1, 1, 8, 8};"
         "Copy(c, a, (uint64_t)(256 / sizeof(T)), n * sizeof(T) / 256, p);", lambda x, _: x),
    Case("Brcb", "Brcb(c, a, 1, {1, 8});",
         lambda x, _: np.repeat(x[:8], 32 // x.itemsize)),
    Case("ArithProgression", "ArithProgression(c, (T)1.0f, (T)2.0f, 100);",
         lambda x, _: 1 + 2 * np.arange(100)),
    Case("CreateVecIndex", "CreateVecIndex(c, (T)3.0f, 100);", lambda x, _: 3 + np.arange(100)),
    Case("GatherMask", "GatherMaskParams p; p.src0BlockStride = 1; p.repeatTimes = 1;"
         "p.src0RepeatStride = 8; p.src1RepeatStride = 0; uint64_t kept = 0;"
         "GatherMask(c, a, 1, true, 256, p, kept);", lambda x, _: x[:256:2]),
    Case("Sort", "ArithProgression(bytes[4096].template ReinterpretCast<int32_t>(), 0, 1, n);"
         "LocalTensor<uint32_t> index = bytes[4096].template ReinterpretCast<uint32_t>();"
         "LocalTensor<T> sorted = bytes.template ReinterpretCast<T>(), work = c, joined;"
         "Concat(joined, a, work, n / 32);"
         "Sort<T, true>(sorted, joined, index, work, n / 32);"
         "Extract(c, index, sorted, n / 32);", lambda x, _: np.sort(x)[::-1]),
    Case("Sort32", "ArithProgression(bytes[4096].template ReinterpretCast<int32_t>(), 0, 1, n);"
         "LocalTensor<uint32_t> index = bytes[4096].template ReinterpretCast<uint32_t>();"
         "Sort32(w, a, index, n / 32); Extract(c, index, w, n / 32);",
         lambda x, _: np.sort(x.reshape(-1, 32), axis=1)[:, ::-1]),
    Case("MrgSort", "ArithProgression(bytes[6144].template ReinterpretCast<int32_t>(), 0, 1, 128);"
         "LocalTensor<uint32_t> index = bytes[6144].template ReinterpretCast<uint32_t>();"
         "Sort32(w, a, index, 4); uint16_t counts[4] = {32, 32, 32, 32}; uint32_t sorted[4];"
         "const uint32_t step = GetSortLen<T>(32);"
         "LocalTensor<T> merged = bytes[2048].template ReinterpretCast<T>();"
         "MrgSortSrcList<T> lists(w, w[GetSortOffset<T>(32)], w[2 * step], w[3 * step]);"
         "MrgSort<T>(merged, lists, counts, sorted, 15, 1); Extract(c, index, merged, 4);",
         lambda x, _: np.sort(x[:128])[::-1]),
    Case("BroadCast", "uint32_t to[2] = {16, 32}, from[2] = {1, 32};"
         "BroadCast<T, 2, 0>(c, a, to, from);", lambda x, _: np.tile(x[:32], 16)),
    Case("BroadCast_columns", "uint32_t to[2] = {16, 32}, from[2] = {16, 1};"
         "BroadCast<T, 2, 1>(c, a, to, from, bytes);", lambda x, _: np.repeat(x[:16], 32)),
    Case("Sum", "Sum(c, a, bytes, SumParams{8, 64, 60});",
         lambda x, _: x.astype(F).reshape(8, 64)[:, :60].sum(1), 2e-2),
    Case("Mean", "Mean(c, a, MeanParams{8, 64, 60});",
         lambda x, _: x.astype(F).reshape(8, 64)[:, :60].mean(1), 2e-3),
    Case("SoftMax", "SoftMaxTiling t{}; SoftMaxShapeInfo s{8, 64, 8, 64};"
         "LocalTensor<T> sum = w, top = w[1024];"
         "SoftMax<T>(c, sum, top, a, t, s);",
         lambda x, _: _softmax(x.astype(F).reshape(8, 64)), 1e-3),
    Case("LogSoftMax", "SoftMaxTiling t{}; t.srcM = 8; t.srcK = 64;"
         "LocalTensor<T> sum = w, top = w[1024]; LogSoftMax<T>(c, sum, top, a, t);",
         lambda x, _: np.log(_softmax(x.astype(F).reshape(8, 64))), 5e-3),
    Case("SoftmaxFlashV2", "SoftMaxTiling t{}; SoftMaxShapeInfo s{8, 64, 8, 64};"
         "LocalTensor<T> sum = w, top = w[512], scale = w[1024];"
         "SoftmaxFlashV2<T, false>(c, sum, top, b, scale, sum, top, t, s);"
         "SoftmaxFlashV2<T, true>(c, sum, top, a, scale, sum, top, t, s);"
         "Muls(c, sum, (T)1.0f, 8 * 32 / sizeof(T));",
         lambda x, y: np.repeat(_joint_sum(x, y), 32 // x.itemsize), 2e-2),
    Case("LayerNorm", "LayerNormTiling t{}; t.bLength = 1; t.sLength = 8; t.hLength = 64;"
         "LayerNorm<T>(c, w, w[512], a, b, b, bytes, (T)1e-3f, t);",
         lambda x, y: _norm(x, True) * y.astype(F)[:64] + y.astype(F)[:64], 2e-2),
    Case("RmsNorm", "RmsNormTiling t{}; t.bLength = 1; t.sLength = 8; t.hLength = 64;"
         "RmsNorm<T>(c, a, b, (T)1e-3f, t);",
         lambda x, y: _norm(x, False) * y.astype(F)[:64], 2e-2),
    Case("CumSum", "CumSumInfo i{8, 64}; CumSum<T>(c, w, a, i);",
         lambda x, _: np.cumsum(x.astype(F).reshape(8, 64), axis=1), 3e-2),
    Case("AscendQuant", "AscendQuant(c.template ReinterpretCast<int8_t>(), a, 10.0f, 1.0f, n);",
         lambda x, _: np.clip(np.rint(x.astype(F) * F(10) + F(1)), -128, 127), result="int8"),
]  # fmt: skip


def _softmax(x: Any) -> Any:
    raised = np.exp(x - x.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def _joint_sum(x: Any, y: Any) -> Any:
    both = np.concatenate([x.astype(F).reshape(8, 64), y.astype(F).reshape(8, 64)], 1)
    return np.exp(both - both.max(1, keepdims=True)).sum(1)


def _norm(x: Any, is_centred: bool) -> Any:
    rows = x.astype(F).reshape(8, 64)
    rows = rows - (rows.mean(1, keepdims=True) if is_centred else 0)
    return rows / np.sqrt((rows**2).mean(1, keepdims=True) + F(x.dtype.type(1e-3)))


MATH = [
    _math("Tanh", lambda x, _: np.tanh(x)),
    _math("Sigmoid", lambda x, _: 1 / (1 + np.exp(-x))),
    _math("Silu", lambda x, _: x / (1 + np.exp(-x))),
    _math("Gelu", lambda x, _: x / 2 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))),
    _math("FasterGelu", lambda x, _: x / (1 + np.exp(-1.702 * x))),
    _math("Erf", _each(math.erf)),
    _math("Erfc", _each(math.erfc)),
    _math("Sin", lambda x, _: np.sin(x)),
    _math("Cos", lambda x, _: np.cos(x)),
    _math("Tan", lambda x, _: np.tan(x), 1e-3),
    _math("Sinh", lambda x, _: np.sinh(x), 1e-5),
    _math("Cosh", lambda x, _: np.cosh(x), 1e-5),
    _math("Atan", lambda x, _: np.arctan(x)),
    _math("Asin", lambda x, _: np.arcsin(x)),
    _math("Acos", lambda x, _: np.arccos(x)),
    _math("Asinh", lambda x, _: np.arcsinh(x)),
    _math("Acosh", lambda x, _: np.arccosh(x)),
    _math("Atanh", lambda x, _: np.arctanh(x)),
    _math("Floor", lambda x, _: np.floor(x)),
    _math("Ceil", lambda x, _: np.ceil(x)),
    _math("Round", lambda x, _: np.rint(x)),
    _math("Trunc", lambda x, _: np.trunc(x)),
    _math("Frac", lambda x, _: x - np.trunc(x)),
    _math("Sign", lambda x, _: np.sign(x)),
    _math("Log", lambda x, _: np.log(x)),
    _math("Log2", lambda x, _: np.log2(x)),
    _math("Log10", lambda x, _: np.log10(x)),
    _math("Lgamma", _each(math.lgamma), 1e-5),
    Case("Swish", "Swish(c, a, n, 1.5f);", lambda x, _: x / (1 + np.exp(-1.5 * x)), 3e-6),
    Case("Power", "Power(c, a, b, n);", lambda x, y: np.power(x, y), 1e-4),
    Case("Fmod", "Fmod(c, a, b, n);", lambda x, y: np.fmod(x, y), 1e-5),
    Case("ClampMax", "ClampMax(c, a, 0.5f, n);", lambda x, _: np.minimum(x, F(0.5))),
    Case("ClampMin", "ClampMin(c, a, 0.5f, n);", lambda x, _: np.maximum(x, F(0.5))),
    Case("SwiGLU", "SwiGLU(c, a, b, 1.0f, n);", lambda x, y: x * y / (1 + np.exp(-y)), 1e-5),
    Case("ReGlu", "ReGlu(c, a, b, n);", lambda x, y: x * np.maximum(y, 0), 1e-6),
    Case("ReduceSum", "ReduceSum(c, a, w, n);", lambda x, _: [x.sum()], 1e-4),
    Case("ReduceMax", "ReduceMax(c, a, w, n, true);", lambda x, _: [x.max()]),
    Case("ReduceMin", "ReduceMin(c, a, w, n, true);", lambda x, _: [x.min()]),
    Case("ReduceMax_index", "ReduceMax(c, a, w, n, true); Adds(c.ReinterpretCast<int32_t>(),"
         "c.ReinterpretCast<int32_t>(), 0, 8);",
         lambda x, _: np.array([x.max().view(np.int32), x.argmax()]), result="int32"),
    Case("WholeReduceSum", "WholeReduceSum(c, a, 64, 8, 1, 1, 8);",
         lambda x, _: x.reshape(8, 64).sum(1), 1e-4),
    Case("RepeatReduceSum", "RepeatReduceSum(c, a, 8, 64, 1, 1, 1, 8);",
         lambda x, _: x.reshape(8, 64).sum(1), 1e-4),
    Case("WholeReduceMax", "WholeReduceMax(c, a, 64, 8, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);",
         lambda x, _: x.reshape(8, 64).max(1)),
    Case("WholeReduceMin", "WholeReduceMin(c, a, 64, 8, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);",
         lambda x, _: x.reshape(8, 64).min(1)),
    Case("BlockReduceSum", "BlockReduceSum(c, a, 8, 64, 1, 1, 8);",
         lambda x, _: x.reshape(-1, 8).sum(1), 1e-4),
    Case("BlockReduceMax", "BlockReduceMax(c, a, 8, 64, 1, 1, 8);",
         lambda x, _: x.reshape(-1, 8).max(1)),
    Case("BlockReduceMin", "BlockReduceMin(c, a, 8, 64, 1, 1, 8);",
         lambda x, _: x.reshape(-1, 8).min(1)),
    Case("PairReduceSum", "PairReduceSum(c, a, 8, 64, 1, 1, 8);",
         lambda x, _: x.reshape(-1, 2).sum(1)),
    Case("Gather", "LocalTensor<int32_t> i = bytes.ReinterpretCast<int32_t>();"
         "ArithProgression(i, 508 * 4, -4, 100);"
         "Gather(c, a, bytes.ReinterpretCast<uint32_t>(), 12, 100);",
         lambda x, _: x[511 - np.arange(100)]),
    Case("GetAccVal", "ReduceSum(w, a, b, n); float s = GetAccVal<float>(); Duplicate(c, s, 8);",
         lambda x, _: np.full(8, x.sum()), 1e-4),
    Case("Cast", "Cast(c.ReinterpretCast<int32_t>(), a, RoundMode::CAST_RINT, n);",
         lambda x, _: np.rint(x), result="int32"),
    Case("Cast_floor", "Cast(c.ReinterpretCast<int32_t>(), a, RoundMode::CAST_FLOOR, n);",
         lambda x, _: np.floor(x), result="int32"),
    Case("Cast_half", "Cast(c.ReinterpretCast<half>(), a, RoundMode::CAST_NONE, n);",
         lambda x, _: x, result="float16"),
]  # fmt: skip

INTEGER = [
    _pair("Add", lambda x, y: x + y),
    _pair("Sub", lambda x, y: x - y),
    _pair("Mul", lambda x, y: x * y),
    _pair("Max", np.maximum),
    _pair("Min", np.minimum),
    Case("ShiftLeft", "ShiftLeft(c, a, (T)3, n);", lambda x, _: x << 3),
    Case("ShiftRight", "ShiftRight(c, a, (T)3, n);", lambda x, _: x >> 3),
]
BITS = [
    *INTEGER,
    _pair("And", np.bitwise_and),
    _pair("Or", np.bitwise_or),
    _pair("Xor", np.bitwise_xor),
    _level2("Not", lambda x, _: ~x),
    Case("Transpose", "Transpose(c, a);", lambda x, _: x[:256].reshape(16, 16).T),
    Case("TransDataTo5HD", "LocalTensor<T> to[16], from[16]; for (int i = 0; i < 16; ++i) {"
         "to[i] = c[16 * i]; from[i] = a[16 * i]; } TransDataTo5HDParams p(false, false, 1, 0, 0);"
         "TransDataTo5HD<T>(to, from, p);", lambda x, _: x[:256].reshape(16, 16).T),
]  # fmt: skip

SETS = {
    "float": ("float", FLOATING + MATH, "float32"),
    "half": ("half", FLOATING, "float16"),
    "int32": ("int32_t", INTEGER, "int32"),
    "int16": ("int16_t", BITS, "int16"),
}


def _operands(dtype: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    if dtype.startswith("int"):
        return tuple(rng.integers(-150, 150, (2, COUNT)).astype(dtype))
    x, y = (rng.standard_normal((2, COUNT)) * 1.5).astype(dtype)
    return x, y


@pytest.mark.parametrize(
    ("kind", "index"),
    [
        pytest.param(kind, index, id=f"{kind}-{case.name}")
        for kind, (_, cases, _) in SETS.items()
        for index, case in enumerate(cases)
    ],
)
def test_a_call_agrees_with_numpy_and_breaks_no_rule(compiled, kind, index):
    element, cases, dtype = SETS[kind]
    kernel = compiled(source(element, cases), parameters=4)
    check(kernel, index, cases[index], *_operands(dtype))


@pytest.mark.parametrize("name", ["Exp", "Abs", "Relu", "Sqrt", "Add", "Max", "Div"])
def test_infinities_zeros_and_nans_go_through_as_in_ieee_arithmetic(compiled, name):
    index = next(i for i, case in enumerate(FLOATING) if case.name == name)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-38, -1e-45, 3e38], F)
    x, y = np.resize(special, COUNT), np.resize(np.repeat(special, 8), COUNT)
    kernel = compiled(source("float", FLOATING + MATH), parameters=4)
    check(kernel, index, FLOATING[index], x, y)
