"""Scalar expressions as C++: `int64_t`, `float`, `bool`; on the host `double` for floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kernelwright.dsl.nodes import (
    Apply,
    Binary,
    Compare,
    Expr,
    Literal,
    Logic,
    Ref,
    Unary,
)
from kernelwright.dsl.types import DType, Name

INTEGER: Mapping[str, str] = {
    "cdiv": "ceil_div({0}, {1})",
    "align_up": "ceil_div({0}, {1}) * {1}",
    "align_down": "floor_div({0}, {1}) * {1}",
}
LOGIC = {"and": " && ", "or": " || "}


@dataclass(frozen=True, slots=True)
class Scalars:
    """How scalars are written in one function.

    Attributes:
        real: The C++ type of floats: float in kernels, double in host functions.
        spell: The C++ name of a scalar name.
        cores: What `tl.num_cores()` is.
    """

    real: str = "float"
    spell: Callable[[Name], str] = str
    cores: str = "cores"

    def text(self, node: Expr) -> str:
        """The C++ expression, in parentheses where it is more than one token."""
        match node:
            case Literal():
                return self._literal(node)
            case Ref(name=name):
                return self.spell(name)
            case Unary(op=op, operand=operand):
                return f"({'!' if op == 'not' else '-'}{self.text(operand)})"
            case Binary():
                return self._binary(node)
            case Compare(op=op, left=left, right=right):
                return f"({self.text(left)} {op} {self.text(right)})"
            case Logic(op=op, operands=operands):
                return f"({LOGIC[op].join(self.text(item) for item in operands)})"
            case Apply():
                return self._apply(node)
        raise AssertionError(f"{type(node).__name__} reads memory")

    def _literal(self, node: Literal) -> str:
        if node.type is DType.BOOL:
            return "true" if node.value else "false"
        if node.type is not DType.F32:
            return (
                f"INT64_C({node.value})" if abs(node.value) >= 2**31 else f"(int64_t){node.value}"
            )
        value = float(node.value)
        if math.isinf(value):
            return "INFINITY" if value > 0 else "(-INFINITY)"
        if self.real == "double":
            return f"({value!r})"
        with np.errstate(over="ignore"):
            single = float(np.float32(value))
        if math.isinf(single):
            return "INFINITY" if value > 0 else "(-INFINITY)"
        return f"{single!r}f" if single >= 0 else f"({single!r}f)"

    def _real(self, node: Expr) -> str:
        text = self.text(node)
        return text if node.type is DType.F32 else f"({self.real}){text}"

    def _binary(self, node: Binary) -> str:
        is_real = node.type is DType.F32
        left = self._real(node.left) if is_real else self.text(node.left)
        right = self._real(node.right) if is_real else self.text(node.right)
        if node.op == "//":
            return f"floor_div({left}, {right})"
        if node.op == "%":
            return f"floor_mod({left}, {right})"
        return f"({left} {node.op} {right})"

    def _apply(self, node: Apply) -> str:
        if not node.operands:
            return {"num_cores": self.cores, "core_id": "core"}.get(node.function, "UB_BYTES")
        is_real = node.type is DType.F32
        values = [self._real(item) if is_real else self.text(item) for item in node.operands]
        if node.function in ("min", "max"):
            call = "least" if node.function == "min" else "most"
            result = values[0] if is_real else f"(int64_t){values[0]}"
            for item in values[1:]:
                result = f"{call}({result}, {item})"
            return result
        if node.function in INTEGER:
            return f"({INTEGER[node.function].format(*values)})"
        return f"std::{node.function}({values[0]})"
