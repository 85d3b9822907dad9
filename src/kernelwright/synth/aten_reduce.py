"""ATen reductions, norms and losses as canonical reductions with maps around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from kernelwright.core.errors import NotCovered
from kernelwright.synth.aten_map import Value, lifted
from kernelwright.synth.expr import Expr, Exprs

Dims: TypeAlias = "int | Sequence[int] | None"
Rule: TypeAlias = Callable[..., "Expr | tuple[Expr | None, ...]"]


def places(value: Expr, dims: Dims) -> tuple[int, ...]:
    """Return dimensions as places from 0; None and an empty list mean all of them."""
    rank = len(value.shape)
    if dims is None or (not isinstance(dims, int) and not dims):
        return tuple(range(rank))
    listed = (dims,) if isinstance(dims, int) else dims
    return tuple(sorted(dim % rank for dim in listed)) if rank else ()


def mean(make: Exprs, x: Expr, dims: Dims = None, keep: bool = False) -> Expr:
    """Return the mean over `dims`."""
    at = places(x, dims)
    return make.apply("div", make.reduce("sum", x, at, keep=keep), make.extent_of(x, at))


def moments(make: Exprs, x: Expr, at: Sequence[int], keep: bool = True) -> tuple[Expr, Expr]:
    """Return the mean and the sum of squared distances to it, over `at`."""
    centre = make.apply("div", make.reduce("sum", x, at, keep=True), make.extent_of(x, at))
    spread = make.reduce("m2", x, at, keep=True, other=centre)
    if not keep:
        shape = tuple(dim for place, dim in enumerate(x.shape) if place not in at)
        return make.viewed(centre, shape), make.viewed(spread, shape)
    return centre, spread


def _over(kind: str) -> Rule:
    return lambda make, x, dims=None, keep=False, **_: make.reduce(
        kind, x, places(x, dims), keep=keep
    )


def _mean(make: Exprs, x: Expr, dims: Dims = None, keep: bool = False, **_: Value) -> Expr:
    return mean(make, x, dims, keep)


def _with_index(kind: str) -> Rule:
    def rule(make: Exprs, x: Expr, dim: int, keep: bool = False) -> tuple[Expr, Expr]:
        at = places(x, dim)
        return (
            make.reduce(kind, x, at, keep=keep),
            make.reduce(f"arg{kind}", x, at, keep=keep),
        )

    return rule


def _index(kind: str) -> Rule:
    def rule(make: Exprs, x: Expr, dim: int | None = None, keep: bool = False) -> Expr:
        return make.reduce(kind, x, places(x, dim), keep=keep)

    return rule


def _variance(
    make: Exprs, x: Expr, dims: Dims = None, *, correction: float = 1, keepdim: bool = False
) -> Expr:
    at = places(x, dims)
    _, spread = moments(make, x, at, keepdim)
    count = make.shifted(make.extent_of(x, at), -float(1 if correction is None else correction))
    return make.apply("div", spread, count)


def _deviation(make: Exprs, x: Expr, *args: Dims, **kwargs: float) -> Expr:
    return make.apply("sqrt", _variance(make, x, *args, **kwargs))  # type: ignore[arg-type]


def _variance_mean(
    make: Exprs, x: Expr, dims: Dims = None, *, correction: float = 1, keepdim: bool = False
) -> tuple[Expr, Expr]:
    centre, _ = moments(make, x, places(x, dims), keepdim)
    return _variance(make, x, dims, correction=correction, keepdim=keepdim), centre


def norm(
    make: Exprs, x: Expr, order: float | None = 2, dims: Dims = None, keep: bool = False, **_: Value
) -> Expr:
    """Return the vector norm of an order over `dims`."""
    at, order = places(x, dims), 2.0 if order is None else float(order)
    size = make.apply("abs", x)
    if order == 2.0:
        return make.apply("sqrt", make.reduce("sum", make.apply("square", x), at, keep=keep))
    if order == 1.0:
        return make.reduce("sum", size, at, keep=keep)
    if math.isinf(order):
        return make.reduce("max" if order > 0 else "min", size, at, keep=keep)
    raise NotCovered(f"a norm of order {order:g}", fix="orders 1, 2 and infinity are covered")


def softmax(make: Exprs, x: Expr, dim: int, *_: Value) -> Expr:
    """Return the softmax over one dimension."""
    largest, total = _exponentials(make, x, places(x, dim))
    raised = make.apply("exp_down", make.apply("sub", x, largest))
    return make.apply("mul", raised, make.apply("recip", total))


def log_softmax(make: Exprs, x: Expr, dim: int, *_: Value) -> Expr:
    """Return the logarithm of the softmax over one dimension."""
    largest, total = _exponentials(make, x, places(x, dim))
    return make.apply("sub", make.apply("sub", x, largest), make.apply("log", total))


def _exponentials(make: Exprs, x: Expr, at: Sequence[int]) -> tuple[Expr, Expr]:
    # A NaN that "top" misses comes back through its own exponential, in every element of the row.
    largest = make.reduce("top", x, at, keep=True)
    return largest, make.reduce("sumexp", x, at, keep=True, other=largest)


def _log_sum_exp(make: Exprs, x: Expr, dims: Dims, keep: bool = False) -> Expr:
    at = places(x, dims)
    largest = make.reduce("max", x, at, keep=True)
    infinite = make.compare("eq", make.apply("abs", largest), make.const(math.inf))
    base = make.where(infinite, make.const(0.0), largest)
    total = make.reduce("sum", make.apply("exp", make.apply("sub", x, base)), at, keep=True)
    result = make.apply("add", make.apply("log", total), base)
    shape = tuple(dim for place, dim in enumerate(x.shape) if keep or place not in at)
    shape = tuple(() if keep and p in at else d for p, d in enumerate(x.shape)) if keep else shape
    return make.viewed(result, shape)


def _reduced(make: Exprs, loss: Expr, reduction: int) -> Expr:
    """Apply a loss's reduction: 0 none, 1 mean, 2 sum."""
    if reduction == 0:
        return loss
    everything = tuple(range(len(loss.shape)))
    return mean(make, loss) if reduction == 1 else make.reduce("sum", loss, everything, keep=False)


