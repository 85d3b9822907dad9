"""The walk over a kernel: every statement is checked with what is known where it stands.

Takes:   a kernel whose structure has been checked, and values for its compile-time parameters.
Gives:   findings, and the kernel with the extent of every operand written into it.
Leaves:  capacity to `capacity.py`, races between cores to `race.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from kernelwright.dsl.check.bodies import is_core_loop, same_body
from kernelwright.dsl.check.context import Context
from kernelwright.dsl.check.operand import checked_expression
from kernelwright.dsl.check.operation import checked_op
from kernelwright.dsl.check.state import LOST, Filled, Frame, Point, Unusable, merged
from kernelwright.dsl.check.transfer import check_slice, checked_load, checked_store
from kernelwright.dsl.diagnostics import Diagnostic, Rejected
from kernelwright.dsl.nodes import (
    Assign,
    Block,
    Compare,
    CoreRange,
    Expr,
    For,
    GlobalSlice,
    If,
    Iteration,
    Literal,
    Load,
    Logic,
    Op,
    Range,
    ReadScalar,
    RefKind,
    Region,
    Require,
    Statement,
    StaticRange,
    Store,
    SyncAll,
    Tiles,
)
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.prove.polynomial import Polynomial
from kernelwright.dsl.tree import assigned_names, buffers_written, loop_operands, written_buffers
from kernelwright.dsl.types import DType, Name, Position

Visit = Callable[["Context", Load | Store | Assign, GlobalSlice], None]
"""Called at each access to global memory, with the facts of its program point in force."""


@dataclass(slots=True)
class Flow:
    """Walks one kernel.

    Attributes:
        context: What is known.
        visit: Called at each access to global memory.
    """

    context: Context
    visit: Visit

    def block(self, block: Block) -> Block:
        """Check the statements of a block in order."""
        return tuple(self._guarded(item) for item in block)

    def _guarded(self, item: Statement) -> Statement:
        try:
            return self._statement(item)
        except Rejected as error:
            if error.diagnostic.code:
                self.context.found.append(error.diagnostic)
            for name in buffers_written(item):
                self.context.set_state(name, LOST)
            if isinstance(item, Assign):
                self._assigned(item.name, item.value.type, None)
            return item

    def _statement(self, item: Statement) -> Statement:
        context = self.context
        match item:
            case Assign():
                return self._assign(item)
            case Load():
                node = checked_load(context, item)
                self.visit(context, node, node.source)
                return node
            case Store():
                store = checked_store(context, item)
                self.visit(context, store, store.target)
                return store
            case Op():
                return checked_op(context, item)
            case Region(body=body):
                return replace(item, body=self.block(body))
            case Require(condition=condition):
                condition = checked_expression(context, condition)
                context.values.assume(condition)
                return replace(item, condition=condition)
            case If():
                return self._if(item)
            case For():
                return self._for(item)
            case SyncAll():
                context.cores.phase += 1
        return item

    def _assign(self, item: Assign) -> Assign:
        context = self.context
        node = replace(item, value=checked_expression(context, item.value))
        if isinstance(item.value, Literal) and item.value.value == -math.inf:
            context.warn(
                "W430",
                item.at,
                f"{item.name.text} starts at -tl.inf",
                "numerics: (-inf) - (-inf) is NaN; start a running maximum from -3.0e38",
            )
        if isinstance(node.value, ReadScalar):
            check_slice(context, node.value.source, has_fill=False)
            self.visit(context, node, node.value.source)
        self._assigned(item.name, node.value.type, context.values.of(node.value))
        return node

    def _assigned(self, name: Name, kind: DType, value: Polynomial | None) -> None:
        context = self.context
        context.point.defined.add(name)
        if kind is DType.I64:
            context.values.kinds[name] = RefKind.LOCAL
            context.point.integers[name] = value or context.prover.fresh(name.text)

    # --- branches --------------------------------------------------------------------------------

    def _if(self, item: If) -> If:
        context = self.context
        condition = checked_expression(context, item.condition)
        before = context.point
        written = [set(frame.written) for frame in context.frames]
        then, after_then, written_then = self._branch(condition, item.then, before, written, True)
        orelse, after_else, written_else = self._branch(
            condition, item.orelse, before, written, False
        )
        context.go(merged(after_then, after_else, context.prover))
        for frame, one, other in zip(context.frames, written_then, written_else, strict=True):
            frame.written = one & other
        return replace(item, condition=condition, then=then, orelse=orelse)

    def _branch(
        self, condition: Expr, block: Block, before: Point, written: list[set[Name]], is_true: bool
    ) -> tuple[Block, Point, list[set[Name]]]:
        context = self.context
        context.go(before.copy())
        for frame, names in zip(context.frames, written, strict=True):
            frame.written = set(names)
        cores = context.cores
        outer = cores.only_core
        with context.prover.scope():
            context.values.assume(condition, is_true=is_true)
            if is_true:
                cores.only_core = only_core(context, condition) or outer
            nodes = self.block(block)
        cores.only_core = outer
        self._close_tokens(block, "branch")
        return nodes, context.point, [set(frame.written) for frame in context.frames]

    # --- loops -----------------------------------------------------------------------------------

    def _for(self, item: For) -> For:
        context = self.context
        over = checked_iteration(context, item)
        before = context.point.copy()
        runs = self._certainly_runs(over)
        written = [set(frame.written) for frame in context.frames]
        with context.prover.scope():
            self._enter(over)
            self._forget(item.body)
            frame = Frame(dict(context.point.buffers))
            context.frames.append(frame)
            if isinstance(over, Tiles):
                context.tiles.append(over)
            body = self._in_loop(item, over)
            self._close_tokens(item.body, "loop")
            self._check_carried(item, frame)
            context.frames.pop()
            if isinstance(over, Tiles):
                context.tiles.pop()
        for name in loop_names(over):
            context.point.defined.discard(name)
            context.point.integers.pop(name, None)
        self._leave(item.body, before, runs)
        if not runs:
            for outer, names in zip(context.frames, written, strict=True):
                outer.written = names
        return replace(item, over=over, body=body)

    def _in_loop(self, item: For, over: Iteration) -> Block:
        cores = self.context.cores
        outer = cores.loop_atoms, cores.outermost
        cores.outermost = cores.outermost or item.at
        if is_core_loop(item):
            first = self.context.point.integers[loop_names(over)[0]]
            cores.loop_atoms = first.atoms
            work = tuple(self.context.value(part) for part in loop_operands(over))
            cores.share(next(iter(first.atoms)), work)
        phase = cores.phase
        body = self.block(item.body)
        cores.join(phase, cores.phase)
        cores.loop_atoms, cores.outermost = outer
        return body

    def _certainly_runs(self, over: Iteration) -> bool:
        context = self.context
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

    def _enter(self, over: Iteration) -> None:
        """Declare the loop's variables and what is known of them inside."""
        context = self.context
        prover = context.prover
        match over:
            case Tiles(offset=offset, length=length, total=total, tile=tile):
                whole, step = context.value(total), context.value(tile)
                divisor = step.constant if step.is_constant and step.constant > 0 else 1
                start = self._variable(offset, divisor)
                count = self._variable(length)
                i, n, big = offset.text, length.text, expression_text(total)
                prover.assume(start, f"{i} >= 0")
                prover.assume(count.plus(-1), f"{n} >= 1")
                prover.assume(step - count, f"{n} <= {expression_text(tile)}")
                prover.assume(whole - start - count, f"{i} + {n} <= {big}")
            case CoreRange(var=var, count=count_node) | StaticRange(var=var, count=count_node):
                top = context.value(count_node)
                value = self._variable(var)
                prover.assume(value, f"{var.text} >= 0")
                text = f"{var.text} < {expression_text(count_node)}"
                prover.assume((top - value).plus(-1), text)
            case Range(var=var, start=start_node, stop=stop_node):
                first, last = context.value(start_node), context.value(stop_node)
                value = self._variable(var)
                prover.assume(value - first, f"{var.text} >= {expression_text(start_node)}")
                text = f"{var.text} < {expression_text(stop_node)}"
                prover.assume((last - value).plus(-1), text)

    def _variable(self, name: Name, divisor: int = 1) -> Polynomial:
        context = self.context
        value = context.prover.fresh(name.text, divisor=divisor)
        context.point.integers[name] = value
        context.point.defined.add(name)
        context.values.kinds[name] = RefKind.LOOP
        return value

    def _forget(self, body: Block) -> None:
        """At the loop's head a name or buffer may hold what an earlier iteration left."""
        point = self.context.point
        for name in assigned_names(body):
            if name in point.integers:
                point.integers[name] = self.context.prover.fresh(name.text)
        for name in written_buffers(body):
            state = point.buffers[name]
            if isinstance(state, Filled):
                point.buffers[name] = replace(state, low=None, high=None)

    def _leave(self, body: Block, before: Point, runs: bool) -> None:
        context = self.context
        end = context.point
        for name in assigned_names(body):
            if name in end.integers:
                end.integers[name] = context.prover.fresh(name.text)
        context.go(end if runs else merged(before, end, context.prover))

    def _close_tokens(self, body: Block, noun: str) -> None:
        """A tile loaded in a body is gone at its end."""
        for item in same_body(body):
            if not isinstance(item, Load) or item.dest.buffer not in self.context.point.buffers:
                continue
            name = item.dest.buffer
            if self.context.point.buffers[name] is not LOST:
                self.context.point.buffers[name] = Unusable(
                    "E305",
                    f"the tile loaded in line {item.at.line} ended with its {noun}",
                    "tokens: a loaded tile lives in the body that loaded it; load it outside the "
                    f"{noun} to keep it",
                )

    def _check_carried(self, item: For, frame: Frame) -> None:
        context = self.context
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
                numbers = f"{self._sizes(entry)} before the loop, {self._sizes(end)} after a round"
            at = Position(line, 1, line, 1)
            at = replace(at, col=self._indent(line), end_col=self._line_end(line))
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

    def _sizes(self, state: Filled) -> str:
        return " x ".join(self.context.values.text(size) for size in state.sizes)

    def _indent(self, line: int) -> int:
        lines = self.context.source.lines
        text = lines[line - 1] if 1 <= line <= len(lines) else ""
        return len(text) - len(text.lstrip()) + 1

    def _line_end(self, line: int) -> int:
        lines = self.context.source.lines
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


def only_core(context: Context, condition: Expr) -> Polynomial | None:
    """The number in `tl.core_id() == number`, where the condition says that."""
    if isinstance(condition, Logic) and condition.op == "and":
        found = (only_core(context, item) for item in condition.operands)
        return next((item for item in found if item is not None), None)
    if not isinstance(condition, Compare) or condition.op != "==":
        return None
    core = context.values.cores()[0]
    left, right = context.value(condition.left), context.value(condition.right)
    if right == core:
        left, right = right, left
    return right if left == core and context.prover.is_uniform(right) else None


def loop_names(over: Iteration) -> tuple[Name, ...]:
    """The variables of a loop."""
    if isinstance(over, Tiles):
        return (over.offset, over.length)
    return (over.var,)
