"""What a row of the builtins table says: operands, rules, meaning, target calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from kernelwright.dsl.nodes import RegionKind
from kernelwright.dsl.types import DType


class Kind(Enum):
    """What an operand may be."""

    BUFFER = auto()
    SCALAR = auto()
    EITHER = auto()
    """A buffer or a scalar."""
    MASK = auto()
    """A buffer of dtype mask."""
    INDEX = auto()
    """A buffer of i32 element numbers."""
    COUNT = auto()
    """A scalar i64 number of elements."""
    CARRY = auto()
    """A buffer of size 1 along the scanned axis; read, then overwritten."""
    GLOBAL = auto()
    """A slice of a tensor in global memory."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One operand after the destination."""

    name: str
    kind: Kind
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword: its default and, for words, the choices."""

    name: str
    default: int | float | bool | str
    choices: tuple[str | int, ...] = ()


class ShapeRule(Enum):
    """How the destination's valid extent follows from the operands'."""

    SAME = "all buffers have the same extent; so has the destination"
    BROADCAST = "sizes agree or are 1 along each axis; the destination has the larger"
    REDUCE = "like the source, with size 1 along the axis"
    COUNTS = "the counts given; through a slice, the slice"
    INDEX = "like the index"
    TRANSPOSE = "(columns, rows) of the source"
    MOVE = "like the slice of global memory"


class DTypeRule(Enum):
    """How the element types must agree."""

    SAME = "one element type for all buffers"
    CAST = "source and destination differ; see the cast table of the target"
    MASK = "sources agree, the destination is a mask"
    INDEX = "i32 index; source and destination agree"


@dataclass(frozen=True, slots=True)
class Builtin:
    """One row of the table.

    Attributes:
        name: Spelling after `tl.`.
        region: The region that may hold it.
        slots: Operands after the destination (for `store`, the destination is the global slice).
        dtypes: Element types of the sources that the op accepts.
        meaning: NumPy function: operands in slot order, then keywords by name. None for ops that
            move data or only rename an element type. `axpy` also takes the old destination first.
        reads_dest: The destination's old content counts.
        cpp: Name of the call in the C++ back end.
        ascendc: Name of the main call on the NPU; "" where the op is composed of others.
        temporaries: Scratch buffers the size of the destination, on the NPU.
        doc: One sentence.
    """

    name: str
    doc: str
    slots: tuple[Slot, ...]
    meaning: Callable[..., Any] | None
    dtypes: tuple[DType, ...]
    cpp: str
    ascendc: str
    keywords: tuple[Keyword, ...] = ()
    shape: ShapeRule = ShapeRule.SAME
    dtype: DTypeRule = DTypeRule.SAME
    region: RegionKind = RegionKind.COMPUTE
    reads_dest: bool = False
    temporaries: tuple[str, ...] = ()

    @property
    def required(self) -> int:
        """Number of operands that every call gives, without the destination."""
        return sum(1 for slot in self.slots if not slot.is_optional)

    @property
    def signature(self) -> str:
        """The call as an author writes it, such as `tl.adds(d, a, s)`."""
        given = ["y[..]" if self.name in ("store", "store_add") else "d"]
        given += [f"[{slot.name}]" if slot.is_optional else slot.name for slot in self.slots]
        given += [f"{word.name}={word.default!r}" for word in self.keywords]
        return f"tl.{self.name}({', '.join(given)})"
