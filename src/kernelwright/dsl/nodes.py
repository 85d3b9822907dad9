"""The program tree: frozen records that the parser makes and every later step reads.

A tree is structured (no jumps) and names are symbols, not objects. A scalar is *mutable*: an
`Assign` to a name already assigned gives it a new value, as in Python. Two trees are equal when the
programs mean the same; positions and the annotations of the checker (`View.extent`) do not count.

This module has statements and declarations, and re-exports the expressions they are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from kernelwright.dsl.expressions import (
    Apply,
    Binary,
    Compare,
    Expr,
    GlobalSlice,
    Index,
    Literal,
    Logic,
    Operand,
    ReadScalar,
    Reduce,
    Ref,
    RefKind,
    Span,
    Unary,
    View,
)
from kernelwright.dsl.types import NOWHERE, DType, Name, Position, Space

# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Load:
    """Global memory to a buffer (`tl.load`). With `fill`, elements whose index in the last axis is
    outside the tensor read as `fill`; without it every element is proved to be inside."""

    dest: View
    source: GlobalSlice
    fill: Expr | None = None
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Store:
    """A buffer to global memory (`tl.store`), or added to it atomically (`tl.store_add`)."""

    target: GlobalSlice
    source: View
    is_atomic_add: bool = False
    at: Position = field(default=NOWHERE, compare=False)


AttributeValue: TypeAlias = "int | float | bool | str"


@dataclass(frozen=True, slots=True)
class Op:
    """A primitive on buffers, named as in `builtins.BUILTINS`: destination first, then operands in
    the table's order, then the keywords that were written (defaults are not filled in)."""

    name: str
    dest: View
    operands: tuple[Operand, ...]
    attributes: tuple[tuple[str, AttributeValue], ...] = ()
    at: Position = field(default=NOWHERE, compare=False)

    def attribute(self, name: str, default: AttributeValue) -> AttributeValue:
        """The value of keyword `name`, or `default` where the program did not write it."""
        return dict(self.attributes).get(name, default)


@dataclass(frozen=True, slots=True)
class Assign:
    """Give a scalar name a value; the same name keeps one type throughout the kernel."""

    name: Name
    value: Expr
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CoreRange:
    """`for var in tl.core_range(count)`: this core's contiguous balanced share of 0..count-1; the
    first `count % cores` cores get one more. A share may be empty."""

    var: Name
    count: Expr


@dataclass(frozen=True, slots=True)
class Tiles:
    """`for offset, length in tl.tiles(total, tile)`: offset 0, tile, 2*tile, ..., and length
    min(tile, total - offset); from the last to the first with `is_reversed`. With `is_per_core`
    (`tl.core_tiles`) only this core's share of the tiles, shared out as by `CoreRange`."""

    offset: Name
    length: Name
    total: Expr
    tile: Expr
    is_per_core: bool = False
    is_reversed: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """`for var in range(start, stop)`: step 1; empty when stop <= start."""

    var: Name
    start: Expr
    stop: Expr


@dataclass(frozen=True, slots=True)
class StaticRange:
    """`for var in tl.static_range(count)`: unrolled; `count` is a constant expression."""

    var: Name
    count: Expr


Iteration: TypeAlias = CoreRange | Tiles | Range | StaticRange


@dataclass(frozen=True, slots=True)
class For:
    """A loop. Its variables are fresh in every iteration and unknown after the loop."""

    over: Iteration
    body: Block
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """`condition` is a BOOL scalar."""

    condition: Expr
    then: Block
    orelse: Block = ()
    at: Position = field(default=NOWHERE, compare=False)


class RegionKind(StrEnum):
    """The three kinds of region: what the memory, vector and write-back pipes do."""

    COPYIN = "copyin"
    COMPUTE = "compute"
    COPYOUT = "copyout"


@dataclass(frozen=True, slots=True)
class Region:
    """`with tl.copyin(label): ...`; holds straight-line statements and unrolled loops only."""

    kind: RegionKind
    body: Block
    label: str | None = None
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Require:
    """A fact that the host checks before launch; over dims, consts and scalar parameters only."""

    condition: Expr
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SyncAll:
    """All cores wait for each other and see each other's stores."""

    at: Position = field(default=NOWHERE, compare=False)


