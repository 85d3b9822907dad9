"""Ranges of index buffers: a gather stays inside its source."""

from __future__ import annotations

from kernelwright.dsl.check.context import Context
from kernelwright.dsl.check.state import Filled
from kernelwright.dsl.nodes import Op, View
from kernelwright.dsl.print_expression import view_text
from kernelwright.dsl.prove.polynomial import Polynomial
from kernelwright.dsl.types import DType

Bounds = tuple[Polynomial, Polynomial]


def check_gather(context: Context, node: Op, sizes: list[tuple[Polynomial, ...]]) -> None:
    """Check that every index of a gather is inside the source.

    Raises:
        Rejected: with E320 where that is not provable.
    """
    source, index = node.operands
    assert isinstance(source, View)
    assert isinstance(index, View)
    if len(sizes[0]) != 1:
        raise context.reject("E306", node.at, "tl.gather takes a source of rank 1")
    state = context.point.buffers[index.buffer]
    size = sizes[0][0]
    text = context.values.text
    if isinstance(state, Filled) and state.low is not None and state.high is not None:
        low, high = state.low, state.high
        if context.prover.proves(low) and context.prover.proves((size - high).plus(-1)):
            return
        numbers = f"indices {text(low)}..{text(high)}, source 0..{text(size)}"
    else:
        numbers = f"the indices come from memory, source 0..{text(size)}"
    last = context.values.expression(size)
    shown = text(size) if last is not None else "n"
    whole = context.source.cut(node.at)
    clamp = f"tl.clamp({view_text(index)}, {view_text(index)}, 0, {shown} - 1)"
    raise context.reject(
        "E320",
        node.at,
        f"the index may leave {view_text(source)}",
        numbers=numbers,
        why="gather: hardware does not check indices; clamp them, or make them with tl.iota",
        fix=context.source.replace(node.at, f"{clamp}\n{whole}") if whole else (),
    )


def check_strided(
    context: Context, node: Op, source: tuple[Polynomial, ...]
) -> tuple[Polynomial, ...]:
    """Check that a strided pick stays inside its source; give its size.

    Raises:
        Rejected: with E320 where it may leave it.
    """
    if len(source) != 1:
        raise context.reject("E306", node.at, "tl.strided takes a source of rank 1")
    numbers = [context.value(item) for item in node.operands if not isinstance(item, View)]
    start, step, count = numbers
    last = start + (count.plus(-1)) * step
    goals = (start, step.plus(-1), count.plus(-1), (source[0] - last).plus(-1))
    if not all(context.prover.proves(goal) for goal in goals):
        text = context.values.text
        raise context.reject(
            "E320",
            node.at,
            "the stride may leave the source",
            numbers=f"elements {text(start)}..{text(last)} of 0..{text(source[0])}",
            why="strided: start >= 0, step >= 1, n >= 1 and start + (n - 1) * step < extent",
        )
    return (count,)


def index_bounds(context: Context, node: Op) -> Bounds | None:
    """Bounds of the elements that an operation writes, where it makes an index buffer."""
    if context.buffers[node.dest.buffer].dtype is not DType.I32:
        return None
    scalars = [
        context.value(item)
        for item in node.operands
        if not isinstance(item, View) and item.type is DType.I64
    ]
    if node.name == "iota" and len(scalars) == 2:
        start, count = scalars
        return start, (start + count).plus(-1)
    if node.name == "fill" and scalars:
        return scalars[0], scalars[0]
    if node.name == "clamp" and len(scalars) == 2:
        return (scalars[0], scalars[1]) if context.prover.proves(scalars[1] - scalars[0]) else None
    source = node.operands[0] if node.operands else None
    state = context.point.buffers[source.buffer] if isinstance(source, View) else None
    if not isinstance(state, Filled) or state.low is None or state.high is None:
        return None
    return _moved(context, node.name, (state.low, state.high), scalars)


def _moved(context: Context, name: str, bounds: Bounds, scalars: list[Polynomial]) -> Bounds | None:
    low, high = bounds
    if name == "copy":
        return bounds
    if len(scalars) != 1:
        return None
    if name == "adds":
        return low + scalars[0], high + scalars[0]
    if name == "subs":
        return low - scalars[0], high - scalars[0]
    if name == "muls" and context.prover.proves(scalars[0]):
        return low * scalars[0], high * scalars[0]
    return None
