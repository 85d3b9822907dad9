"""Operations on buffers: the shape rule and the dtype rule of each row of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.check.context import Context
from kernelwright.dsl.check.dtype import check_dtypes
from kernelwright.dsl.check.index import check_gather, check_strided, index_bounds
from kernelwright.dsl.check.operand import (
    check_not_empty,
    check_same_sizes,
    checked_expression,
    read_view,
    view_sizes,
    write_view,
)
from kernelwright.dsl.check.overlap import check_overlap
from kernelwright.dsl.check.state import LOST
from kernelwright.dsl.check.tail import tail_fix
from kernelwright.dsl.nodes import Op, Operand, View
from kernelwright.dsl.primitive import Builtin, Kind, ShapeRule
from kernelwright.dsl.prove.polynomial import Polynomial, number_polynomial

Sizes: TypeAlias = tuple[Polynomial, ...]
ONE = number_polynomial(1)


def checked_op(context: Context, node: Op) -> Op:
    """Check one operation; give it with the extents of its operands.

    Raises:
        Rejected: with the code of the rule it breaks.
    """
    row = BUILTINS[node.name]
    for operand in node.operands:
        if isinstance(operand, View) and context.point.buffers[operand.buffer] is LOST:
            raise context.reject("", node.at, "an earlier error explains it")
    check_dtypes(context, node, row)
    operands: list[Operand] = []
    sizes: list[Sizes] = []
    for operand in node.operands:
        if isinstance(operand, View):
            view, size = read_view(context, operand)
            operands.append(view)
            sizes.append(size)
        else:
            operands.append(checked_expression(context, operand))
    if row.reads_dest:
        read_view(context, node.dest)
    bounds = index_bounds(context, node)
    result = RULES[row.shape](context, node, sizes)
    check_overlap(context, node, row)
    dest, own = write_view(context, node.dest, result)
    if row.reads_dest and not node.dest.index:
        _check_update(context, node, own, sizes)
    _write_carry(context, node, row)
    if bounds is not None and not node.dest.index:
        state = context.read(node.dest.buffer, node.dest.at)
        context.point.buffers[node.dest.buffer] = replace(state, low=bounds[0], high=bounds[1])
    return replace(node, dest=dest, operands=tuple(operands))


def _check_update(context: Context, node: Op, own: Sizes, sizes: list[Sizes]) -> None:
    check_same_sizes(context, node.dest, own, sizes[0], "the source")


def _write_carry(context: Context, node: Op, row: Builtin) -> None:
    for slot, operand in zip(row.slots, node.operands, strict=False):
        if slot.kind is Kind.CARRY and isinstance(operand, View) and not operand.index:
            state = context.read(operand.buffer, operand.at)
            context.set_state(operand.buffer, replace(state, low=None, high=None))


# --- shape rules ---------------------------------------------------------------------------------


def _same(context: Context, node: Op, sizes: list[Sizes]) -> Sizes:
    views = [operand for operand in node.operands if isinstance(operand, View)]
    if BUILTINS[node.name].slots[-1].kind is Kind.CARRY:
        return _scan(context, node, views, sizes)
    for view, size in zip(views[1:], sizes[1:], strict=True):
        check_same_sizes(context, view, size, sizes[0], views[0].buffer.text)
    if BUILTINS[node.name].reads_dest:
        state = context.read(node.dest.buffer, node.dest.at)
        check_same_sizes(
            context,
            node.dest,
            view_sizes(context, node.dest, state.sizes),
            sizes[0],
            views[0].buffer.text,
        )
    return sizes[0]


def scan_axis(node: Op, rank: int) -> int:
    """The axis that a scan runs along: the last where none is given."""
    axis = node.attribute("axis", -1)
    assert isinstance(axis, int)
    return rank - 1 if axis == -1 else axis


def _scan(context: Context, node: Op, views: list[View], sizes: list[Sizes]) -> Sizes:
    axis = scan_axis(node, len(sizes[0]))
    if axis >= len(sizes[0]):
        raise context.reject("E103", node.at, f"axis={axis} of a buffer of rank {len(sizes[0])}")
    if len(sizes) == 2:
        wants = tuple(ONE if place == axis else size for place, size in enumerate(sizes[0]))
        check_same_sizes(context, views[1], sizes[1], wants, "the carry of this axis")
    return sizes[0]


def _broadcast(context: Context, node: Op, sizes: list[Sizes]) -> Sizes:
    left, right = sizes
    rank = max(len(left), len(right))
    wide = [_widened(size, rank) for size in (left, right)]
    result: list[Polynomial] = []
    for one, other in zip(*wide, strict=True):
        if one == ONE or context.prover.equal(one, other):
            result.append(other)
        elif other == ONE:
            result.append(one)
        else:
            views = [item for item in node.operands if isinstance(item, View)]
            check_same_sizes(
                context,
                views[1],
                right,
                left,
                views[0].buffer.text,
                fix=tail_fix(context, node, views, sizes),
            )
    return tuple(result)


def _widened(sizes: Sizes, rank: int) -> Sizes:
    return (ONE,) * (rank - len(sizes)) + sizes


def _reduce(context: Context, node: Op, sizes: list[Sizes]) -> Sizes:
    source = sizes[0]
    if len(source) != 2:
        raise context.reject(
            "E306",
            node.at,
            f"tl.{node.name} into a buffer needs a source of rank 2",
            numbers=f"rank {len(source)} given",
            why=f"reductions: of rank 1, v = tl.{node.name}(a) gives a scalar",
        )
    axis = node.attribute("axis", 1)
    for size in source:
        check_not_empty(context, size, node.at)
    return (source[0], ONE) if axis == 1 else (ONE, source[1])


def _counts(context: Context, node: Op, sizes: list[Sizes]) -> Sizes:
    if node.name == "strided":
        return check_strided(context, node, sizes[0])
    counts = [item for item in node.operands[1:] if not isinstance(item, View)]
    if node.dest.index:
        if counts:
            raise context.reject(
                "E103",
                node.at,
                f"tl.{node.name} through a slice takes no counts",
                why="extents: the slice says how many",
            )
        state = context.read(node.dest.buffer, node.dest.at)
        return view_sizes(context, node.dest, state.sizes)
    rank = len(context.buffers[node.dest.buffer].shape)
    if len(counts) != rank:
        raise context.reject(
            "E103",
            node.at,
            f"tl.{node.name} of a whole buffer of rank {rank} takes {rank} "
            f"count{'s' if rank > 1 else ''}",
            numbers=f"{len(counts)} given",
            why="extents: the counts become the buffer's valid extent",
        )
    result = tuple(context.value(count) for count in counts)
    for size, count in zip(result, counts, strict=True):
        check_not_empty(context, size, count.at)
    return result


def _index(context: Context, node: Op, sizes: list[Sizes]) -> Sizes:
    check_gather(context, node, sizes)
    return sizes[1]


def _transpose(context: Context, node: Op, sizes: list[Sizes]) -> Sizes:
    if len(sizes[0]) != 2:
        raise context.reject("E306", node.at, "tl.transpose takes a buffer of rank 2")
    return (sizes[0][1], sizes[0][0])


Rule: TypeAlias = Callable[[Context, Op, list[Sizes]], Sizes]
RULES: dict[ShapeRule, Rule] = {
    ShapeRule.SAME: _same,
    ShapeRule.BROADCAST: _broadcast,
    ShapeRule.REDUCE: _reduce,
    ShapeRule.COUNTS: _counts,
    ShapeRule.INDEX: _index,
    ShapeRule.TRANSPOSE: _transpose,
}
