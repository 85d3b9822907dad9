"""Loops: what is known inside, what a round leaves to the next, and what is known after."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.dsl.check.bodies import same_body
from kernelwright.dsl.check.context import Context
from kernelwright.dsl.check.operand import checked_expression
from kernelwright.dsl.check.state import LOST, Filled, Frame, Point, Unusable, merged
from kernelwright.dsl.diagnostics import Diagnostic
from kernelwright.dsl.nodes import (
    Block,
    CoreRange,
    For,
    Iteration,
    Load,
    Range,
    RefKind,
    StaticRange,
    Tiles,
)
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.prove.polynomial import Polynomial
from kernelwright.dsl.tree import assigned_names, written_buffers
from kernelwright.dsl.types import Name, Position


def certainly_runs(context: Context, over: Iteration) -> bool:
    """True where a loop has at least one iteration on every core."""
    match over:
        case CoreRange():
            return False
        case Tiles(total=total):
            return not over.is_per_core and context.prover.proves(context.value(total).plus(-1))
        case Range(start=start, stop=stop):
            length = context.value(stop) - context.value(start)
            return context.prover.proves(length.plus(-1))
        case StaticRange(count=count):
            return context.prover.proves(context.value(count).plus(-1))


def enter(context: Context, over: Iteration) -> None:
    """Declare the loop's variables and what is known of them inside."""
    prover = context.prover
    match over:
        case Tiles(offset=offset, length=length, total=total, tile=tile):
            whole, step = context.value(total), context.value(tile)
            divisor = step.constant if step.is_constant and step.constant > 0 else 1
            start = _variable(context, offset, divisor)
            count = _variable(context, length)
            i, n, big = offset.text, length.text, expression_text(total)
            prover.assume(start, f"{i} >= 0")
            prover.assume(count.plus(-1), f"{n} >= 1")
            prover.assume(step - count, f"{n} <= {expression_text(tile)}")
            prover.assume(whole - start - count, f"{i} + {n} <= {big}")
        case CoreRange(var=var, count=count_node) | StaticRange(var=var, count=count_node):
            top = context.value(count_node)
            value = _variable(context, var)
            prover.assume(value, f"{var.text} >= 0")
            text = f"{var.text} < {expression_text(count_node)}"
            prover.assume((top - value).plus(-1), text)
        case Range(var=var, start=start_node, stop=stop_node):
            first, last = context.value(start_node), context.value(stop_node)
            value = _variable(context, var)
            prover.assume(value - first, f"{var.text} >= {expression_text(start_node)}")
            text = f"{var.text} < {expression_text(stop_node)}"
            prover.assume((last - value).plus(-1), text)


def _variable(context: Context, name: Name, divisor: int = 1) -> Polynomial:
    value = context.prover.fresh(name.text, divisor=divisor)
    context.point.integers[name] = value
    context.point.defined.add(name)
    context.values.kinds[name] = RefKind.LOOP
    return value


def forget(context: Context, body: Block) -> None:
    """At the loop's head a name or buffer may hold what an earlier iteration left."""
    point = context.point
    for name in assigned_names(body):
        if name in point.integers:
            point.integers[name] = context.prover.fresh(name.text)
    for name in written_buffers(body):
        state = point.buffers[name]
        if isinstance(state, Filled):
            point.buffers[name] = replace(state, low=None, high=None)


def leave(context: Context, body: Block, before: Point, runs: bool) -> None:
    """Go on after a loop: what its body assigned is no longer known."""
    end = context.point
    for name in assigned_names(body):
        if name in end.integers:
            end.integers[name] = context.prover.fresh(name.text)
    context.go(end if runs else merged(before, end, context.prover))


def close_tokens(context: Context, body: Block, noun: str) -> None:
    """A tile loaded in a body is gone at its end."""
    for item in same_body(body):
        if not isinstance(item, Load) or item.dest.buffer not in context.point.buffers:
            continue
        name = item.dest.buffer
        if context.point.buffers[name] is not LOST:
            context.point.buffers[name] = Unusable(
                "E305",
                f"the tile loaded in line {item.at.line} ended with its {noun}",
                "tokens: a loaded tile lives in the body that loaded it; load it outside the "
                f"{noun} to keep it",
            )


def check_carried(context: Context, item: For, frame: Frame) -> None:
    """Report buffers that a round reads from the one before with another extent (E307)."""
    for name, line in frame.carried.items():
        entry, end = frame.entry[name], context.point.buffers[name]
        if end is LOST or entry is LOST or not isinstance(entry, Filled):
            continue
        if isinstance(end, Filled) and end.handed and not entry.handed:
            what, numbers = f"the store in line {end.handed} takes it", ""
        elif isinstance(end, Unusable):
            what, numbers = f"at its end {end.what}", ""
        elif len(end.sizes) == len(entry.sizes) and all(
            context.prover.equal(a, b) for a, b in zip(end.sizes, entry.sizes, strict=True)
        ):
            continue
        else:
            what = "its extent changes"
            numbers = (
                f"{_sizes(context, entry)} before the loop, {_sizes(context, end)} after a round"
            )
        at = Position(line, 1, line, 1)
        at = replace(at, col=_indent(context, line), end_col=_line_end(context, line))
        context.found.append(
            Diagnostic(
                "E307",
                at,
                f"{name.text} is read in line {line} before the loop of line {item.at.line} "
                f"writes it, and {what}",
                numbers,
                "loop-carried extents: what one round leaves, the next one reads; update a "
                f"part with a slice such as {name.text}[0:n]",
            )
        )


def _sizes(context: Context, state: Filled) -> str:
    return " x ".join(context.values.text(size) for size in state.sizes)


def _indent(context: Context, line: int) -> int:
    lines = context.source.lines
    text = lines[line - 1] if 1 <= line <= len(lines) else ""
    return len(text) - len(text.lstrip()) + 1


def _line_end(context: Context, line: int) -> int:
    lines = context.source.lines
    return len(lines[line - 1]) + 1 if 1 <= line <= len(lines) else 1


def checked_iteration(context: Context, item: For) -> Iteration:
    """Check the operands of a loop's head.

    Raises:
        Rejected: where a tile is not positive, or a name has no value.
    """
    over = item.over
    match over:
        case Tiles(total=total, tile=tile):
            over = replace(
                over,
                total=checked_expression(context, total),
                tile=checked_expression(context, tile),
            )
            if not context.prover.proves(context.value(tile).plus(-1)):
                raise context.reject(
                    "E103",
                    tile.at,
                    "a tile has at least one element",
                    numbers=f"{expression_text(tile)} >= 1 is not provable",
                    why="loops: tl.tiles needs a positive tile length",
                )
        case CoreRange(count=count) | StaticRange(count=count):
            over = replace(over, count=checked_expression(context, count))
        case Range(start=start, stop=stop):
            over = replace(
                over,
                start=checked_expression(context, start),
                stop=checked_expression(context, stop),
            )
    if isinstance(over, StaticRange) and not context.value(over.count).is_constant:
        raise context.reject(
            "E101",
            over.count.at,
            "tl.static_range needs a number known at compile time",
            why="loops: it is unrolled; use range for a run-time count",
        )
    return over


def loop_names(over: Iteration) -> tuple[Name, ...]:
    """The variables of a loop."""
    if isinstance(over, Tiles):
        return (over.offset, over.length)
    return (over.var,)
