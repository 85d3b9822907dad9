"""Where and by how much two tensors of equal shape and dtype differ.

Takes:   a candidate's tensor, the eager reference's, and the float64 reference's if there is one.
Gives:   None when they agree, else count, largest errors and the box that holds every mismatch.
Leaves:  structure, shapes and dtypes to `compare.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kernelwright.core.tensor import Tensor
from kernelwright.verify.arrays import (
    COMPLEX_DTYPES,
    EXACT_DTYPES,
    Bools,
    Floats,
    Raw,
    as_stored,
    component_shape,
    stored,
    widened,
)
from kernelwright.verify.scale import Piece, pieces, row_length, row_scales
from kernelwright.verify.tolerance import Allowance

_OWN_ERROR_QUANTILE = 0.98
_OWN_ERROR_FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class Difference:
    """How a tensor differs from the expected one.

    Attributes:
        mismatched: Elements outside the tolerance.
        total: Elements compared.
        max_abs: Largest absolute error among them; infinite if one is not finite.
        max_rel: Largest error relative to a non-zero expected element among them.
        box: (first, one past last) index of the mismatches along every axis.
        not_finite: Elements among them that are NaN or infinite where the reference is finite.
    """

    mismatched: int
    total: int
    max_abs: float
    max_rel: float
    box: tuple[tuple[int, int], ...]
    not_finite: int


def difference(
    got: Tensor,
    eager: Tensor,
    exact: Tensor | None,
    allowance: Allowance | None,
    *,
    is_whole: bool = True,
) -> Difference | None:
    """Compare two tensors of equal shape and dtype; None when every element agrees.

    An element agrees if it is finite and within the allowance of the exact value or of the eager
    reference's (at a discontinuity both are right answers), or if it is not finite and the
    reference has the same NaN or infinity in that place. Where the eager reference itself strays
    from float64 by more than the allowance, twice its own error in that row is allowed.

    Args:
        got: The candidate's tensor.
        eager: The reference's tensor in its own dtype.
        exact: The reference in float64 (or in integers, for an integer output), if there is one.
        allowance: What error is allowed; None for integers and bools, which must be equal.
        is_whole: Count every mismatch; if not, stop where the first ones are, which is enough to
            know that the tensors differ.
    """
    found = _Found(got.shape, 2 if got.dtype in COMPLEX_DTYPES else 1, is_whole)
    if got.dtype in EXACT_DTYPES or allowance is None:
        _compare_exactly(found, got, eager, exact)
    else:
        _compare_within(found, (got, eager, exact), allowance)
    return found.difference(got.count)


def _compare_exactly(found: _Found, got: Tensor, eager: Tensor, exact: Tensor | None) -> None:
    mine, theirs = stored(got), stored(eager)
    other = None if exact is None else stored(exact)
    for start in range(0, mine.size, 1 << 20):
        part = slice(start, start + (1 << 20))
        bad = mine[part] != theirs[part]
        if other is not None:
            bad &= mine[part] != other[part]
        at = np.flatnonzero(bad)
        if at.size:
            error = np.abs(mine[part][at].astype(np.float64) - theirs[part][at])
            found.add(start, at, error, np.abs(theirs[part][at].astype(np.float64)))
            if not found.is_whole:
                return


def _compare_within(
    found: _Found, tensors: tuple[Tensor, Tensor, Tensor | None], allowance: Allowance
) -> None:
    got, eager, exact = tensors
    truth = eager if exact is None else exact
    numbers = tuple(stored(tensor) for tensor in (got, eager, truth))
    scales = row_scales(truth) if allowance.is_scaled else np.zeros(0)
    for piece in pieces(numbers[0].size, row_length(component_shape(got))):
        at, error, magnitude = _outside(piece, numbers, (got.dtype, truth.dtype), allowance, scales)
        if at.size:
            found.add(piece.start, at, error, magnitude)
            if not found.is_whole:
                return


def _outside(
    piece: Piece,
    numbers: Sequence[Raw],
    dtypes: tuple[str, str],
    allowance: Allowance,
    scales: Floats,
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the place in the piece, error and |expected| of every number that disagrees."""
    part = slice(piece.start, piece.stop)
    mine = widened(numbers[0][part], dtypes[0]).reshape(piece.shape)
    truth = widened(numbers[2][part], dtypes[1]).reshape(piece.shape)
    rows = slice(piece.first_row, piece.first_row + piece.rows)
    scale = scales[rows, None] if allowance.is_scaled else np.zeros((1, 1))
    with np.errstate(invalid="ignore", over="ignore"):
        error = mine - truth
        np.abs(error, out=error)
        limit = allowance.limit(np.abs(truth), scale)
        # Finite first: an infinite expected value must not allow every error. An error is finite
        # only if both numbers are, and NaN is on neither side of a comparison.
        fine = error <= limit
        fine &= error < np.inf
    at = np.flatnonzero(~fine)
    if not at.size:
        return at, error.ravel()[at], truth.ravel()[at]
    eager = widened(numbers[1][part], dtypes[0]).reshape(piece.shape)
    still = ~_excused(at, (mine, eager, truth), limit, dtypes[0])
    at = at[still]
    return at, error.ravel()[at], np.abs(truth.ravel()[at])


