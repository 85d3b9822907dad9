"""Expressions, slices and types as the author would write them, with the fewest parentheses."""

from __future__ import annotations

import math

from kernelwright.dsl.nodes import (
    Apply,
    Binary,
    Compare,
    Expr,
    GlobalSlice,
    Index,
    Literal,
    Logic,
    Operand,
    ReadScalar,
    Reduce,
    Ref,
    Span,
    TensorType,
    Unary,
    View,
)

LEVELS = {
    "or": 1,
    "and": 2,
    "not": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "==": 4,
    "!=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "//": 6,
    "%": 6,
}
SIGN_LEVEL = 7
ATOM_LEVEL = 8


def expression_text(node: Expr) -> str:
    """The expression in the language's own syntax."""
    return _leveled(node)[0]


def _leveled(node: Expr) -> tuple[str, int]:
    match node:
        case Literal(value=value):
            text = literal_text(value)
            return text, SIGN_LEVEL if text.startswith("-") else ATOM_LEVEL
        case Ref(name=name):
            return name.text, ATOM_LEVEL
        case Unary(op=op, operand=operand):
            level = LEVELS["not"] if op == "not" else SIGN_LEVEL
            # `-2` would be read as a literal, so a minus before a number keeps its parentheses.
            least = ATOM_LEVEL + 1 if isinstance(operand, Literal) and op == "-" else level
            return ("not " if op == "not" else "-") + _inside(operand, least), level
        case Binary(op=op, left=left, right=right):
            level = LEVELS[op]
            return f"{_inside(left, level)} {op} {_inside(right, level + 1)}", level
        case Compare(op=op, left=left, right=right):
            level = LEVELS[op]
            return f"{_inside(left, level + 1)} {op} {_inside(right, level + 1)}", level
        case Logic(op=op, operands=operands):
            level = LEVELS[op]
            return f" {op} ".join(_inside(item, level + 1) for item in operands), level
        case Apply(function=function, operands=operands):
            inside = ", ".join(expression_text(item) for item in operands)
            return f"tl.{function}({inside})", ATOM_LEVEL
        case Reduce(function=function, source=view):
            return f"tl.{function}({view_text(view)})", ATOM_LEVEL
        case ReadScalar(source=source):
            return f"tl.load_scalar({slice_text(source)})", ATOM_LEVEL


def _inside(node: Expr, least: int) -> str:
    text, level = _leveled(node)
    return text if level >= least else f"({text})"


def literal_text(value: int | float | bool) -> str:
    """A number as a token of the language; infinity is `tl.inf`."""
    if isinstance(value, float) and math.isinf(value):
        return "tl.inf" if value > 0 else "-tl.inf"
    return repr(value)


def view_text(view: View) -> str:
    """A buffer operand."""
    if not view.index:
        return view.buffer.text
    return f"{view.buffer.text}[{', '.join(_index_text(axis) for axis in view.index)}]"


def slice_text(part: GlobalSlice) -> str:
    """A slice of a tensor in global memory."""
    return f"{part.tensor.text}[{', '.join(_index_text(axis) for axis in part.index)}]"


def _index_text(axis: Index) -> str:
    if not isinstance(axis, Span):
        return expression_text(axis)
    start = "" if axis.start is None else expression_text(axis.start)
    stop = "" if axis.stop is None else expression_text(axis.stop)
    step = "" if axis.step == 1 else f":{axis.step}"
    return f"{start}:{stop}{step}"


def operand_text(operand: Operand) -> str:
    """A buffer operand or a scalar."""
    return view_text(operand) if isinstance(operand, View) else expression_text(operand)


def type_text(kind: TensorType) -> str:
    """A tensor type, without quotes."""
    dims = ", ".join(expression_text(dim) for dim in kind.dims)
    return f"{kind.dtype}[{dims}]" + (" inout" if kind.is_inout else "")
