"""What each primitive computes, as NumPy functions on the valid elements alone.

Arrays come in with exactly the operands' valid extents; scalars have already been converted to the
arrays' element type. A result has the destination's extent. The interpreter supplies the element
type (it rounds after every primitive) and everything about memory.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Number: TypeAlias = "Array | int | float"


def erf(a: Array) -> Array:
    """The error function, by the C library in double precision, rounded to the input's type."""
    flat = np.array([math.erf(float(value)) for value in a.ravel()], dtype=np.float64)
    return flat.reshape(a.shape).astype(a.dtype)


def gelu(a: Array) -> Array:
    """x * Phi(x), the exact form: (x / 2) * (1 + erf(x / sqrt 2)) in double precision."""
    wide = a.astype(np.float64)
    return np.asarray(0.5 * wide * (1.0 + erf(wide * math.sqrt(0.5)))).astype(a.dtype)


def sigmoid(a: Array) -> Array:
    """1 / (1 + exp(-x)) in double precision; exp overflows to infinity, which gives 0."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-a.astype(np.float64)))).astype(a.dtype)


def rsqrt(a: Array) -> Array:
    """1 / sqrt(x), both steps rounded."""
    return np.asarray(a.dtype.type(1) / np.sqrt(a))


def recip(a: Array) -> Array:
    """1 / x."""
    return np.asarray(a.dtype.type(1) / a)


def relu(a: Array) -> Array:
    """max(x, 0)."""
    return np.asarray(np.maximum(a, a.dtype.type(0)))


def axpy(d: Array, a: Array, s: Number) -> Array:
    """d + s * a, where `d` is the destination's old content."""
    return np.asarray(d + s * a)


def clamp(a: Array, lo: Number, hi: Number) -> Array:
    """min(max(x, lo), hi)."""
    return np.asarray(np.minimum(np.maximum(a, lo), hi))


def leaky_relu(a: Array, alpha: Number) -> Array:
    """x where x > 0, alpha * x elsewhere."""
    return np.where(a > 0, a, np.asarray(alpha * a)).astype(a.dtype)


def reversed_subtract(s: Number, a: Array) -> Array:
    """s - x."""
    return np.asarray(s - a)


def reversed_divide(s: Number, a: Array) -> Array:
    """s / x."""
    return np.asarray(s / a)


COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


def compare(a: Array, b: Number, op: str) -> Array:
    """One truth value an element; `op` is lt, le, gt, ge, eq or ne."""
    return np.asarray(COMPARISONS[op](a, b))


def select(mask: Array, a: Array, b: Number) -> Array:
    """a where the mask is set, b elsewhere."""
    return np.where(mask, a, b).astype(a.dtype)


def fill(s: Number, *counts: int) -> Array:
    """An array of shape `counts` full of `s`."""
    return np.full(counts, s)


def iota(start: Number, count: int) -> Array:
    """start, start + 1, ..., `count` of them."""
    return np.asarray(start + np.arange(count))


def gather(a: Array, index: Array) -> Array:
    """a[index[k]] for each k; the index counts elements and is inside the source."""
    return np.asarray(a.ravel()[index])


def strided(a: Array, start: int, step: int, count: int) -> Array:
    """a[start], a[start + step], ..., `count` of them."""
    return a.ravel()[start : start + (count - 1) * step + 1 : step]


def transpose(a: Array) -> Array:
    """Rows become columns."""
    return a.T


def bitnot(a: Array) -> Array:
    """Each bit flipped."""
    return np.invert(a)


def _reduced(function: Any, a: Array, axis: int | None) -> Array:
    wide = a.astype(np.float64) if a.dtype.kind == "f" else a.astype(np.int64)
    if axis is None:
        return np.asarray(function(wide)).astype(a.dtype)
    return np.asarray(function(wide, axis=axis, keepdims=True)).astype(a.dtype)


def reduce_sum(a: Array, axis: int | None = None) -> Array:
    """Sum in double precision, rounded once; axis None reduces all, else the axis keeps size 1."""
    return _reduced(np.sum, a, axis)


def reduce_prod(a: Array, axis: int | None = None) -> Array:
    """Product in double precision, rounded once."""
    return _reduced(np.prod, a, axis)


def reduce_max(a: Array, axis: int | None = None) -> Array:
    """Largest element."""
    return _reduced(np.max, a, axis)


def reduce_min(a: Array, axis: int | None = None) -> Array:
    """Smallest element."""
    return _reduced(np.min, a, axis)


def cumsum(a: Array, axis: int, carry: Array | None = None) -> tuple[Array, Array | None]:
    """Running sum along `axis` in double precision, started from `carry`; and the carry for the
    next tile: the last running value (`carry` has size 1 along `axis`)."""
    wide = np.cumsum(a.astype(np.float64), axis=axis)
    if carry is not None:
        wide = wide + carry.astype(np.float64)
    return _with_carry(wide, a, axis, carry)


def cumprod(a: Array, axis: int, carry: Array | None = None) -> tuple[Array, Array | None]:
    """Running product along `axis` in double precision, and the carry for the next tile."""
    wide = np.cumprod(a.astype(np.float64), axis=axis)
    if carry is not None:
        wide = wide * carry.astype(np.float64)
    return _with_carry(wide, a, axis, carry)


def _with_carry(
    wide: Array, a: Array, axis: int, carry: Array | None
) -> tuple[Array, Array | None]:
    result = wide.astype(a.dtype)
    if carry is None:
        return result, None
    return result, np.take(wide, [-1], axis=axis).astype(a.dtype)
