"""Scalar expressions and operands, from Python's syntax tree to nodes."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from kernelwright.dsl.builtins import REDUCTIONS, SCALAR_FUNCTIONS
from kernelwright.dsl.diagnostics import Edit
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
from kernelwright.dsl.parse.reporter import Reporter, tl_name
from kernelwright.dsl.parse.scope import BufferSymbol, ScalarSymbol, TensorSymbol
from kernelwright.dsl.types import DType, Name

BINARY_OPS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
COMPARE_OPS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
MEMORY_VALUES = (*REDUCTIONS, "load_scalar")
"""Calls that are scalar values but read a buffer or a tensor."""
LARGEST_INTEGER = 2**63 - 1


@dataclass(slots=True)
class ExpressionParser(Reporter):
    """Parses the expressions of one function against its scope."""

    def scalar(self, node: ast.AST) -> Expr:
        """Parse a scalar expression of any type.

        Raises:
            Rejected: where it is not one.
        """
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp(op=op, values=values):
                word = "and" if isinstance(op, ast.And) else "or"
                return Logic(word, tuple(self.condition(value) for value in values), self.at(node))
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
        raise self.reject(
            "E100",
            node,
            f"this is not a scalar expression: {self.source.written(node)}",
            why="scalars are built from numbers, names, + - * / // %, comparisons, and or not, "
            "tl.min tl.max tl.abs tl.sqrt tl.exp tl.log and tl.reduce_*",
        )

    def condition(self, node: ast.AST) -> Expr:
        """Parse an expression of type BOOL."""
        value = self.scalar(node)
        if value.type is not DType.BOOL:
            raise self.reject(
                "E401",
                node,
                "a condition must be a comparison",
                numbers=f"{self.source.written(node)} is {value.type}",
                why="scalar types: numbers are not truth values",
                fix=self.source.replace(self.at(node), f"{self.source.written(node)} != 0"),
            )
        return value

    def integer(self, node: ast.AST, use: str) -> Expr:
        """Parse an expression of type I64; `use` names what it is for."""
        value = self.scalar(node)
        if value.type is not DType.I64:
            fix: tuple[Edit, ...] = ()
            if isinstance(value, Binary) and value.op == "/" and isinstance(node, ast.BinOp):
                left, right = self.source.written(node.left), self.source.written(node.right)
                fix = self.source.replace(self.at(node), f"{left} // {right}")
            raise self.reject(
                "E401",
                node,
                f"{use} must be an integer",
                numbers=f"{self.source.written(node)} is {value.type}",
                why="scalar types: `/` always gives f32, `//` divides integers",
                fix=fix,
            )
        return value

    def _constant(self, node: ast.Constant) -> Expr:
        value = node.value
        if isinstance(value, bool):
            return Literal(value, DType.BOOL, self.at(node))
        if isinstance(value, int):
            if value > LARGEST_INTEGER:
                raise self.reject("E401", node, "this integer does not fit 64 bits")
            return Literal(value, DType.I64, self.at(node))
        if isinstance(value, float):
            return Literal(value, DType.F32, self.at(node))
        raise self.reject("E100", node, f"{value!r} is not a number")

    def _name(self, node: ast.Name) -> Expr:
        symbol = self.scope.symbols.get(node.id)
        if isinstance(symbol, ScalarSymbol):
            return Ref(Name(node.id), symbol.kind, symbol.type, self.at(node))
        if isinstance(symbol, Literal):
            return Literal(symbol.value, symbol.type, self.at(node))
        if isinstance(symbol, BufferSymbol):
            raise self.reject(
                "E401",
                node,
                f"{node.id} is a buffer, not a scalar",
                why="buffers have no operators: write one tl.* operation a line, destination first",
            )
        if isinstance(symbol, TensorSymbol):
            raise self.reject(
                "E401",
                node,
                f"{node.id} is a tensor in global memory, not a scalar",
                why="read one element with v = tl.load_scalar(x[i]), a slice with tl.load",
            )
        raise self.unknown(node, node.id, self.scope.scalar_names(), "name")

    def _unary(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.Not):
            return Unary("not", self.condition(node.operand), DType.BOOL, self.at(node))
        operand = self.number(node.operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        if not isinstance(node.op, ast.USub):
            raise self.reject("E100", node, "~ is not a scalar operator")
        if isinstance(operand, Literal) and not isinstance(operand.value, bool):
            return Literal(-operand.value, operand.type, self.at(node))
        return Unary("-", operand, operand.type, self.at(node))

    def number(self, node: ast.AST) -> Expr:
        """Parse an expression of type I64 or F32."""
        value = self.scalar(node)
        if value.type is DType.BOOL:
            raise self.reject(
                "E401",
                node,
                f"{self.source.written(node)} is a truth value, not a number",
                why="scalar types: bool has no arithmetic",
            )
        return value

    def _binary(self, node: ast.BinOp) -> Expr:
        op = BINARY_OPS.get(type(node.op))
        if op is None:
            raise self.reject(
                "E100",
                node,
                "this operator is not in the language",
                why="scalars have + - * / // %; powers are products, shifts are // and *",
            )
        left, right = self.number(node.left), self.number(node.right)
        result = joined(left.type, right.type)
        if op == "/":
            result = DType.F32
        elif op in ("//", "%") and result is not DType.I64:
            raise self.reject(
                "E401", node, f"{op} divides integers only", why="scalar types: // and % are i64"
            )
        return Binary(op, left, right, result, self.at(node))

    def _compare(self, node: ast.Compare) -> Expr:
        terms = [self.number(term) for term in (node.left, *node.comparators)]
        parts: list[Expr] = []
        for op, left, right in zip(node.ops, terms, terms[1:], strict=False):
            word = COMPARE_OPS.get(type(op))
            if word is None:
                raise self.reject("E100", node, "only < <= > >= == != compare scalars")
            parts.append(Compare(word, left, right, self.at(node)))
        return parts[0] if len(parts) == 1 else Logic("and", tuple(parts), self.at(node))

    def _attribute(self, node: ast.Attribute) -> Expr:
        name = tl_name(node)
        if name == "inf":
            return Literal(math.inf, DType.F32, self.at(node))
        what = f"tl.{name} is not a value" if name else "attributes are not in the language"
        raise self.reject("E100", node, what, why="the only constant of tl is tl.inf")

    def _call(self, node: ast.Call) -> Expr:
        name = tl_name(node.func)
        if name in MEMORY_VALUES:
            return self.memory_value(name, node)
        function = SCALAR_FUNCTIONS.get(name or "")
        place = "host" if self.scope.is_host else "kernel"
        if function is None or function.where not in (place, "both"):
            raise self.unknown_call(
                node,
                [
                    *(f for f, row in SCALAR_FUNCTIONS.items() if row.where in (place, "both")),
                    *(() if self.scope.is_host else MEMORY_VALUES),
                ],
            )
        count = len(node.args)
        if node.keywords or count < function.least or (function.most or count) < count:
            wants = (
                function.least if function.least == function.most else f"{function.least} or more"
            )
            raise self.reject(
                "E103",
                node,
                f"tl.{name} takes {wants} operands",
                numbers=f"{count} given, {len(node.keywords)} by keyword",
            )
        operands = tuple(self.number(arg) for arg in node.args)
        if function.gives == "i64" and any(item.type is not DType.I64 for item in operands):
            raise self.reject("E401", node, f"tl.{name} takes integers")
        kind = {"f32": DType.F32, "i64": DType.I64}.get(function.gives)
        return Apply(
            function.name,
            operands,
            kind or joined(*(item.type for item in operands)),
            self.at(node),
        )

    def memory_value(self, name: str, node: ast.Call) -> Expr:
        """Parse a value that is read from memory; only kernels have any."""
        raise self.reject("E100", node, f"tl.{name} reads memory; host code does not")


def joined(*types: DType) -> DType:
    """Type of an operation on numbers: F32 where one of them is."""
    return DType.F32 if DType.F32 in types else DType.I64
