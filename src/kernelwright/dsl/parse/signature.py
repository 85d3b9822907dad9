"""Parameters, tensor types and allocations: the declarations of a kernel or host function."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from kernelwright.dsl.nodes import (
    Buffer,
    ConstParam,
    Expr,
    Literal,
    Param,
    RefKind,
    ScalarParam,
    TensorParam,
    TensorType,
)
from kernelwright.dsl.parse.expression import ExpressionParser
from kernelwright.dsl.parse.reporter import tl_name
from kernelwright.dsl.parse.scope import ScalarSymbol, Scope
from kernelwright.dsl.types import DType, Name, Space

GLOBAL_DTYPES = tuple(item for item in DType if item is not DType.MASK)
BUFFER_DTYPES = tuple(item for item in DType if item is not DType.I64)
TENSOR_TYPE = re.compile(r"\s*(\w+)\s*\[(.*)\]\s*(inout)?\s*", re.DOTALL)
HIGHEST_RANK = 5


@dataclass(slots=True)
class SignatureParser(ExpressionParser):
    """Parses declarations.

    Attributes:
        is_closed: A new name in a tensor type is an error; otherwise it declares a dimension.
    """

    is_closed: bool = False

    def params(self, arguments: ast.arguments) -> tuple[Param, ...]:
        """Parse a parameter list.

        Raises:
            Rejected: where a parameter has no known annotation.
        """
        others = [*arguments.posonlyargs, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        for item in others:
            if item is not None:
                raise self.reject("E100", item, "parameters are plain: no *, / or **")
        defaults: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
        defaults += arguments.defaults
        pairs = list(zip(arguments.args, defaults, strict=True))
        found: dict[str, Param] = {}
        for item, default in pairs:
            if tl_name(item.annotation or item) is not None:
                found[item.arg] = self._scalar_param(item, default)
                self.scope.declare(found[item.arg])
        for item, default in pairs:
            if item.arg not in found:
                found[item.arg] = self._tensor_param(item, default)
        for item, _ in pairs:
            self.scope.declare(found[item.arg])
        return tuple(found[item.arg] for item, _ in pairs)

    def _scalar_param(self, item: ast.arg, default: ast.expr | None) -> ConstParam | ScalarParam:
        kind = tl_name(item.annotation or item)
        value: int | float | bool | None = None
        if default is not None:
            parsed = self.scalar(default)
            if not isinstance(parsed, Literal):
                raise self.reject("E103", default, "a default is a number")
            value = parsed.value
        if kind == "const":
            return ConstParam(Name(item.arg), value, self.at(item))
        if kind in ("i64", "f32"):
            if isinstance(value, bool) or (kind == "i64" and isinstance(value, float)):
                raise self.reject("E401", item, f"the default of {item.arg} is not {kind}")
            if kind == "f32" and value is not None:
                value = float(value)
            return ScalarParam(Name(item.arg), DType(kind), value, self.at(item))
        raise self.reject(
            "E100",
            item,
            f"unknown parameter type tl.{kind}",
            why='parameters: "f32[N]" (a tensor), tl.const, tl.i64, tl.f32',
        )

    def _tensor_param(self, item: ast.arg, default: ast.expr | None) -> TensorParam:
        note = item.annotation
        if not isinstance(note, ast.Constant) or not isinstance(note.value, str):
            raise self.reject(
                "E100",
                item,
                f"parameter {item.arg} needs a type",
                why='parameters: "f32[N]" (a tensor), tl.const, tl.i64, tl.f32',
            )
        if default is not None:
            raise self.reject("E103", default, "a tensor has no default")
        return TensorParam(Name(item.arg), self.tensor_type(note), self.at(item))

    def tensor_type(self, node: ast.expr) -> TensorType:
        """Parse `"f32[R, C] inout"`.

        Raises:
            Rejected: where it is not a tensor type.
        """
        text = node.value if isinstance(node, ast.Constant) else None
        match = TENSOR_TYPE.fullmatch(text) if isinstance(text, str) else None
        if match is None or match[1] not in GLOBAL_DTYPES:
            raise self.reject(
                "E100",
                node,
                f"not a tensor type: {self.source.written(node)}",
                why='tensor types: "dtype[dims]" with dtype '
                + " ".join(GLOBAL_DTYPES)
                + ', such as "f32[R, C]"',
            )
        dims = self._dims(node, match[2])
        if not 1 <= len(dims) <= HIGHEST_RANK:
            raise self.reject(
                "E100", node, "a tensor has 1 to 5 dimensions", numbers=f"{len(dims)} given"
            )
        return TensorType(DType(match[1]), dims, match[3] is not None)

    def _dims(self, node: ast.expr, text: str) -> tuple[Expr, ...]:
        try:
            parsed = ast.parse(f"({text},)" if text.strip() else "()", mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self.reject("E100", node, f"not a list of dimensions: [{text}]") from None
        assert isinstance(parsed, ast.Tuple)
        for item in ast.walk(parsed):
            ast.copy_location(item, node)
            if isinstance(item, ast.Name):
                self._declare_dim(item)
        return tuple(self.integer(item, "a dimension") for item in parsed.elts)

    def _declare_dim(self, node: ast.Name) -> None:
        # A name in a tensor type is a new dimension, or a constant or integer met before.
        if node.id in self.scope.symbols:
            return
        if self.is_closed:
            raise self.unknown(node, node.id, self.scope.scalar_names(), "dimension")
        self.scope.symbols[node.id] = ScalarSymbol(RefKind.DIM, DType.I64)

    def buffer(self, name: ast.Name, call: ast.Call, space: Space) -> Buffer:
        """Parse `tl.ub(shape, dtype, buf=1)`.

        Raises:
            Rejected: where the shape, type or depth is not one.
        """
        words = {word.arg: word.value for word in call.keywords}
        if len(call.args) != 2 or not set(words) <= {"buf"}:
            raise self.reject(
                "E103",
                call,
                f'tl.{space}(shape, dtype, buf=1), such as tl.{space}(TILE, "f32", buf=2)',
            )
        shape_node, dtype_node = call.args
        axes = shape_node.elts if isinstance(shape_node, ast.Tuple) else [shape_node]
        if not 1 <= len(axes) <= 2:
            raise self.reject("E103", shape_node, "a buffer has one or two dimensions")
        shape = tuple(self.constant(axis, "a buffer's shape") for axis in axes)
        text = dtype_node.value if isinstance(dtype_node, ast.Constant) else None
        if text not in BUFFER_DTYPES:
            raise self.reject(
                "E401",
                dtype_node,
                f"no on-chip buffer of {text!r}",
                why="element types on chip: " + " ".join(BUFFER_DTYPES),
            )
        one: Expr = Literal(1, DType.I64)
        depth = self.constant(words["buf"], "buf=") if "buf" in words else one
        return Buffer(Name(name.id), space, shape, DType(str(text)), depth, self.at(call))

    def constant(self, node: ast.expr, use: str) -> Expr:
        """Parse an integer known at compile time: numbers and tl.const parameters.

        Raises:
            Rejected: where it depends on anything else.
        """
        value = self.integer(node, use)
        for item in ast.walk(node):
            symbol = self.scope.symbols.get(item.id) if isinstance(item, ast.Name) else None
            if isinstance(symbol, ScalarSymbol) and symbol.kind is not RefKind.CONST:
                assert isinstance(item, ast.Name)
                raise self.reject(
                    "E101",
                    node,
                    f"{use} must be known at compile time",
                    numbers=f"{item.id} is known at run time only",
                    why="memory: capacities are constants; make it a tl.const parameter and tile",
                )
        return value


def dims_of(scope: Scope) -> tuple[Name, ...]:
    """The dimension names declared so far, in order."""
    return tuple(
        Name(name)
        for name, symbol in scope.symbols.items()
        if isinstance(symbol, ScalarSymbol) and symbol.kind is RefKind.DIM
    )
