"""Statements of one loop level in the kernel language, and the buffers that they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Lines = list[str]


@dataclass(slots=True, eq=False)
class Tile:
    """A value in on-chip memory.

    Attributes:
        dtype: Element type, or `mask`.
        name: Its buffer; empty until the level is finished, where it is a passing value.
    """

    dtype: str
    name: str = ""


Value: TypeAlias = "Tile | str"
"""A tile, or the text of a scalar."""


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a compute region.

    Attributes:
        text: With `{d}` for the destination, `{0}`, `{1}`, ... for the operands.
        dest: The tile that it writes whole, or None.
        args: The tiles that it reads.
    """

    text: str
    dest: Tile | None
    args: tuple[Tile, ...]

    def __str__(self) -> str:
        names = [tile.name for tile in self.args]
        return self.text.format(*names, d=self.dest.name if self.dest else "")


@dataclass(slots=True)
class Buffers:
    """The allocations of a kernel, in order.

    Attributes:
        made: (element type, depth, capacity) by name.
    """

    made: dict[str, tuple[str, int, str]] = field(default_factory=dict)

    def make(self, name: str, dtype: str, *, depth: int = 1, capacity: str = "TILE") -> str:
        """Allocate a buffer once; return its name."""
        self.made.setdefault(name, (dtype, depth, capacity))
        return name

    def passing(self, dtype: str, taken: set[str]) -> str:
        """Return a buffer for a passing value that is not in `taken`."""
        letter = {"f32": "t", "mask": "m"}.get(dtype, f"{dtype}_")
        count = 0
        while f"{letter}{count}_ub" in taken:
            count += 1
        return self.make(f"{letter}{count}_ub", dtype)

    def lines(self) -> Lines:
        """Return the allocations."""
        return [
            f'{name} = tl.ub({capacity}, "{dtype}"{f", buf={depth}" if depth > 1 else ""})'
            for name, (dtype, depth, capacity) in self.made.items()
        ]


@dataclass(slots=True)
class Scope:
    """One loop level while it is written: loads, scalars, operations, stores, then inner loops.

    Attributes:
        header: The loop's own lines.
        loops: Variables of all loops around its statements.
        extent: Elements of its tiles; empty where there are no tiles.
        is_leaf: True where no loop stands inside: its tiles may share buffers.
        lines: What is finished.
        names: What values of the kernel are called here: a tile, or text of a scalar.
    """

    header: Sequence[str]
    loops: frozenset[str]
    extent: str
    is_leaf: bool
    lines: Lines = field(default_factory=list)
    names: dict[int, Tile | str] = field(default_factory=dict)
    loads: Lines = field(default_factory=list)
    scalars: Lines = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    stores: Lines = field(default_factory=list)

    def flush(self, buffers: Buffers) -> None:
        """Finish the statements so far."""
        if self.is_leaf:
            _share(self.steps, buffers)
        self.lines += _region("copyin", self.loads)
        self.lines += self.scalars
        self.lines += _region("compute", [str(step) for step in self.steps])
        self.lines += _region("copyout", self.stores)
        self.loads, self.scalars, self.steps, self.stores = [], [], [], []

    def finished(self, buffers: Buffers) -> Lines:
        """Return the whole loop."""
        self.flush(buffers)
        if not self.header:
            return self.lines
        first, *rest = self.header
        return [first, *moved([*rest, *self.lines])]


def moved(lines: Sequence[str]) -> Lines:
    """Return lines one level deeper."""
    return [f"    {line}" for line in lines]


def _region(kind: str, lines: Sequence[str]) -> Lines:
    return [f"with tl.{kind}():", *moved(lines)] if lines else []


def _share(steps: Sequence[Step], buffers: Buffers) -> None:
    """Give every passing value a buffer that nothing needs any more."""
    last = {arg: place for place, step in enumerate(steps) for arg in step.args}
    taken: set[str] = set()
    passing: set[Tile] = set()
    for place, step in enumerate(steps):
        for arg in step.args:
            if arg in passing and last[arg] == place:
                taken.discard(arg.name)
        if step.dest is not None and not step.dest.name:
            step.dest.name = buffers.passing(step.dest.dtype, taken)
            passing.add(step.dest)
        if step.dest in passing and step.dest in last:
            taken.add(step.dest.name)
