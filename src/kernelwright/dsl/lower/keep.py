"""Values that a second pass over a row would compute again are kept from the first.

Takes:   a plan, and the buffers that are read after each group.
Gives:   a plan in which, where a row is not too long, a loop over its tiles leaves what took long
         to compute in a buffer, from which a later loop over the same tiles takes it.
Leaves:  the same bits in every result; longer rows are computed twice, as written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kernelwright.dsl.lower.fuse import form_of, views_read, views_written
from kernelwright.dsl.lower.live import Live
from kernelwright.dsl.lower.plan import Branch, Group, Item, Loop, Plan, Single
from kernelwright.dsl.nodes import (
    Assign,
    Binary,
    Buffer,
    Compare,
    Literal,
    Load,
    Op,
    Ref,
    RefKind,
    Span,
    Statement,
    Store,
    Tiles,
    View,
)
from kernelwright.dsl.tree import names_in, values_of
from kernelwright.dsl.types import DType, Name, Space

KEPT = 16384
"""Elements of a row that are kept: 64 KiB of f32, which stay in the second cache."""

SLOW = frozenset({"exp", "ln", "erf", "gelu", "tanh", "sigmoid", "sin", "cos"})
"""Operations that take much longer than to read a value."""


@dataclass(slots=True)
class Keeper:
    """Finds what to keep.

    Attributes:
        types: Element types of the kernel's buffers.
        stored: Tensors that the kernel writes.
        made: The buffers that were added.
    """

    types: Mapping[Name, DType]
    stored: frozenset[Name]
    live: Mapping[int, Live]
    made: list[Buffer] = field(default_factory=list)

    def plan(self, plan: Plan) -> Plan:
        """The plan with values kept."""
        items = [self._inner(item) for item in plan]
        for first in range(len(items)):
            for second in range(first + 1, len(items)):
                found = self._pair(items, first, second)
                if found is not None:
                    return (*items[:first], found, *self.plan(tuple(items[second + 1 :])))
        return tuple(items)

    def _inner(self, item: Item) -> Item:
        match item:
            case Loop(body=body):
                return replace(item, body=self.plan(body))
            case Branch(then=then, orelse=orelse):
                return replace(item, then=self.plan(then), orelse=self.plan(orelse))
        return item

    def _pair(self, items: Sequence[Item], first: int, second: int) -> Branch | None:
        """Both loops in two forms: with values kept, and as they are."""
        a, b = items[first], items[second]
        if not (isinstance(a, Loop) and isinstance(b, Loop) and isinstance(a.over, Tiles)):
            return None
        if a.over != b.over or a.over.is_per_core:
            return None
        one, other = _only_group(a), _only_group(b)
        between = items[first + 1 : second]
        if one is None or other is None or not all(isinstance(i, Single) for i in between):
            return None
        size = self._same(one, other, [i.statement for i in between if isinstance(i, Single)])
        if not size:
            return None
        keep, take = self._moved(one, size, a.over)
        loops = (
            replace(
                a, body=(replace(one, members=(*one.members[:size], keep, *one.members[size:])),)
            ),
            replace(b, body=(replace(other, members=(take, *other.members[size:])),)),
        )
        condition = Compare("<=", a.over.total, Literal(KEPT, DType.I64), a.at)
        return Branch(condition, (loops[0], *between, loops[1]), (a, *between, b), a.at)

    def _same(self, one: Group, other: Group, between: Sequence[Statement]) -> int:
        """How many members the groups begin with that are worth keeping; 0 for none."""
        size = 0
        if len(one.extent) != 1 or one.extent != other.extent:
            return 0
        for number, (left, right) in enumerate(zip(one.members, other.members, strict=False)):
            if left != right or not isinstance(left, Load | Op):
                break
            if isinstance(left, Op) and left.name in SLOW and not left.dest.index:
                size = number + 1
        start, end = one.members[:size], other.members[size:]
        changed = {
            item.name
            for item in (*one.members, *other.members, *between)
            if isinstance(item, Assign)
        }
        if not size or any(names_in(v) & changed for item in start for v in values_of(item)):
            return 0
        if any(isinstance(i, Load) and i.source.tensor in self.stored for i in start):
            return 0
        is_closed = _is_closed(start)
        return size if is_closed and self._is_alone(other, start, end) else 0

    def _is_alone(self, group: Group, start: Sequence[Statement], end: Sequence[Statement]) -> bool:
        """True where only the last value of `start` is used afterwards."""
        value = start[-1]
        assert isinstance(value, Op)
        gone = {view.buffer for item in start for view in views_written(item)}
        gone -= {value.dest.buffer}
        used = {view.buffer for item in end for view in views_read(item)}
        return not gone & (used | self.live[id(group)])

    def _moved(self, group: Group, size: int, over: Tiles) -> tuple[Op, Op]:
        """The operations that keep a value and take it."""
        value = group.members[size - 1]
        assert isinstance(value, Op)
        offset = Ref(over.offset, RefKind.LOOP, DType.I64)
        length = Ref(over.length, RefKind.LOOP, DType.I64)
        # No name of an author starts with a digit.
        name = Name(f"{len(self.made)}kept")
        place = (Span(offset, Binary("+", offset, length, DType.I64)),)
        view = View(name, place, value.at, value.dest.extent)
        one = Literal(1, DType.I64)
        dtype = self.types[value.dest.buffer]
        shape = (Literal(KEPT, DType.I64),)
        self.made.append(Buffer(name, Space.UB, shape, dtype, one, value.at))
        return (
            Op("copy", view, (value.dest,), (), value.at),
            Op("copy", value.dest, (view,), (), value.at),
        )


def _only_group(loop: Loop) -> Group | None:
    if len(loop.body) != 1 or not isinstance(loop.body[0], Group):
        return None
    return loop.body[0]


def _is_closed(members: Sequence[Statement]) -> bool:
    """True where members read only what they wrote before, in the same form."""
    forms: dict[Name, object] = {}
    for item in members:
        if any(forms.get(view.buffer) != form_of(view) for view in views_read(item)):
            return False
        forms.update({view.buffer: form_of(view) for view in views_written(item)})
    return not any(isinstance(item, Store) for item in members)
