"""Operands: scalars that have a value, buffers that have content, slices inside it."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.check.context import Context
from kernelwright.dsl.check.state import Filled
from kernelwright.dsl.diagnostics import Edit
from kernelwright.dsl.nodes import (
    Apply,
    Binary,
    Compare,
    Expr,
    Index,
    Logic,
    Reduce,
    Ref,
    RefKind,
    Span,
    Unary,
    View,
)
from kernelwright.dsl.print_expression import expression_text, view_text
from kernelwright.dsl.prove.polynomial import Polynomial
from kernelwright.dsl.types import BLOCK_BYTES, DType, Position

SLOW_SCALARS = ("exp", "log")
DIVIDING = ("cdiv", "align_up", "align_down")


def checked_expression(context: Context, node: Expr) -> Expr:
    """Check that every name in `node` has a value here, and write extents into its reductions.

    Raises:
        Rejected: with E305 where a name may have no value; other codes for a reduction's operand.
    """
    match node:
        case Ref():
            _check_defined(context, node)
            return node
        case Unary(operand=operand):
            return replace(node, operand=checked_expression(context, operand))
        case Binary(left=left, right=right) | Compare(left=left, right=right):
            sides = checked_expression(context, left), checked_expression(context, right)
            if isinstance(node, Binary) and node.op in ("//", "%"):
                _check_divisor(context, right)
            return replace(node, left=sides[0], right=sides[1])
        case Logic(operands=operands) | Apply(operands=operands):
            if isinstance(node, Apply) and node.function in SLOW_SCALARS:
                context.warn(
                    "W420",
                    node.at,
                    f"tl.{node.function} of a scalar is slow",
                    "scalars: it goes through the vector unit and back; keep it out of inner loops",
                )
            parts = tuple(checked_expression(context, item) for item in operands)
            if isinstance(node, Apply) and node.function in DIVIDING:
                _check_divisor(context, operands[1])
            return replace(node, operands=parts)
        case Reduce():
            return _checked_reduce(context, node)
    return node


def _check_divisor(context: Context, divisor: Expr) -> None:
    value = context.value(divisor)
    if context.prover.proves(value.plus(-1)):
        return
    text = expression_text(divisor)
    raise context.reject(
        "E313",
        divisor.at,
        f"the divisor {text} may be 0 or negative",
        numbers=f"{text} >= 1 is not provable: {context.facts(value)}",
        why="scalars: integers are divided by positive numbers only",
        fix=context.required(f"{text} >= 1") if context.prover.is_uniform(value) else (),
    )


def _check_defined(context: Context, node: Ref) -> None:
    if node.kind is RefKind.CONST and node.name not in context.values.consts:
        raise context.reject(
            "E101",
            node.at,
            f"the constant {node.name.text} has no value",
            why="constants: a launch in a host function gives one, or the parameter a default",
        )
    if node.name not in context.point.defined:
        raise context.reject(
            "E305",
            node.at,
            f"{node.name.text} may have no value here",
            why="scalars: it is assigned in a loop that may not run or in one branch only; assign "
            "it before",
        )


def _checked_reduce(context: Context, node: Reduce) -> Reduce:
    dtype = context.buffers[node.source.buffer].dtype
    row = BUILTINS[node.function]
    if dtype not in row.dtypes:
        raise context.reject(
            "E402",
            node.at,
            f"tl.{node.function} of {dtype}",
            numbers=f"element types: {' '.join(row.dtypes)}",
            why="dtype rules: cast to f32 first",
        )
    if dtype is DType.F16 and node.function == "reduce_sum":
        warn_half_sum(context, node.at)
    view, sizes = read_view(context, node.source)
    for size in sizes:
        check_not_empty(context, size, node.at)
    return replace(node, source=view)


def warn_half_sum(context: Context, at: Position) -> None:
    """Warn about a sum that is accumulated in f16."""
    context.warn(
        "W410",
        at,
        "a sum of f16 is accumulated in f16",
        "numerics: 2048 + 1 is 2048 in f16; cast to f32 first",
    )


def check_not_empty(context: Context, size: Polynomial, at: Position) -> None:
    """Check that something is left to reduce.

    Raises:
        Rejected: with E304 where the extent may be 0.
    """
    if not context.prover.proves(size.plus(-1)):
        raise context.reject(
            "E304",
            at,
            "the extent may be empty",
            numbers=f"{context.values.text(size)} >= 1 is not provable: {context.facts(size)}",
            why="reductions: the largest of nothing is not defined",
        )


# --- buffers -------------------------------------------------------------------------------------


def read_view(
    context: Context, view: View, *, is_store: bool = False
) -> tuple[View, tuple[Polynomial, ...]]:
    """Check a buffer operand that is read; give it with its extent, and the sizes.

    Raises:
        Rejected: with E305 or E306 where it has no content there, E310 where a slice starts off a
            block.
    """
    _check_index_names(context, view)
    state = context.read(view.buffer, view.at, is_store=is_store)
    sizes = view_sizes(context, view, state.sizes)
    return annotated(context, view, sizes), sizes


def annotated(context: Context, view: View, sizes: tuple[Polynomial, ...]) -> View:
    """The view with its extent written into it.

    Raises:
        Rejected: with E306 where a size is no longer the value of any expression.
    """
    extent = []
    for size in sizes:
        expression = context.values.expression(size)
        if expression is None:
            raise context.reject(
                "E306",
                view.at,
                f"the extent of {view_text(view)} has no name here",
                numbers=f"it is the earlier value of {context.values.text(size)}",
                why="extents: the names in an extent keep their values as long as it is used; "
                "assign new values to new names",
            )
        extent.append(expression)
    return replace(view, extent=tuple(extent))


def _check_index_names(context: Context, view: View) -> None:
    for axis in view.index:
        parts = (axis.start, axis.stop) if isinstance(axis, Span) else (axis,)
        for part in parts:
            if part is not None:
                checked_expression(context, part)


def view_sizes(
    context: Context, view: View, whole: tuple[Polynomial, ...]
) -> tuple[Polynomial, ...]:
    """Sizes of a view of a buffer whose extent is `whole`.

    Raises:
        Rejected: where the slice leaves the extent (E306) or starts off a block (E310).
    """
    if not view.index:
        return whole
    if len(view.index) != len(whole):
        raise context.reject(
            "E306",
            view.at,
            f"{view.buffer.text} has an extent of rank {len(whole)} here",
            numbers=f"{len(view.index)} indices given",
        )
    sizes: list[Polynomial] = []
    for place, (axis, size) in enumerate(zip(view.index, whole, strict=True)):
        start, stop = _ends(context, axis, size)
        _check_inside(context, view, axis, (start, stop, size))
        if place == len(whole) - 1:
            _check_aligned(context, view, axis, start)
        if isinstance(axis, Span):
            sizes.append(stop - start)
    return tuple(sizes)


def _ends(context: Context, axis: Index, size: Polynomial) -> tuple[Polynomial, Polynomial]:
    if not isinstance(axis, Span):
        value = context.value(axis)
        return value, value.plus(1)
    zero = size - size
    start = zero if axis.start is None else context.value(axis.start)
    stop = size if axis.stop is None else context.value(axis.stop)
    return start, stop


def _check_inside(
    context: Context,
    view: View,
    axis: Index,
    ends: tuple[Polynomial, Polynomial, Polynomial],
) -> None:
    start, stop, size = ends
    text = context.values.text
    goals = [
        (start, f"{text(start)} >= 0"),
        (stop - start, f"{text(start)} <= {text(stop)}"),
        (size - stop, f"{text(stop)} <= {text(size)}"),
    ]
    for goal, words in goals:
        if not context.prover.proves(goal):
            raise context.reject(
                "E306",
                axis.at,
                f"the slice may leave the extent of {view.buffer.text}",
                numbers=f"{words} is not provable: {context.facts(goal)}",
                why="extents: a slice lies inside the valid extent, which the last write to the "
                "whole buffer set",
            )


def _check_aligned(context: Context, view: View, axis: Index, start: Polynomial) -> None:
    dtype = context.buffers[view.buffer].dtype
    items = 256 if dtype is DType.MASK else BLOCK_BYTES // dtype.item_bytes
    divisor = context.prover.divisor(start)
    if divisor % items != 0:
        raise context.reject(
            "E310",
            axis.at,
            f"a slice of {view.buffer.text} must start on a 32 B block",
            numbers=f"{context.values.text(start)} is not provably a multiple of {items} elements "
            f"of {dtype}",
            why="vector operands start at multiples of 32 B; load from global memory at the shift, "
            "or pick elements with tl.strided",
        )


def write_view(
    context: Context, view: View, sizes: tuple[Polynomial, ...]
) -> tuple[View, tuple[Polynomial, ...]]:
    """Check a destination that gets `sizes` elements; set the extent where all of it is written.

    Raises:
        Rejected: with E304 where they may not fit, E306 where a slice has another size.
    """
    name = view.buffer
    if view.index:
        _check_index_names(context, view)
        own = view_sizes(context, view, context.read(name, view.at).sizes)
        check_same_sizes(context, view, own, sizes, "the result")
        _forget_bounds(context, view)
        return annotated(context, view, own), own
    capacity = context.capacity(name)
    if len(capacity) != len(sizes):
        raise context.reject(
            "E306",
            view.at,
            f"{name.text} has rank {len(capacity)}, the result rank {len(sizes)}",
            why="extents: ranks agree; b[i, 0:n] is one row of a buffer of rank 2",
        )
    check_fits(context, view, sizes, capacity)
    if name in context.loaded and not isinstance(context.point.buffers[name], Filled):
        raise context.reject(
            "E302",
            view.at,
            f"{name.text} is written by tl.load elsewhere and has no loaded tile here",
            why="roles: a buffer of the input queue exists from a load to its last reader; "
            "compute into another buffer",
        )
    context.write(name, sizes, view.at)
    return annotated(context, view, sizes), sizes


def _forget_bounds(context: Context, view: View) -> None:
    state = context.point.buffers[view.buffer]
    if isinstance(state, Filled):
        context.point.buffers[view.buffer] = replace(state, low=None, high=None)


def check_fits(
    context: Context,
    view: View,
    sizes: tuple[Polynomial, ...],
    capacity: tuple[Polynomial, ...],
) -> None:
    """Check that `sizes` elements fit a buffer.

    Raises:
        Rejected: with E304 where they may not.
    """
    text = context.values.text
    for number, (size, most) in enumerate(zip(sizes, capacity, strict=True)):
        if context.prover.proves(most - size):
            continue
        limit = expression_text(context.buffers[view.buffer].shape[number])
        fix: tuple[Edit, ...] = ()
        if context.prover.is_uniform(size):
            expression = context.values.expression(size)
            if expression is not None:
                fix = context.required(f"{expression_text(expression)} <= {limit}")
        raise context.reject(
            "E304",
            view.at,
            f"{text(size)} elements may not fit {view.buffer.text}",
            numbers=f"{text(size)} <= {limit} is not provable: {context.facts(size)}",
            why="capacity: a buffer holds the elements it was allocated with; tile the loop, or "
            "require the size",
            fix=fix,
        )


def check_same_sizes(
    context: Context,
    view: View,
    own: tuple[Polynomial, ...],
    other: tuple[Polynomial, ...],
    noun: str,
    *,
    fix: tuple[Edit, ...] = (),
) -> None:
    """Check that two extents are equal.

    Raises:
        Rejected: with E306 where that is not provable.
    """
    text = context.values.text
    if len(own) == len(other) and all(
        context.prover.equal(a, b) for a, b in zip(own, other, strict=True)
    ):
        return
    raise context.reject(
        "E306",
        view.at,
        f"extents differ: {view_text(view)} and {noun}",
        numbers=f"{' x '.join(text(size) for size in own)} and "
        f"{' x '.join(text(size) for size in other)}",
        why="extents: the operands of an elementwise operation have equal extents; slice the "
        "larger, such as acc[0:n]",
        fix=fix,
    )
