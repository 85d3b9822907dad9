"""Elements as NumPy arrays: which type holds which, casts, and what poison looks like.

bf16 has no NumPy type: it is held as its bits in `uint16`, here and in everything a caller gives
or gets. A mask is held as `bool`, a `bool` tensor as `uint8` 0 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.dsl.types import DType

Array = NDArray[Any]

NUMPY: dict[DType, np.dtype[Any]] = {
    DType.F32: np.dtype(np.float32),
    DType.F16: np.dtype(np.float16),
    DType.BF16: np.dtype(np.uint16),
    DType.I64: np.dtype(np.int64),
    DType.I32: np.dtype(np.int32),
    DType.I16: np.dtype(np.int16),
    DType.I8: np.dtype(np.int8),
    DType.U8: np.dtype(np.uint8),
    DType.BOOL: np.dtype(np.uint8),
    DType.MASK: np.dtype(np.bool_),
}
"""The NumPy type that holds an element type."""

_ROUND = {"rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "none": np.rint}


def poison_of(dtype: DType) -> Any:
    """The value of memory that nothing was written to: NaN, or bytes 0xCD."""
    if dtype is DType.BF16:
        return np.uint16(0x7FC0)
    if dtype.is_float:
        return NUMPY[dtype].type(np.nan)
    if dtype is DType.MASK:
        return np.bool_(True)
    return np.frombuffer(b"\xcd" * dtype.item_bytes, NUMPY[dtype])[0]


def from_bf16(bits: Array) -> Array:
    """The f32 values of bf16 bits; exact."""
    return np.asarray((bits.astype(np.uint32) << np.uint32(16)).view(np.float32))


def to_bf16(values: Array) -> Array:
    """bf16 bits of f32 values, rounded to nearest even; every NaN becomes the quiet one."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    upper = (rounded >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), upper).astype(np.uint16)


def cast(values: Array, source: DType, dest: DType, rounding: str) -> Array:
    """`values` in another element type.

    Floats round to nearest even; from float to integer `rounding` says how. What does not fit an
    integer type saturates, and NaN becomes 0.
    """
    wide = from_bf16(values) if source is DType.BF16 else values
    if dest is DType.BF16:
        return to_bf16(wide.astype(np.float32))
    if dest.is_float:
        return np.asarray(wide.astype(NUMPY[dest]))
    limits = np.iinfo(NUMPY[dest])
    if not source.is_float:
        return np.clip(wide.astype(np.int64), limits.min, limits.max).astype(NUMPY[dest])
    whole = _ROUND[rounding](wide.astype(np.float64))
    kept = np.nan_to_num(np.clip(whole, limits.min, limits.max), nan=0.0)
    return np.asarray(kept.astype(NUMPY[dest]))
