"""A destination and a source of one operation in the same buffer."""

from __future__ import annotations

from kernelwright.dsl.check.context import Context
from kernelwright.dsl.nodes import Op, Span, View
from kernelwright.dsl.primitive import Builtin, Kind, ShapeRule
from kernelwright.dsl.print_expression import view_text
from kernelwright.dsl.prove.polynomial import Polynomial, number_polynomial

IN_PLACE = (ShapeRule.SAME, ShapeRule.BROADCAST)


def check_overlap(context: Context, node: Op, row: Builtin) -> None:
    """Check that no source is overwritten before it is read.

    An elementwise operation may work in place, on exactly the same elements; everything else needs
    memory of its own.

    Raises:
        Rejected: with E312 where a source and the destination may overlap otherwise.
    """
    for slot, operand in zip(row.slots, node.operands, strict=False):
        if not isinstance(operand, View) or operand.buffer != node.dest.buffer:
            continue
        if row.shape in IN_PLACE and slot.kind is not Kind.CARRY and _same(context, node, operand):
            continue
        if _are_apart(context, node.dest, operand):
            continue
        raise context.reject(
            "E312",
            operand.at,
            f"{view_text(operand)} overlaps the destination {view_text(node.dest)}",
            why="memory: vector operations read and write block by block, so a source is either "
            "exactly the destination or apart from it; use a second buffer",
        )


def _same(context: Context, node: Op, source: View) -> bool:
    state = context.read(source.buffer, source.at)
    one = _ends(context, node.dest, state.sizes)
    other = _ends(context, source, state.sizes)
    starts = all(a[0] == b[0] for a, b in zip(one, other, strict=True))
    if not starts:
        return False
    # Broadcast: a size-1 axis of the source would be read again after it was overwritten.
    views = [item for item in node.operands if isinstance(item, View)]
    if len(views) < 2:
        return True
    sizes = [_sizes(context, view) for view in views]
    own = sizes[views.index(source)]
    return all(
        len(own) >= len(size)
        and all(
            x == y or y == number_polynomial(1) or context.prover.equal(x, y)
            for x, y in zip(own[len(own) - len(size) :], size, strict=True)
        )
        for size in sizes
    )


def _sizes(context: Context, view: View) -> tuple[Polynomial, ...]:
    ends = _ends(context, view, context.read(view.buffer, view.at).sizes)
    kept = [isinstance(axis, Span) for axis in view.index] or [True] * len(ends)
    return tuple(stop - start for keep, (start, stop) in zip(kept, ends, strict=True) if keep)


def _are_apart(context: Context, one: View, other: View) -> bool:
    sizes = context.read(other.buffer, other.at).sizes
    pairs = zip(_ends(context, one, sizes), _ends(context, other, sizes), strict=True)
    return any(
        context.prover.proves(b[0] - a[1]) or context.prover.proves(a[0] - b[1]) for a, b in pairs
    )


def _ends(
    context: Context, view: View, whole: tuple[Polynomial, ...]
) -> list[tuple[Polynomial, Polynomial]]:
    zero = number_polynomial(0)
    if not view.index:
        return [(zero, size) for size in whole]
    ends = []
    for axis, size in zip(view.index, whole, strict=True):
        if isinstance(axis, Span):
            start = zero if axis.start is None else context.value(axis.start)
            ends.append((start, size if axis.stop is None else context.value(axis.stop)))
        else:
            value = context.value(axis)
            ends.append((value, value.plus(1)))
    return ends
