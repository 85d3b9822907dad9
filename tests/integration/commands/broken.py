"""Candidates for a row softmax, each broken in one way; parts by path."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.core.verdict import Category, GateName

TASK = """
import torch
from torch import nn

ROWS, COLUMNS = 384, 2053


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
"""

KERNEL = """
#include <cmath>
#include <cstdint>
extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * columns;
    float* out = y + r * columns;
    float top = in[0];
    for (int64_t c = 1; c < columns; ++c) top = in[c] > top ? in[c] : top;
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) { out[c] = std::exp(in[c] - top); sum += out[c]; }
    const float scale = static_cast<float>(1.0 / sum);
    for (int64_t c = 0; c < columns; ++c) out[c] *= scale;
  }
}
"""

MODEL = """
import torch
import torch.nn as nn
import kernel_ops


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        kernel_ops.softmax(x, y, x.shape[0], x.shape[1])
        return y
"""

GOOD = {"kernel.cpp": KERNEL, "model.py": MODEL}

START = "  for (int64_t r = 0; r < rows; ++r) {"


def kernel(old: str, new: str) -> dict[str, str]:
    """Return the good candidate with one change of its kernel."""
    assert old in KERNEL
    return {**GOOD, "kernel.cpp": KERNEL.replace(old, new)}


def model(old: str, new: str) -> dict[str, str]:
    """Return the good candidate with one change of its model."""
    assert old in MODEL
    return {**GOOD, "model.py": MODEL.replace(old, new)}


EMPTY = "        y = torch.empty_like(x)\n"

BROKEN: Mapping[str, tuple[dict[str, str], GateName, Category, str]] = {
    "torch does the work": (
        model("return y", "return torch.softmax(x, dim=-1)"),
        GateName.SCREEN,
        Category.HACK,
        "softmax",
    ),
    "a missing semicolon": (
        kernel("double sum = 0;", "double sum = 0"),
        GateName.COMPILE,
        Category.COMPILE_ERROR,
        "expected",
    ),
    "a list instead of a tensor": (
        model("return y", "return [y]"),
        GateName.CORRECTNESS,
        Category.TYPE_MISMATCH,
        "type(output) mismatch: expected Tensor, got list",
    ),
    "a transposed shape": (
        model("return y", "return y.view(x.shape[1], x.shape[0])"),
        GateName.CORRECTNESS,
        Category.SHAPE_MISMATCH,
        "output.shape mismatch: expected (384, 2053), got (2053, 384)",
    ),
    "the last column left out": (
        kernel("for (int64_t c = 1; c < columns; ++c)", "for (int64_t c = 1; c < 2; ++c)"),
        GateName.CORRECTNESS,
        Category.NUMERICAL_MISMATCH,
        "trials passed",
    ),
    "an input written to": (
        kernel(START, "  const_cast<float*>(x)[0] = 0;\n" + START),
        GateName.CORRECTNESS,
        Category.INPUT_MUTATED,
        "",
    ),
    "a loop without end": (
        kernel(START, "  for (volatile int64_t i = 0;; i = i + 1) {}\n" + START),
        GateName.CORRECTNESS,
        Category.TIMEOUT,
        "timed out after",
    ),
    "an exception": (
        model(", x.shape[1])", ")"),
        GateName.CORRECTNESS,
        Category.EXCEPTION,
        "softmax",
    ),
    "a write far outside": (
        kernel(START, "  y[int64_t(1) << 40] = 0;\n" + START),
        GateName.CORRECTNESS,
        Category.CRASH,
        "SIGSEGV",
    ),
    "memory without end": (
        model(EMPTY, "        y = torch.empty(1 << 40, dtype=x.dtype)\n"),
        GateName.CORRECTNESS,
        Category.MEMORY,
        "",
    ),
    "another dtype": (
        {
            "kernel.cpp": KERNEL.replace("float* y", "double* y").replace(
                "float* out", "double* out"
            ),
            "model.py": MODEL.replace("empty_like(x)", "empty_like(x, dtype=torch.float64)"),
        },
        GateName.CORRECTNESS,
        Category.DTYPE_MISMATCH,
        "float64",
    ),
}