Statement: TypeAlias = Load | Store | Op | Assign | For | If | Region | Require | SyncAll
Block: TypeAlias = tuple[Statement, ...]

# --- declarations --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TensorType:
    """`"f32[R, C] inout"`: contiguous, row-major, rank 1 to 5; dims are I64 expressions."""

    dtype: DType
    dims: tuple[Expr, ...]
    is_inout: bool = False


@dataclass(frozen=True, slots=True)
class TensorParam:
    """A tensor in global memory."""

    name: Name
    type: TensorType
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ConstParam:
    """A compile-time number (`tl.const`); `default` is used where nothing else gives a value."""

    name: Name
    default: int | float | bool | None = None
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A run-time number: `tl.i64` or `tl.f32`."""

    name: Name
    type: DType
    default: int | float | None = None
    at: Position = field(default=NOWHERE, compare=False)


Param: TypeAlias = TensorParam | ConstParam | ScalarParam


@dataclass(frozen=True, slots=True)
class Buffer:
    """An on-chip allocation: `shape` (rank 1 or 2, constant expressions) is its capacity in
    elements; `depth` is `buf=` (2 lets copies and arithmetic overlap). Names never alias."""

    name: Name
    space: Space
    shape: tuple[Expr, ...]
    dtype: DType
    depth: Expr
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Kernel:
    """An on-chip program that every core runs.

    Attributes:
        dims: Dimension names in order of first appearance, bound at launch from the tensors.
    """

    name: Name
    params: tuple[Param, ...]
    dims: tuple[Name, ...]
    buffers: tuple[Buffer, ...]
    body: Block
    doc: str | None = None
    at: Position = field(default=NOWHERE, compare=False)

    @property
    def tensors(self) -> tuple[TensorParam, ...]:
        """The tensor parameters, in order."""
        return tuple(param for param in self.params if isinstance(param, TensorParam))

    @property
    def consts(self) -> tuple[ConstParam, ...]:
        """The compile-time parameters, in order."""
        return tuple(param for param in self.params if isinstance(param, ConstParam))

    @property
    def scalars(self) -> tuple[ScalarParam, ...]:
        """The run-time scalar parameters, in order."""
        return tuple(param for param in self.params if isinstance(param, ScalarParam))


def statements(block: Block) -> Iterator[Statement]:
    """Yield every statement of `block` and of the blocks inside it, in program order."""
    for statement in block:
        yield statement
        match statement:
            case For(body=body) | Region(body=body):
                yield from statements(body)
            case If(then=then, orelse=orelse):
                yield from statements(then)
                yield from statements(orelse)


def stored_tensors(kernel: Kernel) -> frozenset[Name]:
    """Names of the tensors that the kernel writes."""
    return frozenset(
        item.target.tensor for item in statements(kernel.body) if isinstance(item, Store)
    )


def loaded_tensors(kernel: Kernel) -> frozenset[Name]:
    """Names of the tensors that the kernel reads."""
    found: set[Name] = set()
    for item in statements(kernel.body):
        if isinstance(item, Load):
            found.add(item.source.tensor)
        if isinstance(item, Assign) and isinstance(item.value, ReadScalar):
            found.add(item.value.source.tensor)
        if isinstance(item, Store) and item.is_atomic_add:
            found.add(item.target.tensor)
    return frozenset(found)


__all__ = [
    "Apply",
    "Assign",
    "AttributeValue",
    "Binary",
    "Block",
    "Buffer",
    "Compare",
    "ConstParam",
    "CoreRange",
    "Expr",
    "For",
    "GlobalSlice",
    "If",
    "Index",
    "Iteration",
    "Kernel",
    "Literal",
    "Load",
    "Logic",
    "Op",
    "Operand",
    "Param",
    "Range",
    "ReadScalar",
    "Reduce",
    "Ref",
    "RefKind",
    "Region",
    "RegionKind",
    "Require",
    "ScalarParam",
    "Span",
    "Statement",
    "StaticRange",
    "Store",
    "SyncAll",
    "TensorParam",
    "TensorType",
    "Tiles",
    "Unary",
    "View",
    "loaded_tensors",
    "statements",
    "stored_tensors",
]
