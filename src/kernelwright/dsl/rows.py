"""Rows of the builtins table by family: what the rows of one family have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.dsl.primitive import Builtin, Keyword, Kind, ShapeRule, Slot
from kernelwright.dsl.types import DType

F32 = (DType.F32,)
FLOATS = (DType.F32, DType.F16)
NUMBERS = (DType.F32, DType.F16, DType.I32, DType.I16)
WHOLE = (DType.I32, DType.I16)
MOVABLE = (DType.F32, DType.F16, DType.BF16, DType.I32, DType.I16, DType.I8, DType.U8, DType.BOOL)

A = Slot("a", Kind.BUFFER)
B = Slot("b", Kind.BUFFER)
S = Slot("s", Kind.SCALAR)


def unary(
    name: str,
    doc: str,
    meaning: Callable[..., Any],
    *,
    ascendc: str = "",
    dtypes: tuple[DType, ...] = FLOATS,
    keywords: tuple[Keyword, ...] = (),
    temporaries: tuple[str, ...] = (),
) -> Builtin:
    """A row d, a."""
    return Builtin(
        name, doc, (A,), meaning, dtypes, name, ascendc, keywords=keywords, temporaries=temporaries
    )


def binary(
    name: str, doc: str, meaning: Callable[..., Any], ascendc: str, dtypes: tuple[DType, ...]
) -> Builtin:
    """A row d, a, b that broadcasts."""
    bcast = Keyword("bcast", "auto", ("auto", "scalar", "brcb", "full"))
    return Builtin(
        name, doc, (A, B), meaning, dtypes, name, ascendc, (bcast,), shape=ShapeRule.BROADCAST
    )


def scalar(
    name: str,
    doc: str,
    meaning: Callable[..., Any],
    ascendc: str,
    *,
    slots: tuple[Slot, ...] = (A, S),
    dtypes: tuple[DType, ...] = NUMBERS,
    reads_dest: bool = False,
    temporaries: tuple[str, ...] = (),
) -> Builtin:
    """A row with a scalar operand."""
    return Builtin(
        name,
        doc,
        slots,
        meaning,
        dtypes,
        name,
        ascendc,
        reads_dest=reads_dest,
        temporaries=temporaries,
    )


def reduction(name: str, doc: str, meaning: Callable[..., Any], ascendc: str) -> Builtin:
    """A row that reduces along an axis."""
    return Builtin(
        name,
        doc,
        (A,),
        meaning,
        FLOATS,
        name,
        ascendc,
        (Keyword("axis", 1, (0, 1)),),
        shape=ShapeRule.REDUCE,
    )


def scan(name: str, doc: str, meaning: Callable[..., Any], ascendc: str) -> Builtin:
    """A row of a running sum or product."""
    return Builtin(
        name,
        doc,
        (A, Slot("carry", Kind.CARRY, is_optional=True)),
        meaning,
        FLOATS,
        name,
        ascendc,
        (Keyword("axis", -1, (-1, 0, 1)),),
        temporaries=("_scan",),
    )
