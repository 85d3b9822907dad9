"""Cheap values are made again where they are read, which is faster than to keep them in memory.

Takes:   a plan, and the tensors that the kernel writes.
Gives:   a plan in which a group begins with the load, and one cheap operation on it, that an
         earlier group of the same block made a buffer with: nobody then needs the buffer's memory.
Leaves:  values that are slow to make, or that depend on something that has changed since.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from kernelwright.dsl.lower.fuse import Member, names_used, views_read, views_written
from kernelwright.dsl.lower.plan import Branch, Group, Item, Loop, Plan, Single
from kernelwright.dsl.nodes import Assign, Expr, Load, Op, Span, View
from kernelwright.dsl.types import Name

CHEAP = frozenset({"add", "sub", "mul", "adds", "subs", "rsubs", "muls", "maxs", "mins", "neg"})
"""Operations that are made again; none has more than one buffer among its operands here."""

Chain: TypeAlias = tuple[Member, ...]
"""How a buffer's content is made: a load, and what follows from it."""


@dataclass(frozen=True, slots=True)
class _Made:
    chain: Chain
    extent: tuple[Expr, ...]


@dataclass(slots=True)
class Again:
    """Goes through a plan.

    Attributes:
        stored: Tensors that the kernel writes.
    """

    stored: frozenset[Name]

    def plan(self, plan: Plan) -> Plan:
        """The plan with cheap values made again."""
        made: dict[Name, _Made] = {}
        items: list[Item] = []
        for item in plan:
            match item:
                case Group():
                    item = _begun(item, made)
                    self._note(item, made)
                case Single(statement=statement):
                    _forget(made, {view.buffer for view in views_written(statement)})
                    if isinstance(statement, Assign):
                        _forget_name(made, statement.name)
                case Loop(body=body):
                    made = {}
                    item = replace(item, body=self.plan(body))
                case Branch(then=then, orelse=orelse):
                    made = {}
                    item = replace(item, then=self.plan(then), orelse=self.plan(orelse))
            items.append(item)
        return tuple(items)

    def _note(self, group: Group, made: dict[Name, _Made]) -> None:
        """What the group leaves in buffers."""
        for item in group.members:
            chain = self._chain(item, made)
            _forget(made, {view.buffer for view in views_written(item)})
            if chain:
                made[views_written(item)[0].buffer] = _Made(chain, group.extent)
        for item in group.members:
            if isinstance(item, Assign):
                _forget_name(made, item.name)

    def _chain(self, item: Member, made: dict[Name, _Made]) -> Chain:
        """How the value of a member is made, where that is cheap."""
        match item:
            case Load(dest=dest, source=source, fill=None) if not dest.index:
                last = source.index[-1]
                is_row = isinstance(last, Span) and last.step == 1
                return (item,) if is_row and source.tensor not in self.stored else ()
            case Op(name=name, dest=dest, operands=operands) if name in CHEAP and not dest.index:
                views = [operand for operand in operands if isinstance(operand, View)]
                if len(views) != 1 or views[0].index or views[0].buffer == dest.buffer:
                    return ()
                source_made = made.get(views[0].buffer)
                is_load = source_made is not None and len(source_made.chain) == 1
                return (*source_made.chain, item) if source_made and is_load else ()
        return ()


def _begun(group: Group, made: dict[Name, _Made]) -> Group:
    """The group with what it needs made again at its beginning."""
    written: set[Name] = set()
    start: list[Member] = []
    for item in group.members:
        for view in views_read(item):
            found = made.get(view.buffer)
            if view.buffer in written or found is None or view.extent != group.extent:
                continue
            if found.extent == group.extent and _is_present(found.chain, made, written):
                start += [part for part in found.chain if part not in start]
                written |= {made_by(part) for part in found.chain}
        written |= {view.buffer for view in views_written(item)}
    return replace(group, members=(*start, *group.members)) if start else group


def _is_present(chain: Chain, made: dict[Name, _Made], written: set[Name]) -> bool:
    """True where each buffer of a chain still has the content that the chain gives it."""
    for number, part in enumerate(chain):
        buffer = made_by(part)
        known = made.get(buffer)
        if buffer in written or known is None or known.chain != chain[: number + 1]:
            return False
    return True


def made_by(part: Member) -> Name:
    """The buffer that a part of a chain writes."""
    return views_written(part)[0].buffer


def _forget(made: dict[Name, _Made], buffers: set[Name]) -> None:
    for name in [
        name
        for name, value in made.items()
        if any(made_by(part) in buffers for part in value.chain)
    ]:
        del made[name]


def _forget_name(made: dict[Name, _Made], scalar: Name) -> None:
    for name in [
        name
        for name, value in made.items()
        if any(scalar in names_used(part) for part in value.chain)
    ]:
        del made[name]
