"""Legalisation: composed operations become basic ones, with the scratch buffers they need.

Takes:   a checked kernel (every operand carries its extent).
Gives:   a kernel of the same meaning in basic operations, and the list of temporaries.
Leaves:  queues, copies and synchronisation to the lowering of each target.

`invariants.check_legal` states what holds of the result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.cast import cast_chain
from kernelwright.dsl.nodes import (
    Apply,
    Assign,
    Binary,
    Block,
    Buffer,
    Expr,
    For,
    If,
    Kernel,
    Literal,
    Op,
    Operand,
    Reduce,
    Region,
    Statement,
    Unary,
    View,
    statements,
)
from kernelwright.dsl.recipes import KEPT_WHOLE, RECIPES
from kernelwright.dsl.tree import subexpressions, values_of
from kernelwright.dsl.types import DType, Name, Space

Shape = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Temporary:
    """A scratch buffer of the compiler.

    Attributes:
        buffer: The buffer as it stands in the legal kernel.
        users: Operations that need it, as "erf in line 12".
    """

    buffer: Buffer
    users: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Legal:
    """A kernel in basic operations.

    Attributes:
        kernel: The kernel; its buffers include the temporaries.
        temporaries: Those, with the operations that need them.
    """

    kernel: Kernel
    temporaries: tuple[Temporary, ...]


@dataclass(slots=True)
class _Scratch:
    """Hands out temporaries; one statement's are free again for the next."""

    taken: frozenset[str]
    buffers: dict[tuple[Shape, DType, int], Buffer] = field(default_factory=dict)
    users: dict[Name, list[str]] = field(default_factory=dict)

    def get(self, shape: Shape, dtype: DType, number: int, user: str) -> Buffer:
        """The `number`-th scratch buffer of this shape and type."""
        key = (shape, dtype, number)
        if key not in self.buffers:
            text = f"tmp{len(self.buffers)}_{dtype}"
            while text in self.taken:
                text += "_"
            one = Literal(1, DType.I64)
            self.buffers[key] = Buffer(Name(text), Space.UB, shape, dtype, one)
        buffer = self.buffers[key]
        users = self.users.setdefault(buffer.name, [])
        if user not in users:
            users.append(user)
        return buffer


def legalised(kernel: Kernel) -> Legal:
    """Return the kernel in basic operations.

    Args:
        kernel: A kernel as `check` gives it.
    """
    taken = {buffer.name.text for buffer in kernel.buffers}
    taken |= {param.name.text for param in kernel.params} | {dim.text for dim in kernel.dims}
    taken |= {item.name.text for item in statements(kernel.body) if isinstance(item, Assign)}
    scratch = _Scratch(frozenset(taken))
    legaliser = _Legaliser({buffer.name: buffer for buffer in kernel.buffers}, scratch)
    body = legaliser.block(kernel.body)
    temporaries = tuple(
        Temporary(buffer, tuple(scratch.users[buffer.name])) for buffer in scratch.buffers.values()
    )
    buffers = kernel.buffers + tuple(item.buffer for item in temporaries)
    return Legal(replace(kernel, buffers=buffers, body=body), temporaries)


