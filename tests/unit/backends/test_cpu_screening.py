"""What the static rules of the CPU backend let through, and what they refuse."""

from __future__ import annotations

import pytest

from kernelwright.backends.cpu.screening import screened
from kernelwright.core.candidate import Candidate
from kernelwright.core.task import OperandSpec, Role, Task

KERNEL = """
#include <cmath>
#include <cstdint>
extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t columns) {}
extern "C" void linear(const float* x, const float* w, const float* b, float* y, int64_t n) {}
"""
HEAD = """import math
import torch
from torch import nn
import torch.nn.functional as F
import kernel_ops
"""
TASK = Task(
    name="softmax",
    source="",
    path="softmax.py",
    operands=(OperandSpec("x", Role.INPUT, "tensor", "float32", (4, 4)),),
)
GOOD = """
y = torch.empty_like(x)
kernel_ops.softmax(x, y, x.shape[0], x.shape[1])
return y
"""


def indented(text: str, depth: int) -> str:
    return "".join(" " * depth + line + "\n" for line in text.strip("\n").splitlines())


def model(
    forward: str = GOOD,
    *,
    init: str = "pass",
    args: str = "self, x",
    members: str = "",
    before: str = "",
) -> str:
    return (
        f"{HEAD}{before}\n"
        "class ModelNew(nn.Module):\n"
        "    def __init__(self, features: int = 4):\n"
        "        super().__init__()\n"
        f"{indented(init, 8)}"
        f"{indented(members, 4)}"
        f"    def forward({args}):\n{indented(forward, 8)}"
    )


def rules(source: str, kernel: str = KERNEL, task: Task = TASK) -> list[str]:
    candidate = Candidate.of("cpu", {"kernel.cpp": kernel, "model.py": source})
    return [finding.rule for finding in screened(candidate, task)]


