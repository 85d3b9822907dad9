"""Compile-time parameters replaced by their values.

Takes:   a kernel and a value for each `tl.const`.
Gives:   the same kernel without references to them, integer constants folded.
Leaves:  tensors, dims and run-time scalars; `static_range` loops (each user unrolls its own way).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from kernelwright.dsl.nodes import (
    Apply,
    Binary,
    Expr,
    Kernel,
    Literal,
    Ref,
    RefKind,
    Unary,
)
from kernelwright.dsl.types import DType, Name, Position

Number = int | float | bool
LARGEST = 2**63 - 1


def bind(kernel: Kernel, consts: Mapping[str, Number]) -> Kernel:
    """Return `kernel` with its compile-time parameters replaced by literals.

    Args:
        consts: A value a parameter name; one not named here takes its default.

    Raises:
        KeyError: if a parameter has neither a value nor a default.
    """
    values = const_values(kernel, consts)

    def change(node: Expr) -> Expr:
        if isinstance(node, Ref) and node.kind is RefKind.CONST:
            value = values[node.name]
            kind = DType.F32 if isinstance(value, float) else DType.I64
            return Literal(value, DType.BOOL if isinstance(value, bool) else kind, node.at)
        return fold(node)

    bound = rewritten(kernel, change)
    assert isinstance(bound, Kernel)
    return bound


def const_values(kernel: Kernel, consts: Mapping[str, Number]) -> dict[Name, Number]:
    """The value of each compile-time parameter, given or default.

    Raises:
        KeyError: if a parameter has neither.
    """
    values: dict[Name, Number] = {}
    for param in kernel.consts:
        value = consts.get(param.name.text, param.default)
        if value is None:
            raise KeyError(param.name.text)
        values[param.name] = value
    return values


def rewritten(node: object, change: Callable[[Expr], Expr]) -> object:
    """Rebuild any node of the tree with `change` applied to each expression, innermost first."""
    if isinstance(node, tuple):
        return tuple(rewritten(item, change) for item in node)
    if not dataclasses.is_dataclass(node) or isinstance(node, type | Name | Position):
        return node
    parts = {
        item.name: getattr(node, item.name)
        for item in dataclasses.fields(node)
        if item.name not in ("at", "type")
        or not isinstance(getattr(node, item.name), DType | Position)
    }
    changed = {name: rewritten(part, change) for name, part in parts.items()}
    if any(changed[name] is not parts[name] for name in parts):
        node = dataclasses.replace(node, **changed)
    return change(node) if isinstance(node, EXPRESSIONS) else node


EXPRESSIONS = (Literal, Ref, Unary, Binary, Apply)
"""The expressions that a change can touch; the others only hold expressions."""


def fold(node: Expr) -> Expr:
    """Return the literal that an integer operation on literals gives; other nodes as they are."""
    match node:
        case Unary(op="-", operand=Literal(value=value, type=DType.I64)):
            return Literal(-value, DType.I64, node.at)
        case Binary(
            op=op,
            left=Literal(value=left, type=DType.I64),
            right=Literal(value=right, type=DType.I64),
            type=DType.I64,
        ):
            result = _integer(op, int(left), int(right))
            return node if result is None else Literal(result, DType.I64, node.at)
        case Apply(function=function, operands=operands, type=DType.I64) if operands and all(
            isinstance(item, Literal) for item in operands
        ):
            values = [int(item.value) for item in operands if isinstance(item, Literal)]
            result = integer_function(function, values)
            return node if result is None else Literal(result, DType.I64, node.at)
    return node


def _integer(op: str, left: int, right: int) -> int | None:
    if op in ("//", "%"):
        if right == 0:
            return None
        result = left // right if op == "//" else left % right
    elif op in ("+", "-", "*"):
        result = {"+": left + right, "-": left - right, "*": left * right}[op]
    else:
        return None
    return result if abs(result) <= LARGEST else None


def integer_function(function: str, values: list[int]) -> int | None:
    """Value of a scalar function on integers; None where it has none (division by zero)."""
    if function in ("min", "max"):
        return min(values) if function == "min" else max(values)
    if function == "abs":
        return abs(values[0])
    if function in ("cdiv", "align_up", "align_down") and values[1] != 0:
        whole = values[0] // values[1] if function == "align_down" else -(-values[0] // values[1])
        return whole if function == "cdiv" else whole * values[1]
    return None
