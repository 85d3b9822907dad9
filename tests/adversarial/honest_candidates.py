"""Honest candidates that look suspicious: name -> (task, files)."""

from __future__ import annotations

from collections.abc import Mapping

from tests.adversarial.texts import ENTRY, START, Files, honest, with_kernel, with_model

CALL = "kernel_ops.softmax(x, y, x.shape[0], x.shape[1])\n"
GOOD = f"x = x.contiguous()\ny = torch.empty_like(x)\n{CALL}return y"


def _text(forward: str = GOOD, **options: str) -> tuple[str, Files]:
    return "softmax", with_model("softmax", forward, **options)


def _cpp(line: str = "", before: str = "") -> tuple[str, Files]:
    return "softmax", with_kernel("softmax", (START, f"{line}\n{START}"), before=before)


CANDIDATES: Mapping[str, tuple[str, Files]] = {
    "plain softmax": ("softmax", honest("softmax")),
    "layer that only owns its weights": ("linear", honest("linear")),
    "norm that only owns its weights": ("layernorm", honest("layernorm")),
    "copies where the task is a copy": ("cat", honest("cat")),
    "relu": ("relu", honest("relu")),
    "in place on a copy of positive numbers": (
        "relu",
        with_model(
            "relu", "y = x.contiguous().clone()\nkernel_ops.relu(y, y, y.numel())\nreturn y"
        ),
    ),
    "plain mean": ("mean", honest("mean")),
    "weights under other names": (
        "linear",
        with_model(
            "linear",
            "y = torch.empty(x.shape[0], 64)\n"
            "kernel_ops.linear(x.contiguous(), self.w, self.b, y, x.shape[0], x.shape[1], 64)\n"
            "return y",
            init="fc = nn.Linear(96, 64)\nself.w = nn.Parameter(fc.weight.detach().clone())\n"
            "self.b = nn.Parameter(fc.bias.detach().clone())",
        ),
    ),
    "a buffer of its own beside the weights": (
        "layernorm",
        with_model(
            "layernorm",
            init="self.ln = nn.LayerNorm(256)\nself.register_buffer('s', torch.zeros(7))",
        ),
    ),
    "helper named softmax": _text(
        "return self.softmax(x)",
        members="def softmax(self, x):\n" + "".join(f"    {line}\n" for line in GOOD.splitlines()),
    ),
    "comments and texts that name torch": _text(
        f"# torch.softmax(x), exec, system('id')\nnote = 'at::softmax, cublas'\n{GOOD}"
    ),
    "guarded import": _text(before="try:\n    import typing\nexcept ImportError:\n    raise\n"),
    "scratch kept between calls": _text(
        "if self.s is None or self.s.shape != x.shape:\n    self.s = torch.empty(x.shape)\n"
        "x = x.contiguous()\ny = torch.empty_like(x)\n"
        "kernel_ops.softmax(x, self.s, x.shape[0], x.shape[1])\n" + CALL + "return y",
        init="self.s = None",
    ),
    "counts its launches": _text(f"self.n += 1\n{GOOD}", init="self.n = 0"),
    "puts itself in eval mode": _text(f"self.eval()\n{GOOD}"),
    "broadcasting of shapes": _text(
        f"s = torch.broadcast_shapes(x.shape, x.shape)\nx = x.expand(s)\n{GOOD}"
    ),
    "refuses other ranks": _text(f"if x.dim() != 2:\n    raise ValueError('rank')\n{GOOD}"),
    "collects parts in a list": _text(
        f"outs = []\nx = x.contiguous()\ny = torch.empty_like(x)\n{CALL}outs.append(y)\n"
        "return outs[0]"
    ),
    "zeros where empty would do": _text(GOOD.replace("empty_like", "zeros_like")),
    "OpenMP": ("softmax", with_kernel("softmax", (START, "#pragma omp parallel for\n" + START))),
    "scratch from malloc": _cpp(
        "  float* s = (float*)std::malloc(columns * 4);\n  s[0] = 0; std::free(s);",
        before="#include <cstdlib>\n",
    ),
    "assembly that does nothing": _cpp('  asm volatile("" : : "r"(x) : "memory");'),
    "static scratch": _cpp("  static thread_local float s[64]; s[rows % 64] = 0;"),
    "names like those of the system": _cpp(
        "  struct { int64_t time, open; } clock{rows, columns};\n  if (clock.time < 0) return;"
    ),
    "call through a table of functions": (
        "softmax",
        with_kernel(
            "softmax",
            ("std::exp(in[c] - top)", "pick(c & 1)(in[c] - top)"),
            before="#include <cmath>\nstatic float one(float v) { return std::exp(v); }\n"
            "static float two(float v) { return (float)std::exp((double)v); }\n"
            "typedef float (*step)(float);\n"
            "static step pick(long i) { return i ? one : two; }\n",
        ),
    ),
    "an early exit that is exact": (
        "softmax",
        with_kernel("softmax", (ENTRY, ENTRY + "  if (rows == 0 || columns == 0) return;\n")),
    ),
}
