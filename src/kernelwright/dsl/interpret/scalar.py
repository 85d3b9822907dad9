"""Scalar expressions on a core: i64 as Python integers, f32 rounded after every operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from kernelwright.dsl.bind import integer_function
from kernelwright.dsl.nodes import (
    Apply,
    Binary,
    Compare,
    Expr,
    Literal,
    Logic,
    ReadScalar,
    Reduce,
    Ref,
    Unary,
)
from kernelwright.dsl.types import DType, Name

F32 = np.float32
FLOAT_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
}
COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
FLOAT_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.mod,
}


class DivisionByZero(Exception):
    """An integer division by zero; the core reports where."""


def value_of(
    node: Expr,
    names: Mapping[Name, Any],
    cores: tuple[int, int],
    read: Callable[[Reduce | ReadScalar], Any],
) -> Any:
    """Value of `node`: int, bool or np.float32.

    Args:
        names: Values of the scalar names.
        cores: Number of this core, number of cores.
        read: Gives the value of what reads memory.

    Raises:
        DivisionByZero: for `//` or `%` of integers by zero.
    """

    def value(part: Expr) -> Any:
        return value_of(part, names, cores, read)

    match node:
        case Literal(value=number):
            return F32(number) if node.type is DType.F32 else number
        case Ref(name=name):
            return names[name]
        case Unary(op=op, operand=operand):
            return _unary(op, value(operand))
        case Binary(op=op, left=left, right=right, type=kind):
            return _binary(op, value(left), value(right), kind)
        case Compare(op=op, left=left, right=right):
            return _compare(op, value(left), value(right))
        case Logic(op=op, operands=operands):
            return _logic(op, (bool(value(item)) for item in operands))
        case Apply(function=function, operands=operands, type=kind):
            values = [value(item) for item in operands]
            return _apply(function, values, kind) if values else _core(function, cores)
    return read(node)


def _unary(op: str, inner: Any) -> Any:
    return not inner if op == "not" else -inner


def _logic(op: str, results: Iterable[bool]) -> bool:
    return all(results) if op == "and" else any(results)


def _binary(op: str, left: Any, right: Any, kind: DType) -> Any:
    if kind is DType.F32:
        return F32(FLOAT_BINARY[op](F32(left), F32(right)))
    if op in ("//", "%"):
        if right == 0:
            raise DivisionByZero
        return left // right if op == "//" else left % right
    return {"+": left + right, "-": left - right, "*": left * right}[op]


def _compare(op: str, left: Any, right: Any) -> bool:
    if isinstance(left, np.floating) or isinstance(right, np.floating):
        left, right = F32(left), F32(right)
    return bool(COMPARE[op](left, right))


def _core(function: str, cores: tuple[int, int]) -> int:
    return cores[0] if function == "core_id" else cores[1]


def _apply(function: str, values: list[Any], kind: DType) -> Any:
    if kind is DType.F32:
        result = F32(values[0])
        if len(values) == 1:
            return F32(FLOAT_FUNCTIONS[function](result))
        for item in values[1:]:
            result = F32(FLOAT_FUNCTIONS[function](result, F32(item)))
        return result
    whole = integer_function(function, [int(item) for item in values])
    if whole is None:
        raise DivisionByZero
    return whole
