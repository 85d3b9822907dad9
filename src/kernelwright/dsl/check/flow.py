"""The walk over a kernel: every statement is checked with what is known where it stands.

Takes:   a kernel whose structure has been checked, and values for its compile-time parameters.
Gives:   findings, and the kernel with the extent of every operand written into it.
Leaves:  capacity to `capacity.py`, races between cores to `race.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from kernelwright.dsl.check.bodies import is_core_loop
from kernelwright.dsl.check.context import Context
from kernelwright.dsl.check.loop import (
    certainly_runs,
    check_carried,
    checked_iteration,
    close_tokens,
    enter,
    forget,
    leave,
    loop_names,
)
from kernelwright.dsl.check.operand import checked_expression
from kernelwright.dsl.check.operation import checked_op
from kernelwright.dsl.check.state import LOST, Frame, Point, merged
from kernelwright.dsl.check.transfer import check_slice, checked_load, checked_store
from kernelwright.dsl.diagnostics import Rejected
from kernelwright.dsl.nodes import (
    Assign,
    Block,
    Compare,
    Expr,
    For,
    GlobalSlice,
    If,
    Iteration,
    Literal,
    Load,
    Logic,
    Op,
    ReadScalar,
    RefKind,
    Region,
    Require,
    Statement,
    Store,
    SyncAll,
    Tiles,
)
from kernelwright.dsl.prove.polynomial import Polynomial
from kernelwright.dsl.tree import buffers_written, loop_operands
from kernelwright.dsl.types import DType, Name

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
        close_tokens(context, block, "branch")
        return nodes, context.point, [set(frame.written) for frame in context.frames]

    # --- loops -----------------------------------------------------------------------------------

    def _for(self, item: For) -> For:
        context = self.context
        over = checked_iteration(context, item)
        before = context.point.copy()
        runs = certainly_runs(context, over)
        written = [set(frame.written) for frame in context.frames]
        with context.prover.scope():
            enter(context, over)
            forget(context, item.body)
            frame = Frame(dict(context.point.buffers))
            context.frames.append(frame)
            if isinstance(over, Tiles):
                context.tiles.append(over)
            body = self._in_loop(item, over)
            close_tokens(context, item.body, "loop")
            check_carried(context, item, frame)
            context.frames.pop()
            if isinstance(over, Tiles):
                context.tiles.pop()
        for name in loop_names(over):
            context.point.defined.discard(name)
            context.point.integers.pop(name, None)
        leave(context, item.body, before, runs)
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