def _excused(
    at: NDArray[np.intp], values: tuple[Floats, Floats, Floats], limit: Floats, dtype: str
) -> Bools:
    """Return which of the numbers at `at`, all outside the limit, are right answers still."""
    mine, eager, truth = (value.ravel()[at] for value in values)
    cast = as_stored(truth, dtype)
    allowed = np.broadcast_to(limit, values[2].shape).ravel()[at]
    with np.errstate(invalid="ignore", over="ignore"):
        same = (mine == eager) | (np.isnan(mine) & np.isnan(eager))
        same |= (mine == cast) | (np.isnan(mine) & np.isnan(cast))
        finite = np.isfinite(mine)
        near_eager = finite & np.isfinite(eager) & (np.abs(mine - eager) <= allowed)
        own = _own_error(at, values[1], values[2])
        near_truth = finite & np.isfinite(truth) & (np.abs(mine - truth) <= own)
    excused: Bools = same | near_eager | near_truth
    return excused


def _own_error(at: NDArray[np.intp], eager: Floats, truth: Floats) -> Floats:
    """Return twice the eager reference's own error in the row of each place.

    The 98th percentile of a row stands for it: a single flipped comparison in a row says nothing
    about the rounding of the others.
    """
    row_of = at // truth.shape[1]
    rows, inverse = np.unique(row_of, return_inverse=True)
    own = np.abs(eager[rows] - truth[rows])
    own[~np.isfinite(own)] = 0.0
    rank = max(int(np.ceil(_OWN_ERROR_QUANTILE * own.shape[1])) - 1, 0)
    quantile: Floats = np.partition(own, rank, axis=1)[:, rank]
    twice: Floats = _OWN_ERROR_FACTOR * quantile[inverse]
    return twice


@dataclass(slots=True)
class _Found:
    """Mismatches gathered piece by piece."""

    shape: tuple[int, ...]
    pair: int
    is_whole: bool
    mismatched: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0
    not_finite: int = 0
    low: list[int] = field(default_factory=list)
    high: list[int] = field(default_factory=list)

    def add(self, start: int, at: NDArray[np.intp], error: Floats, magnitude: Floats) -> None:
        """Take in the numbers at `start + at`, with their errors and expected magnitudes."""
        elements = np.unique((start + at) // self.pair) if self.pair > 1 else start + at
        self.mismatched += len(elements)
        infinite = ~np.isfinite(error)
        self.not_finite += int(np.count_nonzero(infinite & np.isfinite(magnitude)))
        self.max_abs = max(self.max_abs, float(np.where(infinite, np.inf, error).max()))
        sized = (magnitude > 0) & np.isfinite(magnitude)
        if sized.any():
            with np.errstate(over="ignore"):
                relative = np.where(infinite[sized], np.inf, error[sized] / magnitude[sized])
            self.max_rel = max(self.max_rel, float(relative.max()))
        else:
            self.max_rel = max(self.max_rel, float("inf"))
        self._stretch(elements)

    def _stretch(self, elements: NDArray[np.intp]) -> None:
        if self.low and all(
            low == 0 and high == extent - 1
            for low, high, extent in zip(self.low, self.high, self.shape, strict=True)
        ):
            return
        places = np.unravel_index(elements, self.shape) if self.shape else ()
        low = [int(axis.min()) for axis in places]
        high = [int(axis.max()) for axis in places]
        self.low = [min(pair) for pair in zip(self.low or low, low, strict=True)]
        self.high = [max(pair) for pair in zip(self.high or high, high, strict=True)]

    def difference(self, total: int) -> Difference | None:
        """Return what was found, None if nothing."""
        if not self.mismatched:
            return None
        box = tuple((low, high + 1) for low, high in zip(self.low, self.high, strict=True))
        return Difference(self.mismatched, total, self.max_abs, self.max_rel, box, self.not_finite)
