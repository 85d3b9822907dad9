"""Loads and stores: slices of global memory inside the tensor, of the buffer's size and type."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.dsl.check.context import Context
from kernelwright.dsl.check.operand import (
    annotated,
    check_fits,
    check_same_sizes,
    checked_expression,
    read_view,
)
from kernelwright.dsl.check.state import Filled
from kernelwright.dsl.diagnostics import Edit
from kernelwright.dsl.nodes import GlobalSlice, Index, Load, Span, Store
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.prove.polynomial import Polynomial, number_polynomial
from kernelwright.dsl.types import DType, Name, Position


def checked_load(context: Context, node: Load) -> Load:
    """Check a load; its buffer's extent becomes the slice's.

    Raises:
        Rejected: where the slice may leave the tensor or not fit the buffer.
    """
    name = node.dest.buffer
    sizes = check_slice(context, node.source, has_fill=node.fill is not None)
    _check_dtype(context, node.source.tensor, name, node.at)
    capacity = context.capacity(name)
    if len(sizes) != len(capacity):
        raise context.reject(
            "E306",
            node.source.at,
            f"{name.text} has rank {len(capacity)}, the slice rank {len(sizes)}",
            why="extents: a load of one row wants a buffer of rank 1, of several "
            "rows one of rank 2",
        )
    check_fits(context, node.dest, sizes, capacity)
    if node.fill is not None:
        checked_expression(context, node.fill)
    context.write(name, sizes, node.at)
    return replace(node, dest=annotated(context, node.dest, sizes))


def checked_store(context: Context, node: Store) -> Store:
    """Check a store; the buffer's content is handed over.

    Raises:
        Rejected: where the slice may leave the tensor or has another size than the buffer.
    """
    name = node.source.buffer
    sizes = check_slice(context, node.target, has_fill=False)
    _check_dtype(context, node.target.tensor, name, node.at)
    if node.is_atomic_add:
        context.warn(
            "W501",
            node.at,
            "the order of tl.store_add is not defined",
            "determinism: float sums differ from run to run; reduce through a workspace",
        )
    view, own = read_view(context, node.source, is_store=True)
    check_same_sizes(context, node.source, own, sizes, "the slice of " + node.target.tensor.text)
    state = context.point.buffers[name]
    assert isinstance(state, Filled)
    context.point.buffers[name] = replace(state, handed=node.at.line)
    return replace(node, source=view)


def _check_dtype(context: Context, tensor: Name, buffer: Name, at: Position) -> None:
    far, near = context.tensors[tensor].dtype, context.buffers[buffer].dtype
    stored = DType.U8 if far is DType.BOOL else far
    held = DType.U8 if near is DType.BOOL else near
    if far is DType.I64:
        raise context.reject(
            "E401",
            at,
            f"{tensor.text} is i64, which exists in global memory only",
            why="dtype rules: read one element with tl.load_scalar, or keep indices as i32",
        )
    if stored is held:
        return
    raise context.reject(
        "E401",
        at,
        f"{tensor.text} is {far}, {buffer.text} is {near}",
        why="dtype rules: copies do not convert; load the tensor's own type, then tl.cast",
        fix=_retyped(context, buffer, far),
    )


def _retyped(context: Context, buffer: Name, dtype: DType) -> tuple[Edit, ...]:
    at = context.buffers[buffer].at
    old = context.buffers[buffer].dtype
    return context.source.replace(at, context.source.cut(at).replace(f'"{old}"', f'"{dtype}"', 1))


# --- slices of global memory ---------------------------------------------------------------------


def check_slice(context: Context, part: GlobalSlice, *, has_fill: bool) -> tuple[Polynomial, ...]:
    """Check that a slice lies inside its tensor; give its sizes.

    Args:
        has_fill: Elements outside the last dimension are allowed.

    Raises:
        Rejected: with E303 where it may leave the tensor, E304 where it may be empty.
    """
    sizes: list[Polynomial] = []
    dims = context.dims(part.tensor)
    for place, (axis, dim) in enumerate(zip(part.index, dims, strict=True)):
        free = has_fill and place == len(dims) - 1
        if isinstance(axis, Span):
            sizes.append(_check_span(context, part, place, axis, dim if not free else None))
        else:
            checked_expression(context, axis)
            value = context.value(axis)
            if not free:
                _check_bound(context, part, place, (value, "index"), axis)
                _check_bound(context, part, place, ((dim - value).plus(-1), "index"), axis)
    return tuple(sizes)


def _check_span(
    context: Context, part: GlobalSlice, place: int, axis: Span, dim: Polynomial | None
) -> Polynomial:
    assert axis.start is not None
    assert axis.stop is not None
    checked_expression(context, axis.start)
    checked_expression(context, axis.stop)
    start, stop = context.value(axis.start), context.value(axis.stop)
    length = stop - start
    if axis.step != 1:
        length = context.values.quotient(length.plus(axis.step - 1), number_polynomial(axis.step))
    if dim is not None:
        _check_bound(context, part, place, (start, "slice"), axis)
        _check_bound(context, part, place, (dim - stop, "slice"), axis)
    if not context.prover.proves(length.plus(-1)):
        raise context.reject(
            "E304",
            axis.at,
            f"the slice of {part.tensor.text} may be empty",
            numbers=f"{context.values.text(length)} >= 1 is not provable: {context.facts(length)}",
            why="slices: a copy moves at least one element; put it under an if",
        )
    return length


def _check_bound(
    context: Context,
    part: GlobalSlice,
    place: int,
    goal: tuple[Polynomial, str],
    axis: Index,
) -> None:
    value, noun = goal
    if context.prover.proves(value):
        return
    limit = expression_text(context.tensors[part.tensor].dims[place])
    written = expression_text(axis) if not isinstance(axis, Span) else None
    first = context.value(axis.start) if isinstance(axis, Span) and axis.start else None
    is_low = value == (first if isinstance(axis, Span) else context.value(axis))
    if isinstance(axis, Span):
        end = axis.start if is_low else axis.stop
        assert end is not None
        words = f"{expression_text(end)} >= 0" if is_low else f"{expression_text(end)} <= {limit}"
    else:
        words = f"{written} >= 0" if is_low else f"{written} < {limit}"
    raise context.reject(
        "E303",
        axis.at,
        f"{noun} of {part.tensor.text} may leave 0..{limit}",
        numbers=f"{words} is not provable: {context.facts(value)}",
        why="bounds: the last tile is shorter than TILE when the size is no multiple of it; past a "
        "row lies the next row's data"
        if isinstance(axis, Span) and not is_low
        else "bounds: every access to global memory is proved to be inside the tensor",
        fix=_bound_fix(context, part, place, axis, (value, words)),
    )


def _bound_fix(
    context: Context,
    part: GlobalSlice,
    place: int,
    axis: Index,
    goal: tuple[Polynomial, str],
) -> tuple[Edit, ...]:
    value, words = goal
    dim = context.dims(part.tensor)[place]
    if isinstance(axis, Span) and axis.start is not None:
        start = context.value(axis.start)
        for tiles in reversed(context.tiles):
            length = context.point.integers.get(tiles.length)
            if length is None:
                continue
            if context.prover.proves(dim - start - length) and context.prover.proves(start):
                begin = expression_text(axis.start)
                text = f"{begin}:{begin} + {tiles.length.text}"
                return context.source.replace(axis.at, text)
    if context.prover.is_uniform(value):
        return context.required(words)
    return ()
