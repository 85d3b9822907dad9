"""Short loops over a buffer that stays: several of their steps share one loop over elements.

Takes:   a normalised block (`normal`).
Gives:   a block of the same meaning, in which the steps of such a loop stand side by side.
Leaves:  to `fuse` that they become one loop, in which the buffer is a register.

Two forms. A window (`range` with a constant largest number of steps) is unrolled with what stands
before and after it, for the case that it is whole. Any other loop takes four steps at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kernelwright.dsl.bind import fold, rewritten
from kernelwright.dsl.lower.fuse import MOST_MEMBERS, fused, views_read, views_written
from kernelwright.dsl.lower.normal import UNROLLED
from kernelwright.dsl.lower.plan import Group
from kernelwright.dsl.nodes import (
    Apply,
    Assign,
    Binary,
    Block,
    Compare,
    Expr,
    For,
    If,
    Literal,
    Load,
    Op,
    Range,
    Ref,
    RefKind,
    Statement,
    Store,
)
from kernelwright.dsl.tree import names_in
from kernelwright.dsl.types import DType, Name

STEPS = 4
"""Steps of a loop that are taken at a time."""

WIDE = 16
"""A window's loop over elements has at most so many operations for each of its steps."""


def widened(block: Block) -> Block:
    """The block with its short loops widened."""
    return _Widener().block(block)


@dataclass(slots=True)
class _Widener:
    loops: int = 0

    def block(self, block: Block) -> Block:
        """The statements of a block."""
        done: list[Statement] = []
        rest = list(block)
        while rest:
            item = rest.pop(0)
            match item:
                case For(over=Range() as over) if _is_carried(item.body):
                    window = _window(item, over, done, rest)
                    if window is not None:
                        done.append(window)
                    else:
                        done += self._four_at_a_time(item, over)
                case For(body=body):
                    done.append(replace(item, body=self.block(body)))
                case If(then=then, orelse=orelse):
                    done.append(replace(item, then=self.block(then), orelse=self.block(orelse)))
                case _:
                    done.append(item)
        return tuple(done)

    def _four_at_a_time(self, item: For, over: Range) -> Iterator[Statement]:
        # No name of an author starts with a digit.
        count, number = Name(f"{self.loops}steps"), Name(f"{self.loops}step")
        ref = Ref(number, RefKind.LOOP, DType.I64)
        first = _sum(over.start, _times(ref, STEPS))
        together = _steps(item.body, over.var, first, STEPS)
        plan = fused(together)
        if len(plan) != 1 or not isinstance(plan[0], Group):
            yield item
            return
        self.loops += 1
        zero = Literal(0, DType.I64)
        size = Apply("max", (_difference(over.stop, over.start), zero), DType.I64)
        whole = Ref(count, RefKind.LOCAL, DType.I64)
        yield Assign(count, Binary("//", size, Literal(STEPS, DType.I64), DType.I64), item.at)
        yield For(Range(number, zero, whole), together, item.at)
        yield replace(item, over=replace(over, start=_sum(over.start, _times(whole, STEPS))))


def _window(item: For, over: Range, before: list[Statement], after: list[Statement]) -> If | None:
    """A loop with its neighbours, unrolled where it is whole; what it takes up is taken away."""
    found = _whole(over)
    if found is None:
        return None
    first, steps = found
    needed = names_in(over.start) | names_in(over.stop)
    start = len(before)
    while start and _is_flat(before[start - 1], needed):
        start -= 1
    stop = next((at for at, node in enumerate(after) if not _is_flat(node)), len(after))
    pre, post = tuple(before[start:]), tuple(after[:stop])
    then = (*pre, *_steps(item.body, over.var, first, steps), *post)
    groups = [part for part in fused(then) if isinstance(part, Group)]
    if len(groups) != 1 or len(groups[0].members) > min(MOST_MEMBERS, WIDE * steps):
        return None
    del before[start:], after[:stop]
    size = Literal(steps, DType.I64)
    condition = Compare("==", _difference(over.stop, over.start), size, item.at)
    return If(condition, then, (*pre, item, *post), item.at)


def _is_carried(body: Block) -> bool:
    """True where steps only load and compute, and one goes on from what another left."""
    written: set[Name] = set()
    is_carried = False
    for item in body:
        if not isinstance(item, Load | Op):
            return False
        is_carried |= any(view.buffer not in written for view in views_read(item))
        written |= {view.buffer for view in views_written(item)}
    return is_carried


def _is_flat(item: Statement, needed: frozenset[Name] = frozenset()) -> bool:
    """True for what may be part of a group, and leaves the names alone that are needed."""
    if isinstance(item, Assign):
        return item.name not in needed
    return isinstance(item, Load | Op | Store)


def _whole(over: Range) -> tuple[Expr, int] | None:
    """First number and size of a range that is as long as it can be, where that is a constant."""
    starts, stops = _choices(over.start, "max"), _choices(over.stop, "min")
    sizes = {
        size: start
        for start in starts
        for stop in stops
        if (size := _constant(_difference(stop, start))) is not None
    }
    least = min(sizes, default=0)
    return (sizes[least], least) if 1 < least <= UNROLLED else None


def _choices(node: Expr, function: str) -> tuple[Expr, ...]:
    if isinstance(node, Apply) and node.function == function:
        return node.operands
    return (node,)


def _constant(node: Expr) -> int | None:
    """The value of a sum in which all names cancel."""
    terms: dict[Expr, int] = {}
    total = _collect(node, 1, terms)
    return None if any(terms.values()) else total


def _collect(node: Expr, factor: int, terms: dict[Expr, int]) -> int:
    match node:
        case Literal(value=value, type=DType.I64):
            return factor * int(value)
        case Binary(op="+" | "-" as op, left=left, right=right):
            sign = factor if op == "+" else -factor
            return _collect(left, factor, terms) + _collect(right, sign, terms)
    terms[node] = terms.get(node, 0) + factor
    return 0


def _steps(body: Block, var: Name, first: Expr, count: int) -> Block:
    """The body for `count` numbers from `first` on, one after the other."""
    return tuple(
        item
        for number in range(count)
        for item in _substituted(body, var, _sum(first, Literal(number, DType.I64)))
    )


def _substituted(body: Block, var: Name, value: Expr) -> Block:
    def change(node: Expr) -> Expr:
        return value if isinstance(node, Ref) and node.name == var else fold(node)

    result = rewritten(body, change)
    assert isinstance(result, tuple)
    return result


def _sum(left: Expr, right: Expr) -> Expr:
    return fold(Binary("+", left, right, DType.I64))


def _difference(left: Expr, right: Expr) -> Expr:
    return fold(Binary("-", left, right, DType.I64))


def _times(left: Expr, count: int) -> Expr:
    return fold(Binary("*", left, Literal(count, DType.I64), DType.I64))
