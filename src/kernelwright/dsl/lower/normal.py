"""A kernel as straight blocks: regions dissolved, short loops unrolled, reductions on their own.

Takes:   a checked kernel whose compile-time parameters are replaced (`bind`).
Gives:   a block of the same meaning in which no `Region` and no `StaticRange` is left, and a
         `Reduce` stands only as the whole value of an `Assign` to a name of its own.
Leaves:  which statements share a loop to `fuse`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kernelwright.dsl.bind import fold, rewritten
from kernelwright.dsl.nodes import (
    Apply,
    Assign,
    Binary,
    Block,
    Compare,
    Expr,
    For,
    If,
    Literal,
    Logic,
    Op,
    Operand,
    Range,
    Reduce,
    Ref,
    RefKind,
    Region,
    Require,
    Statement,
    StaticRange,
    Unary,
    statements,
)
from kernelwright.dsl.types import DType, Name

UNROLLED = 16
"""Loops over constants with at most so many steps, and no loop inside, are unrolled."""


@dataclass(slots=True)
class _Normaliser:
    reductions: int = 0

    def block(self, block: Block) -> Block:
        """The statements of a block."""
        return tuple(node for item in block for node in self.statement(item))

    def statement(self, item: Statement) -> Iterator[Statement]:
        """The statements for one."""
        match item:
            case Require():
                return
            case Region(body=body):
                yield from self.block(body)
            case For():
                yield from self._loop(item)
            case If(then=then, orelse=orelse):
                yield replace(item, then=self.block(then), orelse=self.block(orelse))
            case Assign(value=Reduce()):
                yield item
            case Assign(value=value):
                found, clean = self._without_reductions(value)
                yield from found
                yield replace(item, value=clean)
            case Op():
                yield from self._op(item)
            case _:
                yield item

    def _loop(self, item: For) -> Iterator[Statement]:
        steps = _steps(item)
        if steps is None:
            yield replace(item, body=self.block(item.body))
            return
        assert isinstance(item.over, Range | StaticRange)
        for number in steps:
            yield from self.block(substituted(item.body, item.over.var, number))

    def _op(self, item: Op) -> Iterator[Statement]:
        kept = []
        for operand in item.operands:
            found, clean = self._without_reductions(operand)
            yield from found
            kept.append(clean)
        yield replace(item, operands=tuple(kept))

    def _without_reductions(self, value: Operand) -> tuple[list[Statement], Any]:
        found: list[Statement] = []

        def take(node: Reduce) -> Expr:
            # No name of an author starts with a digit.
            name = Name(f"{self.reductions}r")
            self.reductions += 1
            found.append(Assign(name, node, node.at))
            return Ref(name, RefKind.LOCAL, node.type, node.at)

        return found, _mapped(value, take)


def _mapped(value: Operand, take: Callable[[Reduce], Expr]) -> Any:
    """Rebuild an expression with its reductions taken out."""
    match value:
        case Reduce():
            return take(value)
        case Unary(operand=operand):
            return replace(value, operand=_mapped(operand, take))
        case Binary(left=left, right=right) | Compare(left=left, right=right):
            return replace(value, left=_mapped(left, take), right=_mapped(right, take))
        case Logic(operands=operands) | Apply(operands=operands):
            return replace(value, operands=tuple(_mapped(item, take) for item in operands))
    return value


def _steps(node: For) -> range | None:
    """The numbers a loop goes through where it is to be unrolled."""
    match node.over:
        case StaticRange(count=Literal(value=count)):
            return range(int(count))
        case Range(start=Literal(value=start), stop=Literal(value=stop)):
            steps = range(int(start), int(stop))
            is_flat = not any(isinstance(item, For | If) for item in statements(node.body))
            return steps if is_flat and len(steps) <= UNROLLED else None
    return None


def substituted(block: Block, name: Name, number: int) -> Block:
    """A block with a loop variable replaced by a number."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Ref) and node.name == name:
            return Literal(number, DType.I64, node.at)
        return fold(node)

    result = rewritten(block, change)
    assert isinstance(result, tuple)
    return result


def normalised(block: Block) -> Block:
    """The block without regions, unrolled loops and nested reductions."""
    return _Normaliser().block(block)