HONEST = {
    "plain": model(),
    "contiguous and views": model(
        "x = x.contiguous().view(-1, x.shape[-1])\nrows, columns = x.shape\n"
        "y = torch.empty((rows, columns), dtype=x.dtype)\n"
        "kernel_ops.softmax(x, y, rows, columns)\nreturn y.view(2, -1).transpose(0, 1)"
    ),
    "shape arithmetic": model(
        "n = x.size(0) * x.stride(0) // 2 + len(x.shape) - int(math.sqrt(x.numel()))\n"
        "n = max(n, 1) if n > 0 else -n\ny = x.new_empty(x.shape)\n"
        "kernel_ops.softmax(x, y, n, n @ 1 if False else n)\nreturn y"
    ),
    "layer that only owns weights": model(
        "y = torch.empty(x.shape[0], self.fc.out_features)\n"
        "kernel_ops.linear(x, self.fc.weight, self.fc.bias, y, self.fc.in_features)\nreturn y",
        init="self.fc = nn.Linear(features, features)",
    ),
    "parameters and buffers": model(
        "y = torch.empty_like(x)\nkernel_ops.linear(x, self.w, self.b, y, self.n)\nreturn y",
        init="self.n = features * 2\n"
        "self.w = nn.Parameter(torch.randn(features) * 0.1 + 1)\n"
        "self.register_buffer('b', torch.tril(torch.ones(features, features)))\n"
        "nn.init.xavier_uniform_(self.w.view(1, -1))",
    ),
    "helper named relu": model(
        "return self.relu(x, 1)",
        members="def relu(self, t, scale: int):\n    y = torch.empty_like(t)\n"
        "    kernel_ops.softmax(t, y, t.shape[0] * scale, t.shape[1])\n    return y",
    ),
    "helper function and class": model(
        "return matmul(self.block(x))",
        init="self.block = Block(features)",
        before="def matmul(a):\n    out = torch.empty_like(a)\n"
        "    kernel_ops.softmax(a, out, 1, 1)\n    return out\n"
        "class Block(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.n = n\n    def forward(self, x):\n        y = torch.zeros(self.n)\n"
        "        kernel_ops.softmax(x, y, self.n, 1)\n        return y\n",
    ),
    "comments and strings": model(
        "# torch.softmax(x) would be x.softmax(-1)\nnote = \"torch.matmul(a, b) @ system('ls')\"\n"
        + GOOD.strip()
    ),
    "import guard": HEAD.replace(
        "import math", "try:\n    import math\nexcept ImportError:\n    raise"
    )
    + model()[len(HEAD) :],
    "eval and broadcast": model(
        "self.eval()\nshape = torch.broadcast_shapes(x.shape, (4, 4))\n"
        "dtype = torch.promote_types(x.dtype, torch.float32)\n"
        "y = torch.empty(shape, dtype=dtype)\n"
        "kernel_ops.softmax(x.expand(shape).contiguous(), y, *shape)\nreturn y"
    ),
    "launch counter": model("self.calls += 1\n" + GOOD.strip(), init="self.calls = 0"),
    "scratch kept between calls": model(
        "if self.scratch is None or self.scratch.numel() < x.numel():\n"
        "    self.scratch = torch.empty(x.numel())\n"
        "y = torch.empty_like(x)\n"
        "kernel_ops.softmax(x, self.scratch, 1, 1)\nkernel_ops.softmax(self.scratch, y, 1, 1)\n"
        "return y",
        init="self.scratch = None",
    ),
    "empty input": model(
        "y = torch.empty_like(x)\nif x.numel() == 0:\n    return y\n"
        "kernel_ops.softmax(x, y, 1, 1)\nreturn y"
    ),
    "both branches": model(
        "y = torch.empty_like(x)\nif x.shape[0] > 4:\n    kernel_ops.softmax(x, y, 1, 1)\n"
        "else:\n    kernel_ops.softmax(x, y, 2, 2)\nreturn y"
    ),
    "loop with buffers that swap": model(
        "a, b = x, torch.empty_like(x)\nc = torch.empty_like(x)\n"
        "for _ in range(3):\n    kernel_ops.softmax(a, b, 1, 1)\n    a = b\n    b = c\n"
        "    c = torch.empty_like(x)\nreturn a",
    ),
    "several outputs": model(
        "y, z = torch.empty_like(x), torch.empty_like(x)\nkernel_ops.softmax(x, y, 1, 1)\n"
        "kernel_ops.softmax(x, z, 1, 1)\nreturn y, {'z': z}"
    ),
    "in place": model("x = x.clone()\nkernel_ops.softmax(x, x, 1, 1)\nreturn x"),
    "number as input": model(
        "y = torch.empty_like(x)\nkernel_ops.softmax(x, y, int(scale * 2), 1)\nreturn y",
        args="self, x, scale: float",
    ),
    "optional bias": model(
        "y = torch.empty_like(x)\n"
        "bias = self.fc.bias if self.fc.bias is not None else torch.zeros(4)\n"
        "kernel_ops.linear(x, self.fc.weight, bias, y, 1)\nreturn y",
        init="self.fc = nn.Linear(features, features, bias=False)",
    ),
    "raise on a wrong dtype": model(
        "if x.dtype != torch.float32:\n    raise TypeError(f'expected float32, got {x.dtype}')\n"
        + GOOD.strip()
    ),
    "get_inputs of the benchmark": model()
    + "\ndef get_inputs():\n    return [torch.rand(4) + 1]\n",
    "no_grad": model("with torch.no_grad():\n" + indented(GOOD, 4)),
    "aliased import": model()
    .replace("import kernel_ops", "import kernel_ops as ops")
    .replace("kernel_ops.softmax", "ops.softmax"),
    "linear layer written out": model(
        "assert x.dim() == 2, f'expected a matrix, got {x.shape}'\n"
        "rows, inner = x.size()\n"
        "x = x if x.is_contiguous() else x.contiguous()\n"
        "y = torch.empty((rows, self.weight.size(0)), device=x.device, dtype=x.dtype)\n"
        "bias = None if self.bias is None else self.bias.contiguous()\n"
        "kernel_ops.linear(x, self.weight.contiguous(), bias, y, math.prod(x.shape[:-1]))\n"
        "return y.view(*x.shape[:-1], -1)",
        init="self.weight = nn.Parameter(torch.empty(features, features))\n"
        "nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))\n"
        "if features > 2:\n    self.bias = nn.Parameter(torch.zeros(features))\n"
        "else:\n    self.register_parameter('bias', None)",
    ),
    "convolution sizes": model(
        "n, c, h, w = x.shape\nk = self.conv.kernel_size[0]\n"
        "out_h = (h + 2 * self.conv.padding[0] - self.conv.dilation[0] * (k - 1) - 1)"
        " // self.conv.stride[0] + 1\n"
        "if x.dtype not in (torch.float32, torch.float64):\n    raise ValueError(x.dtype)\n"
        "y = torch.empty(n, self.conv.out_channels, out_h, out_h, dtype=torch.float32)\n"
        "kernel_ops.linear(x, self.conv.weight, self.conv.bias, y, n * out_h)\nreturn y",
        init="self.conv = nn.Conv2d(3, features, 3, padding=1)",
    ),
    "weights of a recurrent layer": model(
        "y = torch.empty_like(x)\n"
        "for w_ih, w_hh, b_ih, b_hh in self.lstm.all_weights:\n"
        "    kernel_ops.linear(x, w_ih, b_ih, y, 1)\nreturn y, (y[-1:], y.view(-1))",
        init="self.lstm = nn.LSTM(features, features)",
    ),
    "layers of a sequence": model(
        "y = torch.empty_like(x)\nfor layer in self.net.children():\n"
        "    kernel_ops.linear(x, layer.weight, layer.bias, y, layer.in_features)\n"
        "kernel_ops.linear(y, self.net[0].weight, self.net[0].bias, y, 1)\nreturn y",
        init="self.net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))",
    ),
    "layers in a list": model(
        "for i, layer in enumerate(self.layers):\n    y = torch.empty_like(x)\n"
        "    kernel_ops.linear(x, layer.weight, layer.bias, y, i)\n    x = y\nreturn y",
        init="self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(3)])",
    ),
    "list of outputs": model(
        "outs = []\nfor part in x.chunk(2):\n    y = torch.empty_like(part)\n"
        "    kernel_ops.softmax(part.contiguous(), y, 1, 1)\n    outs.append(y)\n"
        "return tuple(outs)"
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_passes(name: str) -> None:
    assert rules(HONEST[name]) == []


CHEATS = {
    "torch call": (model("return torch.softmax(x, -1)"), "torch-compute"),
    "functional": (model("return F.softmax(x, dim=-1)"), "torch-compute"),
    "method": (model("y = x.softmax(-1)\n" + GOOD.strip()), "torch-compute"),
    "operator": (model("y = x / 2\n" + GOOD.strip()), "torch-compute"),
    "matmul operator": (model("return x @ x"), "torch-compute"),
    "in-place operator": (model(GOOD.replace("return y", "y += 1\nreturn y")), "torch-compute"),
    "negation": (model(GOOD.replace("return y", "return -y")), "torch-compute"),
    "copy kernel": (
        model(
            "t = torch.exp(x)\ny = torch.empty_like(x)\nkernel_ops.softmax(t, y, 1, 1)\nreturn y"
        ),
        "torch-compute",
    ),
    "renamed import": (
        model("return launch(x, x)", before="from torch import matmul as launch"),
        "torch-compute",
    ),
    "alias of a function": (model("f = torch.relu\nreturn f(x)"), "alias"),
    "layer call": (model("return self.fc(x)", init="self.fc = nn.Linear(4, 4)"), "layer-call"),
    "layer forward": (
        model("return self.fc.forward(x)", init="self.fc = nn.Linear(4, 4)"),
        "torch-compute",
    ),
    "layer run in the constructor": (
        model(init="self.fc = nn.Linear(4, 4)\nself.y = self.fc(torch.ones(4))"),
        "layer-call",
    ),
    "layer in a helper class": (
        model(
            "return self.block(x)",
            init="self.block = Block()",
            before="class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.fc = nn.Linear(4, 4)\n    def forward(self, x):\n"
            "        return self.fc(x)\n",
        ),
        "layer-call",
    ),
    "compute in a helper function": (
        model("return helper(x)", before="def helper(a):\n    return a.sum(-1)\n"),
        "torch-compute",
    ),
    "getattr": (model("return getattr(torch, 'soft' + 'max')(x, -1)"), "banned-name"),
    "exec": (model("exec('y = 1')\n" + GOOD.strip()), "banned-name"),
    "globals": (model("globals()['x'] = 1\n" + GOOD.strip()), "banned-name"),
    "dunder": (model("x.__class__.softmax(x, -1)\n" + GOOD.strip()), "banned-name"),
    "gc": (model(before="import gc"), "import"),
    "ctypes": (model(before="import ctypes"), "import"),
    "numpy": (model(before="import numpy as np"), "import"),
    "threading inside forward": (model("import threading\n" + GOOD.strip()), "import"),
    "torch.ops": (model("return torch.ops.aten.relu(x)"), "banned-api"),
    "compile": (model(init="self.f = torch.compile(torch.relu)"), "banned-api"),
    "hook": (
        model(init="self.register_forward_hook(print)"),
        "banned-name",
    ),
    "call override": (
        model(members="def __call__(self, x):\n    return x\n"),
        "class-code",
    ),
    "property": (model(members="@property\ndef y(self):\n    return 1\n"), "decorator"),
    "forward replaced on the class": (
        model() + "\nModelNew.forward = lambda self, x: x\n",
        "module-code",
    ),
    "forward replaced on the object": (model(init="self.forward = print"), "patch"),
    "lambda": (model(init="self.f = lambda x: x"), "lambda"),
    "default argument": (model(args="self, x, f=torch.relu"), "class-code"),
    "inherits the reference": (
        model(before="class Model(nn.Module):\n    pass\n").replace(
            "class ModelNew(nn.Module)", "class ModelNew(Model)"
        ),
        "bases",
    ),
    "shadowed kernel_ops": (
        model(before="class kernel_ops:\n    pass\n"),
        "kernel-ops-rebound",
    ),
    "rebound kernel_ops": (model("kernel_ops = self\n" + GOOD.strip()), "kernel-ops-rebound"),
    "patched kernel_ops": (model("kernel_ops.softmax = print\n" + GOOD.strip()), "patch"),
    "patched torch": (model("torch.empty_like = torch.zeros_like\n" + GOOD.strip()), "patch"),
    "fallback": (
        model(
            "y = torch.empty_like(x)\ntry:\n    kernel_ops.softmax(x, y, 1, 1)\n"
            "except Exception:\n    y = torch.zeros_like(x)\nreturn y"
        ),
        "fallback",
    ),
    "dead kernel": (
        model("y = torch.empty_like(x)\nif False:\n    kernel_ops.softmax(x, y, 1, 1)\nreturn y"),
        "not-from-kernel",
    ),
    "ghost kernel": (
        model(
            "y, scratch = torch.empty_like(x), torch.empty_like(x)\n"
            "kernel_ops.softmax(x, scratch, 1, 1)\nreturn y"
        ),
        "not-from-kernel",
    ),
    "input of the kernel is returned": (
        model("y = torch.empty_like(x)\nkernel_ops.softmax(y, x, 1, 1)\nreturn y"),
        "not-from-kernel",
    ),
    "early return": (
        model("y = torch.empty_like(x)\nif x.shape[0] == 3:\n    return y\n" + GOOD.strip()),
        "not-from-kernel",
    ),
    "disguised empty case": (
        model("y = torch.empty_like(x)\nif x.numel() != 0:\n    return y\n" + GOOD.strip()),
        "not-from-kernel",
    ),
    "cached result": (
        model(
            "if x.data_ptr() == self.key:\n    return self.last\n"
            "y = torch.empty_like(x)\nkernel_ops.softmax(x, y, 1, 1)\n"
            "self.key = x.data_ptr()\nself.last = y\nreturn y",
            init="self.key = 0\nself.last = None",
        ),
        "not-from-kernel",
    ),
    "cached results in a dict": (
        model(
            "key = x.data_ptr()\nif key not in self.cache:\n"
            "    y = torch.empty_like(x)\n    kernel_ops.softmax(x, y, 1, 1)\n"
            "    self.cache[key] = y\nreturn self.cache[key]",
            init="self.cache = {}",
        ),
        "not-from-kernel",
    ),
    "no kernel": (model("return torch.zeros_like(x)"), "no-kernel"),
    "unknown kernel": (model("kernel_ops.gelu(x, x)\nreturn x"), "format:unknown-kernel"),
    "python loop": (model("for row in x:\n    pass\n" + GOOD.strip()), "python-loop"),
    "sum of a tensor": (model("n = sum(x)\n" + GOOD.strip()), "torch-compute"),
    "gather": (model("x = x[x]\n" + GOOD.strip()), "torch-compute"),
    "reads a value": (model("n = x.item()\n" + GOOD.strip()), "banned-name"),
    "store into the output": (
        model(GOOD.replace("return y", "y[0] = x[0]\nreturn y")),
        "torch-compute",
    ),
    "map over tensors": (model("return map(torch.relu, [x])"), "alias"),
    "code at import": (model(before="torch.manual_seed(0)"), "module-code"),
    "tensor at import": (model(before="TABLE = torch.ones(4)"), "module-code"),
    "no class": ("import torch\n", "format:no-model"),
    "not Python": ("class ModelNew(:\n", "syntax"),
    "torch through the shim": (model(init="self.t = kernel_ops.torch"), "alias"),
    "the shim as an object": (model(init="self.ops = kernel_ops"), "alias"),
    "the shim's own names": (model("kernel_ops.ctypes.CDLL('x')\n" + GOOD.strip()), "alias"),
    "torch kept on self": (model("return self.t.relu(x)", init="self.t = torch"), "unsupported"),
    "a module through another": (model(init="self.m = torch.os.environ"), "banned-api"),
    "sys through typing": (
        model(init="self.m = sys.modules", before="from typing import sys"),
        "banned-api",
    ),
    "values through their text": (
        model("n = float(str(x)[8:12])\n" + GOOD.strip()),
        "torch-compute",
    ),
    "values through an f-string": (
        model("n = float(f'{x}'[8:12])\n" + GOOD.strip()),
        "torch-compute",
    ),
    "unbound method": (model("return torch.Tensor.relu(x)"), "torch-compute"),
    "identity layer": (model("return nn.Identity()(x)"), "torch-compute"),
    "parametrisation": (
        model(init="nn.utils.parametrize.register_parametrization(self, 'w', self)"),
        "banned-api",
    ),
    "seeds": (model("torch.manual_seed(0)\n" + GOOD.strip()), "torch-compute"),
}


@pytest.mark.parametrize("name", CHEATS)
def test_computation_outside_the_kernel_is_refused(name: str) -> None:
    source, rule = CHEATS[name]
    assert rule in rules(source)


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("#include <torch/extension.h>", "include"),
        ("#include <Python.h>", "include"),
        ("#include <dlfcn.h>", "include"),
        ("#include <thread>", "include"),
        ("#include <unistd.h>", "include"),
        ('#include "/etc/passwd"', "include"),
        ('void f() { system("ls"); }', "system-call"),
        ('void f() { FILE* p = popen("ls", "r"); }', "system-call"),
        ('void f() { void* h = dlopen("libblas.so", 1); }', "system-call"),
        ('void f() { fopen("/proc/self/mem", "r"); }', "system-call"),
        ("void f() { std::thread t(f); }", "thread-or-file"),
        ('void f() { std::ifstream s("x"); }', "thread-or-file"),
        ("auto f(at::Tensor x) { return at::softmax(x, 1); }", "library"),
        ('extern "C" void cblas_sgemm(int);', "library"),
        (
            "static const float* last = nullptr;\n"
            "void f(const float* x) { if (x == last) return; last = x; }",
            "output-cache",
        ),
        ("static std::unordered_map<const float*, int> seen;", "output-cache"),
    ],
)
def test_a_kernel_that_does_more_than_compute_is_refused(code: str, rule: str) -> None:
    assert rule in rules(model(), kernel=KERNEL + code)


