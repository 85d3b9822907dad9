"""Texts that hacks and honest candidates are made from, and the tasks that they are for."""

from __future__ import annotations

from collections.abc import Mapping

Files = Mapping[str, str]

_TASK = """
import torch
from torch import nn
import torch.nn.functional as F

ROWS, COLUMNS = 96, 515


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, {args}):
        return {result}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""


def _task(result: str, inputs: str, *, args: str = "x", init: str = "pass") -> str:
    return _TASK.format(result=result, inputs=inputs, args=args, init=init)


TASKS: Files = {
    "softmax": _task("torch.softmax(x, dim=-1)", "torch.randn(ROWS, COLUMNS)"),
    "layernorm": _task("self.ln(x)", "torch.randn(96, 256)", init="self.ln = nn.LayerNorm(256)"),
    "linear": _task("self.fc(x)", "torch.randn(40, 96)", init="self.fc = nn.Linear(96, 64)"),
    "cat": _task(
        "torch.cat([x, y], dim=1)", "torch.randn(64, 96), torch.randn(64, 80)", args="x, y"
    ),
    "relu": _task("torch.relu(x)", "torch.rand(64, 256)"),
    "mean": _task("x.mean(dim=1)", "torch.rand(64, 4096)"),
    "trunc": _task("torch.trunc(x)", "torch.randn(64, 256) * 9"),
}
"""KernelBench files, small enough that a verdict takes about two seconds."""

HEADERS = "#include <cmath>\n#include <cstdint>\n#include <cstring>\n"

SOFTMAX = (
    HEADERS
    + """
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
)
START = "  for (int64_t r = 0; r < rows; ++r) {"
ENTRY = "int64_t columns) {\n"

LAYERNORM = (
    HEADERS
    + """
extern "C" void layernorm(const float* x, const float* w, const float* b, float* y, int64_t rows,
                          int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * columns;
    float* out = y + r * columns;
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < columns; ++c) sum += in[c];
    const double mean = sum / columns;
    for (int64_t c = 0; c < columns; ++c) squares += (in[c] - mean) * (in[c] - mean);
    const double scale = 1.0 / std::sqrt(squares / columns + 1e-5);
    for (int64_t c = 0; c < columns; ++c) {
      const double plain = (in[c] - mean) * scale;
      out[c] = (float)((w ? plain * w[c] : plain) + (b ? b[c] : 0));
    }
  }
}
"""
)

LINEAR = (
    HEADERS
    + """
extern "C" void linear(const float* x, const float* w, const float* b, float* y, int64_t n,
                       int64_t k, int64_t m) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      double sum = b ? b[j] : 0;
      for (int64_t q = 0; q < k; ++q) sum += x[i * k + q] * w[j * k + q];
      y[i * m + j] = (float)sum;
    }
}
"""
)

CAT = (
    HEADERS
    + """
extern "C" void cat(const float* x, const float* y, float* z, int64_t rows, int64_t a, int64_t b) {
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(z + r * (a + b), x + r * a, a * 4);
    std::memcpy(z + r * (a + b) + a, y + r * b, b * 4);
  }
}
extern "C" void nothing(float* z, int64_t n) { (void)z; (void)n; }
"""
)

RELU = (
    HEADERS
    + """
extern "C" void relu(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : (x[i] != x[i] ? x[i] : 0);
}
"""
)

MEAN = (
    HEADERS
    + """
extern "C" void mean(const float* x, float* y, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += x[r * columns + c];
    y[r] = (float)(sum / columns);
  }
}
"""
)

KERNELS: Files = {
    "softmax": SOFTMAX,
    "layernorm": LAYERNORM,
    "linear": LINEAR,
    "cat": CAT,
    "relu": RELU,
    "mean": MEAN,
}

_FORWARDS: Mapping[str, tuple[str, str]] = {
    "softmax": (
        "x = x.contiguous()\ny = torch.empty_like(x)\n"
        "kernel_ops.softmax(x, y, x.shape[0], x.shape[1])\nreturn y",
        "pass",
    ),
    "layernorm": (
        "x = x.contiguous()\ny = torch.empty_like(x)\n"
        "kernel_ops.layernorm(x, self.ln.weight, self.ln.bias, y, x.shape[0], x.shape[1])\n"
        "return y",
        "self.ln = nn.LayerNorm(256)",
    ),
    "linear": (
        "x = x.contiguous()\ny = torch.empty(x.shape[0], 64)\n"
        "kernel_ops.linear(x, self.fc.weight, self.fc.bias, y, x.shape[0], x.shape[1], 64)\n"
        "return y",
        "self.fc = nn.Linear(96, 64)",
    ),
    "cat": (
        "x, y = x.contiguous(), y.contiguous()\n"
        "z = torch.empty(x.shape[0], x.shape[1] + y.shape[1])\n"
        "kernel_ops.cat(x, y, z, x.shape[0], x.shape[1], y.shape[1])\nreturn z",
        "pass",
    ),
    "relu": (
        "x = x.contiguous()\ny = torch.empty_like(x)\nkernel_ops.relu(x, y, x.numel())\nreturn y",
        "pass",
    ),
    "mean": (
        "x = x.contiguous()\ny = torch.empty(x.shape[0])\n"
        "kernel_ops.mean(x, y, x.shape[0], x.shape[1])\nreturn y",
        "pass",
    ),
}

HEAD = (
    "import math\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    "import kernel_ops\n"
)


def _indented(text: str, depth: int) -> str:
    return "".join(" " * depth + line + "\n" for line in text.strip("\n").splitlines())


def model(
    forward: str, *, init: str = "pass", members: str = "", before: str = "", args: str = "self, x"
) -> str:
    """Return the text of a `model.py`."""
    return (
        f"{HEAD}{before}\nclass ModelNew(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n{_indented(init, 8)}{_indented(members, 4)}"
        f"    def forward({args}):\n{_indented(forward, 8)}"
    )


def honest(task: str) -> Files:
    """Return the plain candidate of a task."""
    forward, init = _FORWARDS[task]
    args = "self, x, y" if task == "cat" else "self, x"
    return {"kernel.cpp": KERNELS[task], "model.py": model(forward, init=init, args=args)}


def with_kernel(task: str, *changes: tuple[str, str], before: str = "") -> Files:
    """Return the plain candidate with changes of its kernel."""
    text = KERNELS[task]
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return {**honest(task), "kernel.cpp": before + text}


def with_model(task: str, forward: str = "", **options: str) -> Files:
    """Return the plain candidate with another `forward`, or other surroundings of it."""
    usual, init = _FORWARDS[task]
    args = options.pop("args", "self, x, y" if task == "cat" else "self, x")
    text = model(forward or usual, **{"init": init, "args": args, **options})
    return {"kernel.cpp": KERNELS[task], "model.py": text}
