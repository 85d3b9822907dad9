"""Questions about statements and expressions that several steps ask."""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.nodes import (
    Apply,
    Assign,
    Binary,
    Block,
    Compare,
    CoreRange,
    Expr,
    For,
    GlobalSlice,
    If,
    Index,
    Iteration,
    Load,
    Logic,
    Op,
    Range,
    ReadScalar,
    Reduce,
    Ref,
    Require,
    Span,
    Statement,
    StaticRange,
    Store,
    Tiles,
    Unary,
    View,
    statements,
)
from kernelwright.dsl.primitive import Kind
from kernelwright.dsl.types import Name


def subexpressions(node: Expr) -> Iterator[Expr]:
    """Yield `node` and every expression inside it, slices included."""
    yield node
    match node:
        case Unary(operand=operand):
            yield from subexpressions(operand)
        case Binary(left=left, right=right) | Compare(left=left, right=right):
            yield from subexpressions(left)
            yield from subexpressions(right)
        case Logic(operands=operands) | Apply(operands=operands):
            for item in operands:
                yield from subexpressions(item)
        case Reduce(source=source) | ReadScalar(source=source):
            for item in indices_of(source):
                yield from subexpressions(item)


def indices_of(part: View | GlobalSlice) -> Iterator[Expr]:
    """Yield the expressions in the index of a slice."""
    for axis in part.index:
        yield from _index_parts(axis)


def _index_parts(axis: Index) -> Iterator[Expr]:
    if not isinstance(axis, Span):
        yield axis
        return
    if axis.start is not None:
        yield axis.start
    if axis.stop is not None:
        yield axis.stop


def values_of(item: Statement) -> Iterator[Expr]:
    """Yield the scalar expressions that a statement evaluates itself, outermost only."""
    match item:
        case Assign(value=value):
            yield value
        case Require(condition=condition) | If(condition=condition):
            yield condition
        case For(over=over):
            yield from loop_operands(over)
        case Load(dest=dest, source=source, fill=fill):
            yield from (*indices_of(dest), *indices_of(source))
            if fill is not None:
                yield fill
        case Store(target=target, source=view):
            yield from (*indices_of(target), *indices_of(view))
        case Op(dest=dest, operands=operands):
            yield from indices_of(dest)
            for operand in operands:
                yield from indices_of(operand) if isinstance(operand, View) else (operand,)


def loop_operands(over: Iteration) -> tuple[Expr, ...]:
    """The scalar expressions in a loop's head."""
    match over:
        case CoreRange(count=count) | StaticRange(count=count):
            return (count,)
        case Range(start=start, stop=stop):
            return (start, stop)
        case Tiles(total=total, tile=tile):
            return (total, tile)


def buffers_read(item: Statement) -> frozenset[Name]:
    """Names of the buffers whose content a statement itself reads."""
    names: set[Name] = set()
    match item:
        case Store(source=view):
            names.add(view.buffer)
        case Op(operands=operands, dest=dest):
            names |= {operand.buffer for operand in operands if isinstance(operand, View)}
            if BUILTINS[item.name].reads_dest:
                names.add(dest.buffer)
    for value in values_of(item):
        names |= {part.source.buffer for part in subexpressions(value) if isinstance(part, Reduce)}
    return frozenset(names)


def buffers_written(item: Statement) -> frozenset[Name]:
    """Names of the buffers whose content a statement itself changes."""
    match item:
        case Load(dest=dest):
            return frozenset({dest.buffer})
        case Op(dest=dest, operands=operands):
            slots = BUILTINS[item.name].slots
            carries = {
                operand.buffer
                for slot, operand in zip(slots, operands, strict=False)
                if slot.kind is Kind.CARRY and isinstance(operand, View)
            }
            return frozenset({dest.buffer, *carries})
    return frozenset()


def assigned_names(block: Block) -> frozenset[Name]:
    """Names of the scalars that a block may assign."""
    return frozenset(item.name for item in statements(block) if isinstance(item, Assign))


def written_buffers(block: Block) -> frozenset[Name]:
    """Names of the buffers that a block may write."""
    return frozenset(name for item in statements(block) for name in buffers_written(item))


def names_in(node: Expr) -> frozenset[Name]:
    """Names of the scalars in an expression."""
    return frozenset(part.name for part in subexpressions(node) if isinstance(part, Ref))
