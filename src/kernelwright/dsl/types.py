"""The types of the language: elements, names, places in the source, tensors on chip and off."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

BLOCK_BYTES = 32
"""Unit of every on-chip copy: a buffer row starts at a multiple of it."""


class DType(StrEnum):
    """Element type; the value is its spelling in a program."""

    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    I64 = "i64"
    I32 = "i32"
    I16 = "i16"
    I8 = "i8"
    U8 = "u8"
    BOOL = "bool"
    MASK = "mask"
    """Result of a comparison on chip: one bit an element, never in global memory."""

    @property
    def item_bytes(self) -> int:
        """Bytes of one element in memory; a mask holds bits, see `row_bytes`."""
        return _ITEM_BYTES[self]

    @property
    def is_float(self) -> bool:
        """True for f32, f16 and bf16."""
        return self in (DType.F32, DType.F16, DType.BF16)

    @property
    def is_integer(self) -> bool:
        """True for the integer types; bool and mask are not integers."""
        return self in (DType.I64, DType.I32, DType.I16, DType.I8, DType.U8)


_ITEM_BYTES = {
    DType.F32: 4,
    DType.F16: 2,
    DType.BF16: 2,
    DType.I64: 8,
    DType.I32: 4,
    DType.I16: 2,
    DType.I8: 1,
    DType.U8: 1,
    DType.BOOL: 1,
    DType.MASK: 1,
}


class Space(StrEnum):
    """An on-chip memory; the value is the name of the call that allocates in it."""

    UB = "ub"
    L1 = "l1"
    L0A = "l0a"
    L0B = "l0b"
    L0C = "l0c"


@dataclass(frozen=True, slots=True)
class Name:
    """A name the author chose.

    `str(name)` is the mangled spelling, so that a printer which formats a name into a target
    language cannot capture one of that language's own: `n` becomes `u_n`. `text` is what the author
    wrote, for diagnostics and for printing the program back.
    """

    text: str

    def __str__(self) -> str:
        return f"u_{self.text}"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a node stands in the source text: 1-based lines and columns, the end is exclusive."""

    line: int
    col: int
    end_line: int
    end_col: int


NOWHERE = Position(0, 0, 0, 0)
"""Position of a node that no source text produced (built by a generator)."""


def align_up(count: int, multiple: int) -> int:
    """Return the smallest multiple of `multiple` that is at least `count`."""
    return -(-count // multiple) * multiple


def row_bytes(cols: int, dtype: DType) -> int:
    """Bytes from one row of a buffer to the next (the pitch): whole blocks of 32 B."""
    if dtype is DType.MASK:
        # Comparisons work on 256 B of f32 at a time, so a mask row holds whole groups of 64 bits.
        return align_up(align_up(cols, 64) // 8, BLOCK_BYTES)
    return align_up(cols * dtype.item_bytes, BLOCK_BYTES)
