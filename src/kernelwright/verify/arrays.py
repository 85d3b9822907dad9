"""Raw bytes as numpy numbers, without copying more than a piece at a time.

A complex tensor is read as twice as many real numbers, so that every rule about finiteness and
scale holds for each part; numpy has no bfloat16, which is the upper half of a float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwright.core.tensor import Tensor

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Raw: TypeAlias = NDArray[Any]

_STORED: Mapping[str, str] = {
    "float64": "<f8",
    "float32": "<f4",
    "float16": "<f2",
    "bfloat16": "<u2",
    "int64": "<i8",
    "int32": "<i4",
    "int16": "<i2",
    "int8": "i1",
    "uint8": "u1",
    "bool": "u1",
    "complex64": "<f4",
    "complex128": "<f8",
}

EXACT_DTYPES = frozenset({"int64", "int32", "int16", "int8", "uint8", "bool"})
COMPLEX_DTYPES = frozenset({"complex64", "complex128"})


def component_shape(tensor: Tensor) -> tuple[int, ...]:
    """Return the shape of the stored numbers: a complex tensor has a last axis of two parts."""
    return (*tensor.shape, 2) if tensor.dtype in COMPLEX_DTYPES else tensor.shape


def stored(tensor: Tensor) -> Raw:
    """Return the stored numbers as a flat view of the tensor's bytes; bfloat16 as uint16."""
    return np.frombuffer(memoryview(tensor.data).cast("B"), dtype=_STORED[tensor.dtype])


def widened(numbers: Raw, dtype: str) -> Floats:
    """Return stored numbers of a floating or complex `dtype` as float64."""
    if dtype == "bfloat16":
        return (numbers.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return numbers.astype(np.float64)


def narrowed(numbers: Floats, dtype: str) -> Raw:
    """Return float64 numbers as `dtype` stores them, rounded to nearest even."""
    if dtype != "bfloat16":
        with np.errstate(over="ignore", under="ignore"):
            return numbers.astype(_STORED[dtype])
    with np.errstate(over="ignore", under="ignore"):
        bits = numbers.astype(np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    # Rounding must not carry a NaN's payload into an infinity.
    return np.where(np.isnan(numbers), np.uint16(0x7FC0), rounded)


def as_stored(numbers: Floats, dtype: str) -> Floats:
    """Round float64 numbers to what `dtype` can hold, overflow becoming infinite."""
    return widened(narrowed(numbers, dtype), dtype)
