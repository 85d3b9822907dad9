"""Liveness: after which groups a buffer's content still counts.

A write of the whole buffer ends what was there before: it sets the valid extent, and nothing
outside that is ever read.
"""

from __future__ import annotations

from kernelwright.dsl.lower.fuse import views_read, views_written
from kernelwright.dsl.lower.plan import Branch, Group, Item, Loop, Plan, Single
from kernelwright.dsl.nodes import Statement
from kernelwright.dsl.types import Name

Live = frozenset[Name]


def live_after(plan: Plan) -> dict[int, Live]:
    """For each group, by `id`, the buffers whose content is read after it."""
    found: dict[int, Live] = {}
    _plan(plan, frozenset(), found)
    return found


def _plan(plan: Plan, after: Live, found: dict[int, Live]) -> Live:
    for item in reversed(plan):
        after = _item(item, after, found)
    return after


def _item(item: Item, after: Live, found: dict[int, Live]) -> Live:
    match item:
        case Single(statement=statement):
            return _statement(statement, after)
        case Branch(then=then, orelse=orelse):
            return _plan(then, after, found) | _plan(orelse, after, found)
        case Loop(body=body):
            # What the next iteration reads counts too; a second pass is the fixed point.
            for _ in range(2):
                after = after | _plan(body, after, found)
            return after
        case Group(members=members):
            # A group may stand in both branches of an `if`.
            found[id(item)] = found.get(id(item), frozenset()) | after
            for member in reversed(members):
                after = _statement(member, after)
            return after


def _statement(item: Statement, after: Live) -> Live:
    ended = {view.buffer for view in views_written(item)[:1] if not view.index}
    return (after - ended) | {view.buffer for view in views_read(item)}
