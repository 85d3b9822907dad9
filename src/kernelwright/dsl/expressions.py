"""Scalar expressions and operands of the program tree.

Expressions carry their type: `I64` (all integers), `F32` (all floats) or `BOOL`. An operation whose
type is `F32` takes its integer operands as f32; nothing else is converted silently.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from kernelwright.dsl.types import NOWHERE, DType, Name, Position

# --- scalar expressions --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or truth value; `float("inf")` is written `tl.inf`."""

    value: int | float | bool
    type: DType
    at: Position = field(default=NOWHERE, compare=False)


class RefKind(StrEnum):
    """What a scalar name stands for."""

    DIM = "dim"
    """A tensor dimension, bound at launch."""
    CONST = "const"
    """A compile-time parameter (`tl.const`); `bind` replaces it by a literal."""
    PARAM = "param"
    """A scalar parameter of the kernel (`tl.i64`, `tl.f32`)."""
    LOOP = "loop"
    """A loop variable (offset, length or counter)."""
    LOCAL = "local"
    """A scalar assigned in the body."""


@dataclass(frozen=True, slots=True)
class Ref:
    """The present value of a scalar name."""

    name: Name
    kind: RefKind
    type: DType
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`op` is "-" or "not"."""

    op: str
    operand: Expr
    type: DType
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`op` is one of + - * / // % (`/` is always F32; `//` and `%` round toward minus infinity)."""

    op: str
    left: Expr
    right: Expr
    type: DType
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """`op` is one of < <= > >= == !=; the type is BOOL."""

    op: str
    left: Expr
    right: Expr
    at: Position = field(default=NOWHERE, compare=False)

    @property
    def type(self) -> DType:
        """Always BOOL."""
        return DType.BOOL


@dataclass(frozen=True, slots=True)
class Logic:
    """`op` is "and" or "or" over two or more conditions, evaluated left to right."""

    op: str
    operands: tuple[Expr, ...]
    at: Position = field(default=NOWHERE, compare=False)

    @property
    def type(self) -> DType:
        """Always BOOL."""
        return DType.BOOL


@dataclass(frozen=True, slots=True)
class Apply:
    """A scalar function: min max (two or more operands), sqrt exp log abs, and on the host
    cdiv align_up align_down; in kernels core_id num_cores (no operand)."""

    function: str
    operands: tuple[Expr, ...]
    type: DType
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Reduce:
    """Reduction of a buffer's valid elements to one scalar: reduce_sum, reduce_max, reduce_min,
    reduce_prod. Of type F32 for float buffers, I64 for integer ones; inside `compute` only."""

    function: str
    source: View
    type: DType
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ReadScalar:
    """One element of a global tensor (`tl.load_scalar`): the whole value of an `Assign`."""

    source: GlobalSlice
    type: DType
    at: Position = field(default=NOWHERE, compare=False)


Expr: TypeAlias = Literal | Ref | Unary | Binary | Compare | Logic | Apply | Reduce | ReadScalar

# --- operands ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """`start:stop:step` along one axis. In a buffer slice None means the edge of the valid extent;
    in a global slice both ends are given. `step` is a positive constant."""

    start: Expr | None
    stop: Expr | None
    step: int = 1
    at: Position = field(default=NOWHERE, compare=False)


Index: TypeAlias = Expr | Span
"""A position (which removes the axis) or a span (which keeps it)."""


@dataclass(frozen=True, slots=True)
class GlobalSlice:
    """Part of a tensor in global memory: one index an axis, spans only in the last one or two.

    Offsets are 64-bit everywhere: a tensor may have 2^31 elements or more.
    """

    tensor: Name
    index: tuple[Index, ...]
    at: Position = field(default=NOWHERE, compare=False)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans, outermost first: none (a scalar), one or two."""
        return tuple(axis for axis in self.index if isinstance(axis, Span))


@dataclass(frozen=True, slots=True)
class View:
    """A buffer operand: all of its valid extent (`index` empty) or a slice of it.

    Attributes:
        extent: Elements along each axis of the operand, rank 1 or 2, written by the checker; its
            names all have their present values at this statement. None before checking.
    """

    buffer: Name
    index: tuple[Index, ...] = ()
    at: Position = field(default=NOWHERE, compare=False)
    extent: tuple[Expr, ...] | None = field(default=None, compare=False)


Operand: TypeAlias = View | Expr
"""What an op takes after its destination: a buffer, a slice of one, or a scalar."""
