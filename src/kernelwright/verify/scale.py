"""How large an output is, row by row, so that an error can be judged against it.

An absolute tolerance accepts zeros where the outputs are small (a softmax over 4096 columns) and
refuses an honest matrix product where terms cancel. A purely relative one refuses every element
that happens to lie near zero. So an error is judged against the scale of its *row*: the numbers
that one reduction, product or normalisation makes together. Three guards keep the scale honest:

* it is the upper quartile of the root mean squares of eight segments of the row, so that one
  outlier in a row (or, where a row is a batch of scalars, one outlying entry of the batch) does
  not hide wrong small numbers;
* it is at least 1/1000 of the root mean square of the whole row: beside a probability of 1, the
  tail of a softmax at 1e-20 is not judged to five digits;
* it is at least 1/100 of the upper quartile over all rows: a row of exact zeros behind a ReLU
  must not turn another rounding of a number near zero into an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernelwright.core.tensor import Tensor
from kernelwright.verify.arrays import Floats, Raw, component_shape, stored, widened

PIECE = 1 << 15
"""Numbers widened to float64 at once: 256 KiB an operand, so that a comparison stays in cache."""

MIN_ROW = 32
SEGMENTS = 8
_OF_ROW = 1e-3
_OF_TENSOR = 1e-2


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of numbers that is judged at once: whole rows, or a part of one long row.

    Attributes:
        start: First number, counted over the flat tensor.
        stop: One past the last number.
        first_row: Row of the first number.
        rows: Rows it spans; `stop - start` is a multiple of it.
    """

    start: int
    stop: int
    first_row: int
    rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and numbers in each."""
        return self.rows, (self.stop - self.start) // self.rows


def row_length(shape: tuple[int, ...]) -> int:
    """Return the numbers in a row: the last axes, as many as it takes to reach `MIN_ROW`."""
    length = 1
    for extent in reversed(shape):
        length *= extent
        if length >= MIN_ROW:
            break
    return max(length, 1)


def pieces(count: int, row: int) -> Iterator[Piece]:
    """Cut `count` numbers in rows of `row` into pieces of about `PIECE` numbers."""
    if row <= PIECE:
        step = PIECE // row * row
        for start in range(0, count, step):
            stop = min(start + step, count)
            yield Piece(start, stop, start // row, (stop - start) // row)
        return
    for start_of_row in range(0, count, row):
        for start in range(start_of_row, start_of_row + row, PIECE):
            yield Piece(start, min(start + PIECE, start_of_row + row), start_of_row // row, 1)


def row_scales(tensor: Tensor) -> Floats:
    """Return the scale of every row of a floating or complex tensor; numbers not finite are 0."""
    numbers = stored(tensor)
    row = row_length(component_shape(tensor))
    if numbers.size == 0:
        return np.zeros(0)
    edges = np.linspace(0, row, min(SEGMENTS, row) + 1).astype(np.int64)
    squares = np.zeros((numbers.size // row, len(edges) - 1))
    for piece in pieces(numbers.size, row):
        values = widened(numbers[piece.start : piece.stop], tensor.dtype).reshape(piece.shape)
        _add_squares(squares, values, piece, edges)
    robust = np.sqrt(squares / np.diff(edges))
    whole = np.sqrt(squares.sum(axis=1) / row)
    scales = np.maximum(_upper_quartile(robust), _OF_ROW * whole)
    floored: Floats = np.maximum(scales, _OF_TENSOR * _upper_quartile(scales[None, :]))
    return floored


def _add_squares(squares: Floats, values: Floats, piece: Piece, edges: Raw) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        np.multiply(values, values, out=values)
    values[~np.isfinite(values)] = 0.0
    if piece.shape[1] == edges[-1]:
        rows = slice(piece.first_row, piece.first_row + piece.rows)
        squares[rows] = np.add.reduceat(values, edges[:-1], axis=1)
        return
    begin = piece.start - piece.first_row * int(edges[-1])
    cuts = np.clip(edges - begin, 0, values.shape[1])
    for segment in range(len(edges) - 1):
        part = values[0, cuts[segment] : cuts[segment + 1]]
        squares[piece.first_row, segment] += part.sum()


def _upper_quartile(values: Floats) -> Floats:
    rank = math.ceil(0.75 * values.shape[1]) - 1
    quartile: Floats = np.partition(values, rank, axis=1)[:, rank]
    return quartile
