"""How far results may be apart: the interpreter run again with its roundings disturbed.

The printed C++ rounds some operations otherwise than the interpreter: products that are fused with
a sum, sums in another order, functions within a few units of the last place. Each such operation
gets random errors of that size, so what the differences become further on in a program (through
cancellation, a comparison, a rounding) shows as spread. Operations that must agree get none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from kernelwright.dsl.interpret import core, scalar
from kernelwright.dsl.types import DType

ROUNDED = ("mul", "muls", "leaky_relu", "axpy")
"""Products, which a compiler may leave unrounded."""
FUNCTIONS = {"exp": 3.0, "ln": 3.0, "tanh": 3.0, "sigmoid": 4.0, "erf": 4.0, "gelu": 4.0,
             "sin": 3.0, "cos": 3.0}  # fmt: skip
SIGNS = ("max", "min", "maxs", "mins", "relu", "clamp", "reduce_max", "reduce_min")
"""Operations that may give either zero."""


def nudged(values: Any, units: float, rng: np.random.Generator, least: Any = 0.0) -> Any:
    """Floats moved by up to `units` of their last place, at least by `least`."""
    kind = values.dtype
    with np.errstate(all="ignore"):
        size = np.maximum(np.spacing(np.abs(values)).astype(np.float64) * units, least)
        step = rng.uniform(-1, 1, values.shape) * size
        moved = (values.astype(np.float64) + np.where(np.isfinite(values), step, 0.0)).astype(kind)
    return np.where(np.isfinite(values), moved, values).astype(kind)


def _summed(operands: list[Any], axis: int | None, values: Any, rng: np.random.Generator) -> Any:
    with np.errstate(all="ignore"):
        numbers = np.abs(operands[0].astype(np.float64))
        numbers = np.where(np.isfinite(numbers), numbers, 0.0)
        size = numbers.sum(axis=axis, keepdims=axis is not None)
        is_over = size > np.finfo(np.float32).max
        size = size * 1.2e-7
    moved = nudged(np.asarray(values), 1.0, rng, size.reshape(np.shape(values)))
    # A sum that overflows on its way depends on the order.
    ends = rng.choice(np.array([np.inf, -np.inf, np.nan]), moved.shape).astype(moved.dtype)
    is_lost = is_over.reshape(moved.shape) & (rng.random(moved.shape) < 0.7)
    return np.where(is_lost, ends, moved).astype(moved.dtype)


def _product(values: Any, factors: Sequence[Any], rng: np.random.Generator) -> Any:
    """A product that is left unrounded: it does not overflow either."""
    moved = nudged(values, 1.0, rng)
    finite = np.isinf(values)
    for factor in factors:
        finite = finite & np.isfinite(factor)
    most = np.copysign(np.finfo(values.dtype).max, values)
    return np.where(finite & (rng.random(values.shape) < 0.5), most, moved).astype(values.dtype)


def _disturbed(rng: np.random.Generator, plain: Callable[..., Any]) -> Callable[..., Any]:
    def computed(node: Any, operands: list[Any], **given: Any) -> Any:
        dtype, name = given["dtype"], node.name
        # What a product is added to decides what its rounding costs, so the factor is disturbed.
        if name == "axpy" and dtype is DType.F32:
            operands = [operands[0], float(nudged(np.float32([operands[1]]), 1.0, rng)[0])]
        result, carry = plain(node, operands, **given)
        if dtype not in (DType.F32, DType.F16) or name == "cast":
            return result, carry
        if name in SIGNS:
            flip = (result == 0) & (rng.random(result.shape) < 0.5)
            return np.where(flip, -result, result).astype(result.dtype), carry
        if name == "reduce_sum":
            return _summed(operands, node.attribute("axis", 1), result, rng), carry
        if name in FUNCTIONS:
            least = {"sin": 4e-7, "cos": 4e-7, "sigmoid": 2e-38}.get(name, 0.0)
            if name == "gelu":
                least = np.abs(operands[0].astype(np.float64)) * 2e-7
                least = np.where(np.isfinite(least), least, 0.0)
            moved = nudged(result, FUNCTIONS[name], rng, least)
            is_lost = (np.abs(result) <= least) & (rng.random(result.shape) < 0.5)
            return np.where(is_lost, np.copysign(0, moved), moved).astype(result.dtype), carry
        if name in ROUNDED and dtype is DType.F32:
            factors = [np.asarray(item, np.float32) for item in operands[:2]]
            return _product(result, factors, rng), carry
        return result, carry

    return computed


def _read(rng: np.random.Generator, plain: Callable[..., Any]) -> Callable[..., Any]:
    def read(self: Any, node: Any) -> Any:
        value = plain(self, node)
        if getattr(node, "function", "") == "reduce_sum":
            buffer, key, _ = self.place(node.source)
            return np.float32(_summed([buffer.data[key]], None, np.asarray(value), rng))
        return value

    return read


def _function(rng: np.random.Generator, plain: Any, units: float) -> Any:
    return lambda *values: nudged(np.asarray(plain(*values)), units, rng)[()]


@contextmanager
def rounding_noise(rng: np.random.Generator) -> Iterator[None]:
    """Runs of the interpreter in this context round otherwise, within what is allowed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "computed", _disturbed(rng, core.computed))
        patch.setattr(core.Core, "_read", _read(rng, core.Core._read))
        for name, units in (("exp", 3.0), ("log", 3.0)):
            function = _function(rng, scalar.FLOAT_FUNCTIONS[name], units)
            patch.setitem(scalar.FLOAT_FUNCTIONS, name, function)  # type: ignore[arg-type]
        plain = scalar.FLOAT_BINARY["*"]

        def product(a: Any, b: Any) -> Any:
            return _product(np.asarray(plain(a, b)), [a, b], rng)[()]

        patch.setitem(scalar.FLOAT_BINARY, "*", product)  # type: ignore[arg-type]
        yield


def differs(got: Any, want: Any, others: list[Any]) -> Any:
    """Where a result is further from the wanted one than disturbed runs are.

    Args:
        got, want: Numbers of one shape, floats as float64.
        others: The disturbed results.
    """
    with np.errstate(all="ignore"):
        same = (got == want) | ((got != got) & (want != want))
        if same.all():
            return ~same
        spread = np.zeros(want.shape)
        for other in others:
            alike = (other == want) | ((other != other) & (want != want))
            step = np.abs(other - want)
            step = np.where(np.isfinite(step), step, np.inf)
            spread = np.maximum(spread, np.where(alike, 0.0, step))
        near = np.abs(got - want) <= 8 * spread
        # An overflow on one side of the wanted number is one on the other side.
        return ~(same | near | np.isinf(spread))
