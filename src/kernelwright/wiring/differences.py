"""How far two results of one program are apart: absolutely, and in units of the last place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwright.core.fingerprint import Json
from kernelwright.dsl.interpret import from_bf16
from kernelwright.dsl.types import DType

Array: TypeAlias = NDArray[Any]

_BITS = {DType.F32: 32, DType.F16: 16, DType.BF16: 16}


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest difference of one output.

    Attributes:
        name: The output.
        largest: Largest absolute difference where both are finite.
        largest_ulp: Largest number of representable values between the two where neither is NaN;
            of integers, the absolute difference.
        differing: Elements that differ; NaN is like NaN, and -0 is like 0.
        unlike: Elements where one is NaN or infinite and the other is not the same.
        count: Elements.
        at: Index of the element with the most units of the last place, None where none differs.
    """

    name: str
    largest: float
    largest_ulp: int
    differing: int
    unlike: int
    count: int
    at: tuple[int, ...] | None

    def to_json(self) -> dict[str, Json]:
        """The difference as a JSON object."""
        return {
            "name": self.name,
            "largest": self.largest,
            "largest_ulp": self.largest_ulp,
            "differing": self.differing,
            "unlike": self.unlike,
            "count": self.count,
            "at": None if self.at is None else list(self.at),
        }


def difference(name: str, dtype: DType, one: Array, other: Array) -> Difference:
    """Compare two arrays of one shape and element type.

    Args:
        one: bf16 as bits.
        other: As `one`.
    """
    left, right = numbers_of(dtype, one), numbers_of(dtype, other)
    is_same = (left == right) | (np.isnan(left) & np.isnan(right))
    is_finite = np.isfinite(left) & np.isfinite(right)
    with np.errstate(all="ignore"):
        apart = np.where(is_finite, np.abs(left - right), 0.0)
    steps = np.where(is_same | np.isnan(left) | np.isnan(right), 0, _steps(dtype, one, other))
    differing = int((~is_same).sum())
    unlike = ~is_same & ~is_finite
    at = None
    if differing:
        worst = int(np.argmax(unlike)) if unlike.any() else int(np.argmax(steps))
        at = tuple(int(place) for place in np.unravel_index(worst, one.shape))
    return Difference(
        name,
        float(apart.max(initial=0.0)),
        int(steps.max(initial=0)),
        differing,
        int(unlike.sum()),
        one.size,
        at,
    )


def numbers_of(dtype: DType, array: Array) -> Array:
    """The elements in double precision; i64 beyond 2^53 is rounded."""
    return (from_bf16(array) if dtype is DType.BF16 else array).astype(np.float64)


def _steps(dtype: DType, one: Array, other: Array) -> Array:
    if dtype not in _BITS:
        # As Python integers, so that no difference of i64 overflows.
        wide = np.abs(one.astype(object) - other.astype(object))
        return np.asarray(np.minimum(wide, 2**63 - 1).astype(np.int64))
    return np.asarray(np.abs(_ordered(dtype, one) - _ordered(dtype, other)))


def _ordered(dtype: DType, array: Array) -> Array:
    """Numbers of the values in their order, so that neighbours differ by 1 and -0 is 0."""
    width = _BITS[dtype]
    bits = np.ascontiguousarray(array).view(f"i{width // 8}").astype(np.int64)
    return np.where(bits < 0, -(2 ** (width - 1)) - bits, bits)
