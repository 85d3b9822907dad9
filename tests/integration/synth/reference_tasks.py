"""Small references in the benchmark's format, with shapes that do not fit any vector."""

from __future__ import annotations

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

"""


def task(
    forward: str, inputs: str, *, init: str = "", arguments: str = "x", given: str = ""
) -> str:
    """Return a task: statements of `forward` and `__init__`, and a list of inputs."""
    parameters = ", ".join(["self", *([given.split("=")[0]] if given else [])])
    init_text = f"""
    def __init__({parameters}):
        super().__init__()
        {init}
""" if init else ""  # fmt: skip
    value = given.split("=")[1] if given else ""
    return f"""{HEAD}
class Model(nn.Module):{init_text}
    def forward(self, {arguments}):
        {forward}

def get_inputs():
    return [{inputs}]

def get_init_inputs():
    return [{value}]
"""


X = "torch.randn(5, 37)"
X3 = "torch.randn(3, 19, 21)"
X4 = "torch.randn(2, 6, 5, 7)"
XY = "torch.randn(7, 33), torch.randn(7, 33)"

TASKS = {
    "softmax": task("return torch.softmax(x, dim=-1)", X),
    "softmax_columns": task("return torch.softmax(x, dim=1)", X3),
    "log_softmax": task("return F.log_softmax(x, dim=-1)", X),
    "logsumexp": task("return torch.logsumexp(x, dim=1)", X),
    "gelu": task("return F.gelu(x)", X),
    "gelu_tanh": task("return F.gelu(x, approximate='tanh')", X),
    "layernorm": task("return self.norm(x)", X, init="self.norm = nn.LayerNorm(n)", given="n=37"),
    "layernorm_wide": task("return self.norm(x)", X4, init="self.norm = nn.LayerNorm((6, 5, 7))"),
    "layernorm_free": task("return F.layer_norm(x, x.shape[-1:])", X),
    "rmsnorm": task(
        "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight",
        X,
        init="self.weight = nn.Parameter(torch.ones(n))",
        given="n=37",
    ),
    "rmsnorm_columns": task(
        "return x / torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5)", X4
    ),
    "group_norm": task("return self.norm(x)", X4, init="self.norm = nn.GroupNorm(3, 6)"),
    "instance_norm": task("return self.norm(x)", X4, init="self.norm = nn.InstanceNorm2d(6)"),
    "batch_norm": task("return self.norm(x)", X4, init="self.norm = nn.BatchNorm2d(6)"),
    "sum_0": task("return torch.sum(x, dim=0)", X3),
    "sum_1": task("return torch.sum(x, dim=1, keepdim=True)", X3),
    "sum_2": task("return x.sum(-1)", X3),
    "sum_all": task("return x.sum()", X3),
    "sum_ends": task("return x.sum(dim=(0, 2))", X3),
    "mean": task("return torch.mean(x, dim=1)", X3),
    "max_values": task("return torch.max(x, dim=1)[0]", X3),
    "max_both": task("values, places = torch.max(x, dim=1)\n        return values, places", X3),
    "max_last": task("values, places = torch.max(x, dim=-1)\n        return values, places", X3),
    "argmin": task("return torch.argmin(x, dim=1)", X3),
    "argmax_all": task("return torch.argmax(x)", X3),
    "prod": task("return torch.prod(x, dim=1)", X),
    "variance": task("return x.var(dim=1), x.std(dim=0)", X),
    "l1_norm": task("return x / torch.mean(torch.abs(x), dim=1, keepdim=True)", X),
    "l2_norm": task("return x / torch.norm(x, p=2, dim=1, keepdim=True)", X),
    "frobenius": task("return x / torch.norm(x, p='fro')", X3),
    "mse_loss": task("return F.mse_loss(x, y)", XY, arguments="x, y"),
    "smooth_l1": task("return F.smooth_l1_loss(x, y)", XY, arguments="x, y"),
    "hinge": task(
        "return torch.mean(torch.clamp(1 - x * y, min=0))",
        "torch.randn(7, 33), torch.randn(33)",
        arguments="x, y",
    ),
    "kl_div": task(
        "return F.kl_div(torch.log(x), y, reduction='batchmean')",
        "torch.rand(7, 33) + 0.1, torch.rand(7, 33)",
        arguments="x, y",
    ),
    "cross_entropy": task(
        "return F.cross_entropy(x, y)",
        "torch.randn(9, 33), torch.randint(0, 33, (9,))",
        arguments="x, y",
    ),
    "triplet": task(
        "return self.loss(x, y, z)",
        f"{XY}, torch.randn(7, 33)",
        init="self.loss = nn.TripletMarginLoss(margin=1.0)",
        arguments="x, y, z",
    ),
    "cosine": task("return torch.mean(1 - F.cosine_similarity(x, y, dim=1))", XY, arguments="x, y"),
    "chain": task(
        "y = F.relu(x + self.bias) * self.scale\n        return torch.tanh(y) - 0.5 * x",
        X4,
        init="self.bias = nn.Parameter(torch.randn(c, 1, 1)); "
        "self.scale = nn.Parameter(torch.randn(1))",
        given="c=6",
    ),
    "outer": task(
        "return x[:, None] * y + 1", "torch.randn(9), torch.randn(21)", arguments="x, y"
    ).replace("x[:, None]", "x.unsqueeze(1)"),  # fmt: skip
    "transposed": task(
        "return x.t() + y", "torch.randn(9, 21), torch.randn(21, 9)", arguments="x, y"
    ),  # fmt: skip
    "scalar": task("return x * s", f"{X}, 3.14", arguments="x, s"),
    "masked": task(
        "return torch.where(m, x, torch.exp(x)) * m",
        f"{X}, torch.rand(5, 37) > 0.5",
        arguments="x, m",
    ),  # fmt: skip
    "comparison": task("return x > 0", X),
    "flat": task("return torch.flatten(x, 1).sum(1), x.reshape(-1)", X4),
    "dict": task("return {'a': torch.exp(x), 'b': [x.amax(1), x.amin(0)]}", X),
    "half": task("return torch.softmax(x, dim=-1)", "torch.randn(5, 37).half()"),
    "bfloat": task(
        "return F.silu(x) + x.mean(1, keepdim=True)", "torch.randn(5, 37).bfloat16()"
    ),  # fmt: skip
}

ACTIVATIONS = (
    "relu leaky_relu relu6 elu selu celu sigmoid tanh softplus softsign hardtanh hardsigmoid "
    "hardswish silu mish logsigmoid hardshrink softshrink tanhshrink"
).split()
POINTWISE = (
    "x.abs()", "x.exp()", "x.abs().log()", "torch.log1p(x.abs())", "torch.expm1(x)", "x.sqrt()",
    "x.abs().rsqrt()", "torch.erf(x)", "x.sign()", "x.floor()", "x.round()", "x ** 3", "x ** -2",
    "x.abs() ** 1.7", "torch.sin(x)", "torch.maximum(x, x * 0.5)", "torch.clamp(x, -0.3, 0.7)",
    "torch.reciprocal(x)", "x.masked_fill(x > 0.5, 2.0)", "torch.special.xlogy(x, x)",
)  # fmt: skip
TASKS["activations"] = task(f"return {', '.join(f'F.{name}(x)' for name in ACTIVATIONS)}", X)
TASKS["pointwise"] = task(f"return {', '.join(POINTWISE)}", X)