def _mse_loss(make: Exprs, x: Expr, y: Expr, reduction: int = 1) -> Expr:
    return _reduced(make, make.apply("square", make.apply("sub", x, y)), reduction)


def _smooth_l1(make: Exprs, x: Expr, y: Expr, reduction: int = 1, beta: float = 1.0) -> Expr:
    distance = make.apply("abs", make.apply("sub", x, y))
    if beta == 0:
        return _reduced(make, distance, reduction)
    near = make.scaled(make.apply("square", distance), 0.5 / beta)
    is_near = make.compare("lt", distance, make.const(beta))
    loss = make.where(is_near, near, make.shifted(distance, -0.5 * beta))
    return _reduced(make, loss, reduction)


def _huber(make: Exprs, x: Expr, y: Expr, reduction: int = 1, delta: float = 1.0) -> Expr:
    distance = make.apply("abs", make.apply("sub", x, y))
    near = make.scaled(make.apply("square", distance), 0.5)
    is_near = make.compare("le", distance, make.const(delta))
    far = make.scaled(make.shifted(distance, -0.5 * delta), delta)
    return _reduced(make, make.where(is_near, near, far), reduction)


def _cross_entropy(
    make: Exprs, p: Expr, y: Expr, weight: Expr | None = None, reduction: int = 1
) -> Expr:
    def floored(value: Expr) -> Expr:
        return make.apply("max", make.apply("log", value), make.const(-100.0))

    one_less = make.apply("sub", make.const(1.0), p)
    rest = make.apply("sub", make.const(1.0), y)
    gain = make.apply(
        "add",
        make.apply("mul", y, floored(p)),
        make.apply("mul", rest, floored(one_less)),
    )
    loss = make.apply("neg", gain)
    return _reduced(make, loss if weight is None else make.apply("mul", loss, weight), reduction)


