"""Draws of tensors for programs of the kernel language, of any element type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwright.core.errors import UnknownName, UsageMistake
from kernelwright.dsl.interpret import NUMPY, to_bf16
from kernelwright.dsl.types import DType

Array: TypeAlias = NDArray[Any]
Values: TypeAlias = "Callable[[np.random.Generator, tuple[int, ...], float, float], Array]"

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 6e-8, 1e4, -1e4, 88.0)
"""Values among which `special` chooses for an eighth of the elements: signed zeros, infinities,
NaN, subnormals of f32 and f16, and magnitudes at which exp overflows or sums cancel."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A distribution with its two numbers."""

    name: str
    low: float
    high: float

    def __str__(self) -> str:
        takes = len(DISTRIBUTIONS[self.name][1])
        return ":".join([self.name, *(f"{v:g}" for v in (self.low, self.high)[:takes])])


def _special(rng: np.random.Generator, shape: tuple[int, ...], low: float, high: float) -> Array:
    values = rng.standard_normal(shape)
    chosen = rng.choice(np.array(SPECIAL), shape)
    return np.where(rng.random(shape) < 1 / 8, chosen, values)


def _arange(rng: np.random.Generator, shape: tuple[int, ...], low: float, high: float) -> Array:
    return np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)


DISTRIBUTIONS: Mapping[str, tuple[Values, tuple[float, ...]]] = {
    "normal": (lambda rng, shape, mean, std: rng.normal(mean, abs(std), shape), (0.0, 1.0)),
    "uniform": (lambda rng, shape, low, high: rng.uniform(low, high, shape), (0.0, 1.0)),
    "ints": (
        lambda rng, shape, low, high: rng.integers(int(low), int(high), shape, endpoint=True),
        (0.0, 9.0),
    ),
    "zeros": (lambda rng, shape, low, high: np.zeros(shape), ()),
    "ones": (lambda rng, shape, low, high: np.ones(shape), ()),
    "arange": (_arange, ()),
    "special": (_special, ()),
}
"""Every distribution: how it draws, and the defaults of its numbers."""


def draw_of(name: str, words: Sequence[str], dtype: DType) -> Draw:
    """The draw that the words after a shape ask for; none ask for the element type's own.

    Args:
        name: The parameter, for messages.
        words: A distribution and its numbers, such as `["uniform", "-4", "4"]`.

    Raises:
        UsageMistake: where there is no such distribution, or its numbers make no sense.
    """
    if not words:
        words = ["normal"] if dtype.is_float else ["ints"]
        if dtype is DType.BOOL:
            words = ["ints", "0", "1"]
    kind, *texts = words
    if kind not in DISTRIBUTIONS:
        raise UnknownName(
            f"{name} cannot be drawn as {kind!r}",
            fix=f"write {name}=SHAPE:DISTRIBUTION with one of {', '.join(DISTRIBUTIONS)}",
        )
    defaults = DISTRIBUTIONS[kind][1]
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        numbers = [float("nan")]
    if len(numbers) > len(defaults) or not all(np.isfinite(value) for value in numbers):
        raise UsageMistake(
            f"{name} cannot be drawn as {':'.join(words)!r}",
            fix=f"{kind} takes {_takes(kind)}",
        )
    low, high = (*numbers, *defaults[len(numbers) :], 0.0, 0.0)[:2]
    if kind in ("uniform", "ints") and low > high:
        raise UsageMistake(
            f"{name}: nothing lies between {low:g} and {high:g}", fix=f"{kind} takes {_takes(kind)}"
        )
    if kind == "special" and not dtype.is_float:
        raise UsageMistake(
            f"{name} is {dtype.value}, which has no special values", fix="draw ints instead"
        )
    return Draw(kind, low, high)


def _takes(kind: str) -> str:
    defaults = DISTRIBUTIONS[kind][1]
    if not defaults:
        return "no numbers"
    return f"up to {len(defaults)} numbers, by default {kind}:" + ":".join(
        f"{value:g}" for value in defaults
    )


def drawn(draw: Draw, dtype: DType, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """A tensor of a shape; what the element type cannot hold saturates or rounds.

    Raises:
        MemoryError: where there is no memory for it.
        ValueError: where NumPy has no arrays of that size.
    """
    values = DISTRIBUTIONS[draw.name][0](rng, shape, draw.low, draw.high)
    if dtype is DType.BF16:
        return to_bf16(values.astype(np.float32))
    kind = NUMPY[dtype]
    with np.errstate(all="ignore"):
        if dtype.is_float:
            return np.asarray(values.astype(kind))
        limits = np.iinfo(kind)
        highest = 1 if dtype is DType.BOOL else limits.max
        whole = np.rint(values).astype(np.int64) if values.dtype.kind == "f" else values
        return np.asarray(np.clip(whole, limits.min, highest).astype(kind))
