"""Fusion: runs of statements with one extent become one loop.

Takes:   a normalised block (`normal`).
Gives:   a plan whose groups are as long as the order of the program allows.
Leaves:  buffers and text to the printer.

Within a group, element k of every statement is computed before element k + 1 of any. That is the
program's meaning as long as no statement touches an element of memory that another one writes,
other than at its own place: `_Builder.admits` states it for buffers (one and the same view) and
for tensors (one and the same slice). What a group's scalars are made of is evaluated before the
loop, and what it assigns is assigned after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, cast

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.lower.plan import Branch, Group, Item, Loop, Plan, Single
from kernelwright.dsl.nodes import (
    Assign,
    Block,
    Expr,
    For,
    GlobalSlice,
    If,
    Literal,
    Load,
    Op,
    ReadScalar,
    Reduce,
    Span,
    Statement,
    Store,
    View,
)
from kernelwright.dsl.primitive import Kind, ShapeRule
from kernelwright.dsl.tree import names_in, subexpressions, values_of
from kernelwright.dsl.types import Name

Member: TypeAlias = Load | Store | Op | Assign
Form: TypeAlias = tuple[object, ...]
"""What tells one view of a buffer from another: its index and its extent."""

MOST_MEMBERS = 64
ELEMENTWISE = (ShapeRule.SAME, ShapeRule.BROADCAST)


def is_unit(size: Expr) -> bool:
    """True for an extent of exactly one element."""
    return isinstance(size, Literal) and size.value == 1


def is_elementwise(node: Op) -> bool:
    """True where element k of the result needs only elements k of the operands."""
    row = BUILTINS[node.name]
    if node.name in ("fill", "iota"):
        return True
    return row.shape in ELEMENTWISE and all(slot.kind is not Kind.CARRY for slot in row.slots)


def form_of(view: View) -> Form:
    """The form of a view."""
    return (view.index, view.extent)


def fused(block: Block) -> Plan:
    """The plan of a normalised block."""
    items: list[Item] = []
    builder = _Builder()
    for statement in block:
        match statement:
            case For(over=over, body=body, at=at):
                items += builder.finish()
                items.append(Loop(over, fused(body), at))
            case If(condition=condition, then=then, orelse=orelse, at=at):
                items += builder.finish()
                items.append(Branch(condition, fused(then), fused(orelse), at))
            case _:
                extent = loop_extent(statement)
                if extent is None and not _is_pure(statement):
                    items += [*builder.finish(), Single(statement)]
                elif not builder.admits(statement, extent):
                    items += builder.finish()
                    if extent is None:
                        items.append(Single(statement))
                    else:
                        builder.add(statement, extent)
                else:
                    builder.add(statement, extent)
    return (*items, *builder.finish())


def loop_extent(item: Statement) -> tuple[Expr, ...] | None:
    """The extent of the loop that a statement needs; None where it is none for a group."""
    match item:
        case Load(dest=dest):
            return dest.extent
        case Store(source=source, is_atomic_add=False):
            return source.extent
        case Op(dest=dest) if is_elementwise(item):
            return dest.extent
        case Assign(value=Reduce(function=function, source=source)):
            return source.extent if function != "reduce_prod" else None
    return None


def _is_pure(item: Statement) -> bool:
    """True for a scalar that is made of scalars only."""
    return isinstance(item, Assign) and not any(
        isinstance(part, Reduce | ReadScalar) for part in subexpressions(item.value)
    )


@dataclass(slots=True)
class _Builder:
    """A group under construction."""

    extent: tuple[Expr, ...] | None = None
    members: list[Member] = field(default_factory=list)
    assigned: set[Name] = field(default_factory=set)
    read: dict[Name, set[Form]] = field(default_factory=dict)
    written: dict[Name, Form] = field(default_factory=dict)
    loaded: dict[Name, set[object]] = field(default_factory=dict)
    stored: dict[Name, object] = field(default_factory=dict)

    def finish(self) -> list[Item]:
        """The group so far, and a fresh start."""
        members, extent = tuple(self.members), self.extent
        self.__init__()  # type: ignore[misc]
        if not members:
            return []
        if extent is None:
            return [Single(item) for item in members]
        return [Group(extent, members)]

    def admits(self, item: Statement, extent: tuple[Expr, ...] | None) -> bool:
        """True where the statement may join what is here."""
        if not self.members or extent is None:
            return bool(self.members) and extent is None
        if self.extent is None or extent != self.extent or len(self.members) >= MOST_MEMBERS:
            return False
        if self.assigned & names_used(item):
            return False
        return self._admits_buffers(item) and self._admits_tensors(item)

    def _admits_buffers(self, item: Statement) -> bool:
        reads, writes = views_read(item), views_written(item)
        for view in reads:
            form = form_of(view)
            if self.written.get(view.buffer, form) != form:
                return False
        for view in writes:
            form = form_of(view)
            if self.written.get(view.buffer, form) != form:
                return False
            if self.read.get(view.buffer, {form}) != {form}:
                return False
        return True

    def _admits_tensors(self, item: Statement) -> bool:
        match item:
            case Load(source=source):
                return self.stored.get(source.tensor, source) == source
            case Store(target=target):
                return self.stored.get(target.tensor, target) == target and self.loaded.get(
                    target.tensor, {target}
                ) == {target}
        return True

    def add(self, item: Statement, extent: tuple[Expr, ...] | None) -> None:
        """Add a statement that `admits` allows, or the first one."""
        if extent is not None:
            self.extent = extent
        for view in views_read(item):
            self.read.setdefault(view.buffer, set()).add(form_of(view))
        for view in views_written(item):
            self.written[view.buffer] = form_of(view)
        match item:
            case Load(source=source):
                self.loaded.setdefault(source.tensor, set()).add(source)
            case Store(target=target):
                self.stored[target.tensor] = target
            case Assign(name=name):
                self.assigned.add(name)
        self.members.append(cast(Member, item))


def views_read(item: Statement) -> list[View]:
    """The buffer views whose elements a statement reads."""
    match item:
        case Store(source=source):
            return [source]
        case Assign(value=Reduce(source=source)):
            return [source]
        case Op(operands=operands, dest=dest):
            views = [operand for operand in operands if isinstance(operand, View)]
            return [*views, dest] if BUILTINS[item.name].reads_dest else views
    return []


def views_written(item: Statement) -> list[View]:
    """The buffer views that a statement writes, carries of scans included."""
    match item:
        case Load(dest=dest):
            return [dest]
        case Op(dest=dest, operands=operands):
            slots = BUILTINS[item.name].slots
            carries = [
                operand
                for slot, operand in zip(slots, operands, strict=False)
                if slot.kind is Kind.CARRY and isinstance(operand, View)
            ]
            return [dest, *carries]
    return []


def names_used(item: Statement) -> set[Name]:
    """Names whose values a statement needs: operands, indices, extents."""
    names: set[Name] = set()
    for value in values_of(item):
        names |= names_in(value)
    for view in (*views_read(item), *views_written(item)):
        for size in view.extent or ():
            names |= names_in(size)
    if isinstance(item, Load):
        names |= _slice_names(item.source)
    if isinstance(item, Store):
        names |= _slice_names(item.target)
    return names


def _slice_names(part: GlobalSlice) -> set[Name]:
    names: set[Name] = set()
    for axis in part.index:
        for end in (axis.start, axis.stop) if isinstance(axis, Span) else (axis,):
            if end is not None:
                names |= names_in(end)
    return names