def nll_loss(
    make: Exprs, x: Expr, target: Expr, weight: Expr | None, reduction: int, ignored: int
) -> tuple[Expr, Expr]:
    """Return the negative log-likelihood at the targets, and how many targets counted."""
    if weight is not None or len(x.shape) != 2:
        raise NotCovered("nll_loss with class weights or extra axes", fix="leave weights out")
    picked = make.apply("neg", picked_at(make, x, 1, target))
    counts = make.compare("ne", target, make.const(float(ignored)))
    loss = make.where(counts, picked, make.const(0.0))
    total = make.reduce("sum", make.number(counts), (0,), keep=False)
    if reduction == 0:
        return loss, total
    summed = make.reduce("sum", loss, (0,), keep=False)
    return (make.apply("div", summed, total) if reduction == 1 else summed), total


def picked_at(make: Exprs, x: Expr, place: int, index: Expr) -> Expr:
    """Return `x` at an index along one dimension, an index a row; out of range is clamped."""
    dim = make.axes.primes(x.shape[place])
    kept = tuple(d for p, d in enumerate(x.shape) if p != place)
    if index.op != "load" or len(dim) != 1:
        raise NotCovered("an index that is computed", fix="indices must be an input")
    make.axes.broadcast([kept, index.shape])

    def change(expr: Expr, args: tuple[Expr, ...]) -> Expr:
        extents = tuple(make.axes.primes(extent) for extent in expr.shape)
        shape = tuple(() if extent == dim else extent for extent in extents)
        if any(dim[0] in extent for extent in shape):
            raise NotCovered("an index into a merged extent", fix="index the tensor itself")
        if expr.op == "reduce":
            return expr
        if expr.op == "load" and shape != expr.shape:
            attr = f"{expr.attr}@{dim[0]}"
            return make.make("load_at", index, shape=shape, kind=expr.kind, attr=attr)
        return make.make(expr.op, *args, shape=shape, kind=expr.kind, attr=expr.attr)

    return make.viewed(make.rewritten(x, change), kept)


def _any(make: Exprs, x: Expr, dims: Dims = None, keep: bool = False) -> Expr:
    flags = make.number(make.mask(x))
    return make.mask(make.reduce("max", flags, places(x, dims), keep=keep))


def _all(make: Exprs, x: Expr, dims: Dims = None, keep: bool = False) -> Expr:
    flags = make.number(make.mask(x))
    return make.mask(make.reduce("min", flags, places(x, dims), keep=keep))


def _dot(make: Exprs, x: Expr, y: Value) -> Expr:
    return make.reduce("sum", make.apply("mul", x, lifted(make, y)), (0,), keep=False)


REDUCE_RULES: Mapping[str, Rule] = {
    "sum": _over("sum"),
    "prod": _over("prod"),
    "amax": _over("max"),
    "amin": _over("min"),
    "max.default": _over("max"),
    "min.default": _over("min"),
    "max.dim": _with_index("max"),
    "min.dim": _with_index("min"),
    "argmax": _index("argmax"),
    "argmin": _index("argmin"),
    "any": _any,
    "all": _all,
    "mean": _mean,
    "var": _variance,
    "std": _deviation,
    "var_mean": _variance_mean,
    "norm": norm,
    "linalg_vector_norm": norm,
    "dot": _dot,
    "_softmax": softmax,
    "_log_softmax": log_softmax,
    "logsumexp": _log_sum_exp,
    "mse_loss": _mse_loss,
    "smooth_l1_loss": _smooth_l1,
    "huber_loss": _huber,
    "binary_cross_entropy": _cross_entropy,
    "nll_loss_forward": nll_loss,
}
"""ATen operator, with its overload where that matters, to the function that expresses it."""
