"""How many elements an operator adds up for one element of its result.

Rounding grows with that number, so the strict tolerance depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

_CONTRACTED: Mapping[str, tuple[int, int]] = {
    "mm": (0, 1),
    "addmm": (1, 1),
    "bmm": (0, 2),
    "baddbmm": (1, 2),
    "mv": (0, 1),
    "addmv": (1, 1),
    "dot": (0, 0),
    "vdot": (0, 0),
}
"""Operator to (operand, axis) whose extent is contracted."""

_ALONG_DIM = frozenset(
    {"_softmax", "_log_softmax", "cumsum", "cumprod", "logcumsumexp", "_weight_norm_interface"}
)
_SHRINKING = frozenset(
    {
        "sum", "mean", "prod", "var", "std", "var_mean", "std_mean", "norm", "linalg_vector_norm",
        "logsumexp", "nansum", "nll_loss_forward", "nll_loss2d_forward", "mse_loss", "l1_loss",
        "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "multi_margin_loss",
        "multilabel_margin_loss_forward", "kl_div", "trace", "avg_pool2d", "avg_pool3d",
        "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool3d", "avg_pool1d",
        "_cdist_forward", "_pdist_forward", "cdist_forward", "grid_sampler_2d", "_embedding_bag",
    }
)  # fmt: skip


def reduction_length(func: Any, args: Sequence[Any], result: Any) -> int:
    """Return the number of elements behind one element of the result; 1 if elementwise.

    Args:
        func: An overload of an ATen operator.
        args: Its positional arguments.
        result: What it returned.
    """
    name = func._schema.name.partition("::")[2].rstrip("_")
    shapes = [tuple(arg.shape) if isinstance(arg, torch.Tensor) else () for arg in args]
    if name in _CONTRACTED:
        operand, axis = _CONTRACTED[name]
        return max(1, int(shapes[operand][axis]))
    if name in {"convolution", "mkldnn_convolution", "_slow_conv2d_forward"}:
        return _convolution(args)
    if name in _ALONG_DIM:
        return _extent(shapes[0], args[1] if len(args) > 1 else -1)
    if name.startswith("_scaled_dot_product"):
        return max(int(shapes[0][-1]), int(shapes[1][-2]))
    return max(1, _normalised(name, args, shapes), _shrunk(func, name, args, shapes, result))


def _convolution(args: Sequence[Any]) -> int:
    shape = [int(extent) for extent in args[1].shape]
    is_transposed = bool(args[6]) if len(args) > 6 else False
    if is_transposed:
        groups = int(args[8]) if len(args) > 8 else 1
        return max(1, shape[0] // max(1, groups) * math.prod(shape[2:]))
    return max(1, math.prod(shape[1:]))


def _normalised(name: str, args: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> int:
    if "layer_norm" in name:
        return max(1, math.prod(int(extent) for extent in args[1]))
    if name == "_fused_rms_norm":
        return max(1, math.prod(int(extent) for extent in args[1]))
    if "group_norm" in name:
        _, _, _, batch, channels, inner, groups = (*args, 1, 1, 1, 1, 1, 1)[:7]
        return max(1, int(channels) * int(inner) // max(1, int(groups))) if batch else 1
    if "batch_norm" in name and len(shapes[0]) > 1:
        return max(1, math.prod(shapes[0]) // max(1, shapes[0][1]))
    return 0


def _shrunk(
    func: Any,
    name: str,
    args: Sequence[Any],
    shapes: Sequence[tuple[int, ...]],
    result: Any,
) -> int:
    is_reduction = name in _SHRINKING or torch.Tag.reduction in func.tags
    if not is_reduction or not shapes:
        return 1
    first = result[0] if isinstance(result, (tuple, list)) and result else result
    if not isinstance(first, torch.Tensor):
        return 1
    if "avg_pool" in name and "adaptive" not in name and len(args) > 1:
        return max(1, math.prod(_window(args[1], len(shapes[0]) - 2)))
    return max(1, math.prod(shapes[0]) // max(1, first.numel()))


def _window(size: Any, dims: int) -> tuple[int, ...]:
    numbers = tuple(int(n) for n in size) if isinstance(size, (tuple, list)) else (int(size),)
    return numbers * dims if len(numbers) == 1 else numbers


def _extent(shape: tuple[int, ...], dim: Any) -> int:
    return max(1, int(shape[int(dim)])) if shape else 1
