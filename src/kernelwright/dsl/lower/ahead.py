"""Which memory a group asks for early: what the next turns of the loops around it will read.

Takes:   a plan.
Gives:   for each group, the slices to fetch ahead (`Ahead`).
Leaves:  distances and the instructions to the printer.

A group that reads a slice for the first time fetches some way ahead in it, and from its end on in
what comes next. A later group of the same turn of a loop, whose own data is near by then, fetches
what the next turn of that loop will read: reading and computing overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelwright.dsl.bind import fold, rewritten
from kernelwright.dsl.lower.plan import Branch, Group, Loop, Plan
from kernelwright.dsl.nodes import (
    Binary,
    CoreRange,
    Expr,
    GlobalSlice,
    Iteration,
    Literal,
    Load,
    Range,
    Ref,
    Span,
    StaticRange,
    Tiles,
)
from kernelwright.dsl.tree import indices_of, names_in
from kernelwright.dsl.types import DType, Name


@dataclass(frozen=True, slots=True)
class Ahead:
    """Memory to fetch while a group runs.

    Attributes:
        source: What is read in this turn.
        following: What is read in the next turn of a loop; None where no loop moves the slice.
        is_next: True where all of `following` is fetched, element by element; False where the
            group reads `source` itself and fetches a fixed distance ahead.
    """

    source: GlobalSlice
    following: GlobalSlice | None
    is_next: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A first read.

    Attributes:
        loops: The loops around it, outermost first.
        extent: Elements of the group.
    """

    source: GlobalSlice
    loops: tuple[Loop, ...]
    extent: tuple[Expr, ...]


@dataclass(slots=True)
class _Finder:
    """State of a walk.

    Attributes:
        first: For each read that counts here, the group that made it.
        last: For each read that another group of the turn can fetch the next of: the last such
            group so far.
    """

    found: dict[int, list[Ahead]] = field(default_factory=dict)
    first: dict[_Read, Group] = field(default_factory=dict)
    last: dict[_Read, tuple[Group, Ahead]] = field(default_factory=dict)

    def plan(self, plan: Plan, loops: tuple[Loop, ...]) -> None:
        """Go through a plan in order."""
        for item in plan:
            match item:
                case Group():
                    self._group(item, loops)
                case Loop(body=body, over=over):
                    self.plan(body, (*loops, item))
                    if not isinstance(over, Tiles):  # what another loop reads is new to it
                        self.finish(item)
                case Branch(then=then, orelse=orelse):
                    self._branches((then, orelse), loops)

    def _branches(self, branches: Sequence[Plan], loops: tuple[Loop, ...]) -> None:
        first, last = self.first, self.last
        carried: set[_Read] = set()
        for branch in branches:
            self.first, self.last = dict(first), {}
            self.plan(branch, loops)
            carried |= set(self.last) & set(first)
            self._finish(list(self.last))
            self._finish([read for read in self.first if read not in first])
        self.first = {read: group for read, group in first.items() if read not in carried}
        self.last = {read: found for read, found in last.items() if read not in carried}

    def _group(self, group: Group, loops: tuple[Loop, ...]) -> None:
        self.found.setdefault(id(group), [])
        rows: set[tuple[object, ...]] = set()
        loaded = [item.source for item in group.members if isinstance(item, Load)]
        for read in self.first:
            is_read = read.source in loaded
            is_beside = len(read.loops) == len(loops) == len(_common(read.loops, loops))
            if is_read or (is_beside and read.extent == group.extent):
                following = _following(read.source, _common(read.loops, loops))
                if following is not None:
                    self.last[read] = group, Ahead(read.source, following, is_next=True)
        for source in loaded:
            row = (source.tensor, source.index[:-1])
            is_known = any(read.source == source for read in self.first)
            if is_known or row in rows or not _is_row(source):
                continue
            rows.add(row)
            read = _Read(source, loops, group.extent)
            self.first[read] = group

    def finish(self, loop: Loop | None = None) -> None:
        """End what was read inside a loop; without one, everything."""
        ended = [
            read for read in self.first if loop is None or any(item is loop for item in read.loops)
        ]
        self._finish(ended)

    def _finish(self, reads: Sequence[_Read]) -> None:
        """Decide who fetches what of reads that count no longer."""
        for read in reads:
            group = self.first.pop(read, None)
            if read in self.last:
                carrier, ahead = self.last.pop(read)
                self._add(carrier, ahead)
            elif group is not None:
                ahead = Ahead(read.source, _following(read.source, read.loops), is_next=False)
                self._add(group, ahead)

    def _add(self, group: Group, ahead: Ahead) -> None:
        wanted = self.found[id(group)]
        if ahead not in wanted:
            wanted.append(ahead)


def fetched_ahead(plan: Plan) -> dict[int, list[Ahead]]:
    """For each group, by `id`, what it fetches ahead."""
    finder = _Finder()
    finder.plan(plan, ())
    finder.finish()
    return finder.found


def _is_row(source: GlobalSlice) -> bool:
    last = source.index[-1]
    return isinstance(last, Span) and last.step == 1


def _common(one: tuple[Loop, ...], other: tuple[Loop, ...]) -> tuple[Loop, ...]:
    same = []
    for left, right in zip(one, other, strict=False):
        if left is not right:
            break
        same.append(left)
    return tuple(same)


def _variable(over: Iteration) -> Name:
    return over.offset if isinstance(over, Tiles) else over.var


def _moves(over: Iteration, source: GlobalSlice) -> bool:
    """True where a slice depends on a loop's number."""
    name = _variable(over)
    return any(name in names_in(value) for value in indices_of(source))


def _following(source: GlobalSlice, loops: tuple[Loop, ...]) -> GlobalSlice | None:
    """The slice in the next turn of the innermost loop that moves it."""
    for loop in reversed(loops):
        if _moves(loop.over, source):
            return _moved(source, loop.over)
    return None


def _moved(source: GlobalSlice, over: Iteration) -> GlobalSlice:
    name = _variable(over)
    step: Expr = Literal(1, DType.I64)
    sign = "+"
    match over:
        case Tiles(tile=tile, is_reversed=is_reversed):
            step, sign = tile, "-" if is_reversed else "+"
        case CoreRange() | Range() | StaticRange():
            pass

    def change(node: Expr) -> Expr:
        if isinstance(node, Ref) and node.name == name:
            return fold(Binary(sign, node, step, DType.I64))
        return node

    result = rewritten(source, change)
    assert isinstance(result, GlobalSlice)
    return result