@dataclass(slots=True)
class _Legaliser:
    buffers: Mapping[Name, Buffer]
    scratch: _Scratch

    def block(self, block: Block) -> Block:
        """The legal statements for those of `block`."""
        return tuple(node for item in block for node in self.statement(item))

    def statement(self, item: Statement) -> Iterable[Statement]:
        """The legal statements for one."""
        self._reductions(item)
        match item:
            case For(body=body) | Region(body=body):
                return (replace(item, body=self.block(body)),)
            case If(then=then, orelse=orelse):
                return (replace(item, then=self.block(then), orelse=self.block(orelse)),)
            case Op():
                return self._op(item)
        return (item,)

    def _reductions(self, item: Statement) -> None:
        for value in values_of(item):
            for part in subexpressions(value):
                if isinstance(part, Reduce):
                    buffer = self.buffers[part.source.buffer]
                    self._work(buffer, f"{part.function} in line {part.at.line}")

    def _work(self, buffer: Buffer, user: str) -> None:
        # A reduction leaves one or two numbers for each step of 64 lanes.
        shape = (_work_length(buffer.shape[-1]),)
        self.scratch.get(shape, DType.F32, 90, user)

    def _op(self, node: Op) -> Iterable[Op]:
        user = f"{node.name} in line {node.at.line}"
        row = BUILTINS[node.name]
        if node.name == "cast":
            return self._cast(node, user)
        if node.name in ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"):
            source = node.operands[0]
            assert isinstance(source, View)
            self._work(self.buffers[source.buffer], user)
            return (node,)
        kept = any(
            name in KEPT_WHOLE and value == KEPT_WHOLE[name] for name, value in node.attributes
        )
        if node.name not in RECIPES or kept:
            if not any(name == "fast" for name, value in node.attributes if value is True):
                for number, _ in enumerate(row.temporaries):
                    self._temporary(node, number, user)
            return (node,)
        return [self._step(node, step, user) for step in RECIPES[node.name]]

    def _cast(self, node: Op, user: str) -> Iterable[Op]:
        view = node.operands[0]
        assert isinstance(view, View)
        chain = cast_chain(self.buffers[view.buffer].dtype, self.buffers[node.dest.buffer].dtype)
        if chain is None or len(chain) <= 2:
            return (node,)
        steps: list[Op] = []
        source = view
        for place, dtype in enumerate(chain[1:-1]):
            shape = self._shape(node.dest)
            buffer = self.scratch.get(shape, dtype, place, user)
            middle = View(buffer.name, (), node.at, node.dest.extent)
            # Rounding happens in the last step; the ones before it are exact or f32 to f16.
            steps.append(Op("cast", middle, (source,), (), node.at))
            source = middle
        steps.append(replace(node, operands=(source,)))
        return steps

    def _shape(self, view: View) -> Shape:
        """Capacity of the destination along the axes that the view keeps."""
        shape = self.buffers[view.buffer].shape
        rank = len(view.extent or shape)
        return shape[len(shape) - rank :]

    def _temporary(self, node: Op, number: int, user: str) -> View:
        dtype = self.buffers[node.dest.buffer].dtype
        buffer = self.scratch.get(self._shape(node.dest), dtype, number, user)
        return View(buffer.name, (), node.at, node.dest.extent)

    # --- recipes ---------------------------------------------------------------------------------

    def _step(self, node: Op, step: str, user: str) -> Op:
        call = ast.parse(step, mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        operands = [self._operand(node, arg, user) for arg in call.args]
        dest, *rest = operands
        assert isinstance(dest, View)
        if call.func.id == "fill" and not dest.index:
            rest += list(node.dest.extent or ())
        return Op(call.func.id, dest, tuple(rest), (), node.at)

    def _operand(self, node: Op, arg: ast.expr, user: str) -> Operand:
        is_negative = isinstance(arg, ast.UnaryOp)
        inner = arg.operand if isinstance(arg, ast.UnaryOp) else arg
        if isinstance(inner, ast.Constant):
            value = inner.value
            assert isinstance(value, int | float)
            return self._number(node, -value if is_negative else value)
        assert isinstance(inner, ast.Name)
        if inner.id == "d":
            return node.dest
        if inner.id.startswith("t") and inner.id[1:].isdigit():
            return self._temporary(node, int(inner.id[1:]), user)
        names = [slot.name for slot in BUILTINS[node.name].slots]
        operand = node.operands[names.index(inner.id)]
        return _negated(operand) if is_negative else operand

    def _number(self, node: Op, value: int | float) -> Literal:
        is_float = self.buffers[node.dest.buffer].dtype.is_float
        if is_float:
            return Literal(float(value), DType.F32, node.at)
        return Literal(int(value), DType.I64, node.at)


def _negated(operand: Operand) -> Operand:
    assert not isinstance(operand, View)
    if isinstance(operand, Literal):
        return Literal(-operand.value, operand.type, operand.at)
    return Unary("-", operand, operand.type, operand.at)


def _work_length(cols: Expr) -> Expr:
    """Elements of scratch for a reduction of rows of `cols`: two for each 64, in blocks of 8."""
    steps = Apply("cdiv", (cols, Literal(64, DType.I64)), DType.I64)
    pairs = Binary("*", Literal(2, DType.I64), steps, DType.I64)
    return Apply("align_up", (pairs, Literal(8, DType.I64)), DType.I64)
