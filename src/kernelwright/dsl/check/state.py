"""What is known of buffers and scalars at a program point."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kernelwright.dsl.prove.polynomial import Polynomial
from kernelwright.dsl.prove.prover import Prover
from kernelwright.dsl.types import Name


@dataclass(frozen=True, slots=True)
class Filled:
    """A buffer whose valid extent is known.

    Attributes:
        sizes: Elements along each axis.
        line: Where the extent was set.
        low, high: Bounds of an integer buffer's elements where they are known.
        handed: Line of the store that took the tile; only further stores may read it. 0: none.
    """

    sizes: tuple[Polynomial, ...]
    line: int
    low: Polynomial | None = None
    high: Polynomial | None = None
    handed: int = 0


@dataclass(frozen=True, slots=True)
class Unusable:
    """A buffer that cannot be read here.

    Attributes:
        code: Code of the error that a read gives; "" where an earlier error explains it.
        what: What happened to its content.
        why: The rule.
    """

    code: str
    what: str
    why: str


BufferState: TypeAlias = Filled | Unusable

NEVER_WRITTEN = Unusable(
    "E305", "nothing has been written to it", "memory: a buffer's content is undefined at first"
)
LOST = Unusable("", "", "")


@dataclass(slots=True)
class Point:
    """A program point.

    Attributes:
        buffers: State of each buffer.
        integers: Present values of the integer names.
        defined: Scalar names that certainly have a value.
    """

    buffers: dict[Name, BufferState] = field(default_factory=dict)
    integers: dict[Name, Polynomial] = field(default_factory=dict)
    defined: set[Name] = field(default_factory=set)

    def copy(self) -> Point:
        """An independent copy."""
        return Point(dict(self.buffers), dict(self.integers), set(self.defined))


def merged(one: Point, other: Point, prover: Prover) -> Point:
    """What holds where two paths meet."""
    buffers = {
        name: _merged_buffer(one.buffers[name], other.buffers[name], prover) for name in one.buffers
    }
    integers: dict[Name, Polynomial] = {}
    for name in one.integers.keys() & other.integers.keys():
        left, right = one.integers[name], other.integers[name]
        integers[name] = left if left == right else prover.fresh(name.text)
    return Point(buffers, integers, one.defined & other.defined)


def _merged_buffer(one: BufferState, other: BufferState, prover: Prover) -> BufferState:
    if isinstance(one, Unusable):
        return one
    if isinstance(other, Unusable):
        return other
    same = len(one.sizes) == len(other.sizes) and all(
        prover.equal(a, b) for a, b in zip(one.sizes, other.sizes, strict=True)
    )
    if same:
        one = replace(one, handed=one.handed or other.handed)
        bounds_agree = one.low == other.low and one.high == other.high
        return one if bounds_agree else replace(one, low=None, high=None)
    return Unusable(
        "E306",
        f"its extent differs between two paths (lines {one.line} and {other.line})",
        "extents: a buffer has one extent at every point",
    )


@dataclass(slots=True)
class Frame:
    """A loop being walked.

    Attributes:
        entry: State of the buffers at the loop's head.
        written: Buffers certainly written whole since the head.
        carried: Buffers read before that, so that a later iteration reads what an earlier one left.
    """

    entry: dict[Name, BufferState]
    written: set[Name] = field(default_factory=set)
    carried: dict[Name, int] = field(default_factory=dict)
