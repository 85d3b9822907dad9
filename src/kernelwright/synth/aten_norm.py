"""ATen normalisations: statistics over axes, then a map with scale and shift."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from kernelwright.synth.aten_map import Value
from kernelwright.synth.aten_reduce import moments
from kernelwright.synth.axes import Shape
from kernelwright.synth.expr import Expr, Exprs

Rule: TypeAlias = Callable[..., "tuple[Expr | None, ...]"]


def _normalised(make: Exprs, x: Expr, at: Sequence[int], eps: float) -> tuple[Expr, Expr, Expr]:
    """Return (x - mean) * rstd, the mean and rstd, with a biased variance over `at`."""
    centre, spread = moments(make, x, at)
    variance = make.apply("div", spread, make.extent_of(x, at))
    rstd = make.apply("rsqrt", make.shifted(variance, eps))
    return make.apply("mul", make.apply("sub", x, centre), rstd), centre, rstd


def _affine(make: Exprs, x: Expr, weight: Expr | None, bias: Expr | None) -> Expr:
    if weight is not None:
        x = make.apply("mul", x, weight)
    return x if bias is None else make.apply("add", x, bias)


def _per_channel(make: Exprs, value: Expr | None, x: Expr) -> Expr | None:
    """View a vector of channels so that it lies along the second dimension of `x`."""
    if value is None:
        return None
    shape: Shape = ((), value.shape[0], *((),) * (len(x.shape) - 2))
    make.axes.broadcast([shape, x.shape])
    return make.viewed(value, shape)


def layer_norm(
    make: Exprs,
    x: Expr,
    normalised: Sequence[int],
    weight: Expr | None,
    bias: Expr | None,
    eps: float,
) -> tuple[Expr | None, ...]:
    """Return native_layer_norm's outputs: result, mean, rstd."""
    at = range(len(x.shape) - len(normalised), len(x.shape))
    y, centre, rstd = _normalised(make, x, at, eps)
    return _affine(make, y, weight, bias), centre, rstd


def rms_norm(
    make: Exprs, x: Expr, normalised: Sequence[int], weight: Expr | None, eps: float | None
) -> tuple[Expr | None, ...]:
    """Return _fused_rms_norm's outputs: result, rstd."""
    at = range(len(x.shape) - len(normalised), len(x.shape))
    total = make.reduce("sum", make.apply("square", x), at, keep=True)
    square = make.apply("div", total, make.extent_of(x, at))
    rstd = make.apply("rsqrt", make.shifted(square, 1.1920928955078125e-07 if eps is None else eps))
    return _affine(make, make.apply("mul", x, rstd), weight, None), rstd


def group_norm(  # noqa: PLR0913 - ATen's own signature
    make: Exprs,
    x: Expr,
    weight: Expr | None,
    bias: Expr | None,
    batch: Value,
    channels: Value,
    area: Value,
    groups: int,
    eps: float,
) -> tuple[Expr | None, ...]:
    """Return native_group_norm's output; its statistics are not offered."""
    del batch, channels, area
    weight, bias = _per_channel(make, weight, x), _per_channel(make, bias, x)
    axes = make.axes
    extents = [axes.extent(dim) for dim in x.shape]
    split = [extents[0], groups, extents[1] // groups, *extents[2:]]
    literal = [place == 1 for place in range(len(split))]
    grouped = make.viewed(x, axes.view(x.shape, split, literal))
    y, _, _ = _normalised(make, grouped, range(2, len(split)), eps)
    return _affine(make, make.viewed(y, x.shape), weight, bias), None, None


def batch_norm(
    make: Exprs,
    x: Expr,
    weight: Expr | None,
    bias: Expr | None,
    running: tuple[Expr, Expr] | None,
    is_training: bool,
    eps: float,
) -> tuple[Expr | None, ...]:
    """Return the result, and in training mode the mean and the unbiased variance over a batch."""
    weight, bias = _per_channel(make, weight, x), _per_channel(make, bias, x)
    if not is_training and running is not None:
        centre, variance = (_per_channel(make, value, x) for value in running)
        assert centre is not None and variance is not None
        rstd = make.apply("rsqrt", make.shifted(variance, eps))
        y = make.apply("mul", make.apply("sub", x, centre), rstd)
        return _affine(make, y, weight, bias), None, None
    at = tuple(place for place in range(len(x.shape)) if place != 1)
    y, centre, _ = _normalised(make, x, at, eps)
    _, spread = moments(make, x, at)
    unbiased = make.apply("div", spread, make.shifted(make.extent_of(x, at), -1.0))
    channel = (x.shape[1],)
    return (
        _affine(make, y, weight, bias),
        make.viewed(centre, channel),
        make.viewed(unbiased, channel),
    )


NORM_RULES: Mapping[str, Rule] = {
    "native_layer_norm": layer_norm,
    "_fused_rms_norm": rms_norm,
    "native_group_norm": group_norm,
}
"""ATen operator to the function that expresses it; batch norms need the buffers' names as well."""
