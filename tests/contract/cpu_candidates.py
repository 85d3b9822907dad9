"""Candidates for the softmax task on the CPU backend, each right or wrong in one way."""

from __future__ import annotations

from kernelwright.core.candidate import Candidate

KERNEL = """#include <cmath>
#include <cstdint>
extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) {
        const float* in = x + i * columns;
        float* out = y + i * columns;
        float top = -INFINITY, sum = 0;
        for (int64_t j = 0; j < columns; j++) top = in[j] > top ? in[j] : top;
        for (int64_t j = 0; j < columns; j++) { out[j] = std::exp(in[j] - top); sum += out[j]; }
        for (int64_t j = 0; j < columns; j++) out[j] /= sum;
    }
}
"""
COPY = """#include <cstdint>
extern "C" void negate(const float* x, float* y, int64_t count) {
    for (int64_t i = 0; i < count; i++) y[i] = -x[i];
}
"""
MODEL = """import torch
from torch import nn
import kernel_ops


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        kernel_ops.softmax(x, y, x.shape[0], x.shape[1])
        return y
"""


def candidate(kernel: str = KERNEL, model: str = MODEL) -> Candidate:
    """Return a candidate of two parts."""
    return Candidate.of("cpu", {"kernel.cpp": kernel, "model.py": model})


GOOD = candidate()
UNCOMPILABLE = candidate(KERNEL.replace("sum += out[j];", "sum += out[j]"))
WRONG = candidate(KERNEL.replace("out[j] /= sum;", "out[j] /= sum + 1;"))
CRASHING = candidate(
    KERNEL.replace("float top = -INFINITY", "*(volatile int*)0 = 1; float top = 0")
)
ENTRY = "int64_t columns) {"
IDLE_WHEN_TIMED = candidate(
    KERNEL.replace(ENTRY, ENTRY + "\n    static int calls; if (++calls > 3) return;")
)
"""Right as long as somebody looks, idle afterwards."""
BYPASSING = candidate(model=MODEL.replace("return y", "return torch.softmax(x, dim=1)"))

NEGATE_MODEL = MODEL.replace(
    "kernel_ops.softmax(x, y, x.shape[0], x.shape[1])", "kernel_ops.negate(x, y, x.numel())"
)
"""With `NEGATE`, a kernel whose right answer is known to the last bit."""
NEGATE = candidate(COPY, NEGATE_MODEL)
