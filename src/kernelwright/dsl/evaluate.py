"""Values of scalar expressions that read no memory: host code, dimensions, `tl.require`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kernelwright.core.errors import UsageMistake
from kernelwright.dsl.bind import Number, integer_function
from kernelwright.dsl.nodes import Apply, Binary, Compare, Expr, Literal, Logic, Ref, Unary
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.types import DType


class LaunchRefused(UsageMistake):
    """A call of a host function cannot be launched: E701 (shapes) or E702 (a condition).

    Attributes:
        code: Stable code, as in `codes.CODES`.
    """

    def __init__(self, code: str, what: str, *, fix: str) -> None:
        super().__init__(f"{code} {what}", fix=fix)
        self.code = code


def evaluate(node: Expr, names: Mapping[str, Number]) -> Number:
    """Value of `node`; an operation of type F32 is done in double precision.

    Args:
        names: Values of the names in it, and of `tl.num_cores()` and `tl.ub_bytes()` under
            "tl.num_cores" and "tl.ub_bytes".

    Raises:
        LaunchRefused: on division by zero, or a name without a value.
    """
    match node:
        case Literal(value=value):
            return value
        case Ref(name=name):
            if name.text not in names:
                raise LaunchRefused(
                    "E701", f"{name.text} has no value", fix="give a value for it, or a default"
                )
            return names[name.text]
        case Unary(op="not", operand=operand):
            return not evaluate(operand, names)
        case Unary(operand=operand):
            return -evaluate(operand, names)
        case Binary():
            return _binary(node, names)
        case Compare(op=op, left=left, right=right):
            return _compare(op, evaluate(left, names), evaluate(right, names))
        case Logic(op=op, operands=operands):
            values = (bool(evaluate(item, names)) for item in operands)
            return all(values) if op == "and" else any(values)
        case Apply():
            return _apply(node, names)
    raise LaunchRefused("E701", f"{expression_text(node)} reads memory", fix="compute it on chip")


def _binary(node: Binary, names: Mapping[str, Number]) -> Number:
    left, right = evaluate(node.left, names), evaluate(node.right, names)
    if node.op in ("/", "//", "%") and right == 0:
        raise LaunchRefused(
            "E702",
            f"division by zero in {expression_text(node)}",
            fix="check the operand with tl.check first",
        )
    if node.op == "+":
        return left + right
    if node.op == "-":
        return left - right
    if node.op == "*":
        return left * right
    if node.op == "/":
        return left / right
    return left // right if node.op == "//" else left % right


def _compare(op: str, left: Number, right: Number) -> bool:
    return {
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
        "==": left == right,
        "!=": left != right,
    }[op]


def _apply(node: Apply, names: Mapping[str, Number]) -> Number:
    if not node.operands:
        return names[f"tl.{node.function}"]
    values = [evaluate(item, names) for item in node.operands]
    if node.type is DType.I64:
        result = integer_function(node.function, [int(value) for value in values])
        if result is not None:
            return result
        raise LaunchRefused(
            "E702",
            f"division by zero in {expression_text(node)}",
            fix="check the operand with tl.check first",
        )
    if node.function in ("min", "max"):
        return min(values) if node.function == "min" else max(values)
    if node.function == "abs":
        return abs(values[0])
    value = float(values[0])
    try:
        return {"sqrt": math.sqrt, "exp": math.exp, "log": math.log}[node.function](value)
    except (ValueError, OverflowError):
        raise LaunchRefused(
            "E702",
            f"{expression_text(node)} is not defined",
            fix="check the operand with tl.check first",
        ) from None