@pytest.mark.parametrize(
    "code",
    [
        "#include <omp.h>\n#include <immintrin.h>\n#include <vector>",
        "// std::thread, dlopen() and torch:: in a comment",
        'static const char* note = "system(1) at::Tensor";',
        "static float* scratch = nullptr;\n"
        "void f(int n) { if (scratch == nullptr) scratch = new float[n]; }",
        "struct thread_block { int time; };\nint time(thread_block b) { return b.time; }",
        'void f(float* x) { asm volatile("" : : "r"(x) : "memory"); }',
        "template <typename T> static inline T sq(T v) { return v * v; }",
    ],
)
def test_ordinary_cpp_passes(code: str) -> None:
    assert rules(model(), kernel=KERNEL + code) == []


def test_a_finding_names_part_line_and_what_to_do() -> None:
    candidate = Candidate.of(
        "cpu", {"kernel.cpp": KERNEL, "model.py": model("return torch.softmax(x, -1)")}
    )
    finding = next(f for f in screened(candidate, TASK) if f.rule == "torch-compute")
    assert finding.path == "model.py"
    assert candidate.files["model.py"].splitlines()[finding.line - 1].strip().startswith("return")
    assert "do it in kernel.cpp" in finding.message


def test_an_operand_that_is_a_number_may_be_computed_with() -> None:
    operands = (*TASK.operands, OperandSpec("scale", Role.INPUT, "float", value="2.0"))
    task = Task(name="scaled", source="", path="scaled.py", operands=operands)
    source = model(
        "y = torch.empty_like(x)\nkernel_ops.softmax(x, y, int(scale * 2), 1)\nreturn y",
        args="self, x, scale",
    )
    assert rules(source, task=task) == []
    assert "torch-compute" in rules(source.replace("scale * 2", "x * 2"), task=task)
