"""Operands: buffers, slices of buffers, slices of tensors, and values read from them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kernelwright.dsl.nodes import (
    Expr,
    GlobalSlice,
    Index,
    Literal,
    ReadScalar,
    Reduce,
    Span,
    View,
)
from kernelwright.dsl.parse.expression import ExpressionParser
from kernelwright.dsl.parse.scope import BufferSymbol, TensorSymbol
from kernelwright.dsl.types import DType, Name


@dataclass(slots=True)
class OperandParser(ExpressionParser):
    """Parses the expressions and operands of a kernel."""

    def memory_value(self, name: str, node: ast.Call) -> Expr:
        """Parse a reduction to a scalar, or one element of global memory."""
        if name == "load_scalar":
            return self._load_scalar(node)
        return self._reduce(name, node)

    def _reduce(self, name: str, node: ast.Call) -> Expr:
        if len(node.args) != 1 or node.keywords:
            raise self.reject(
                "E103",
                node,
                f"tl.{name} as a value takes one buffer",
                why="with a destination and axis= it is a statement",
            )
        source = self.view(node.args[0])
        return Reduce(name, source, DType.F32, self.at(node))

    def _load_scalar(self, node: ast.Call) -> Expr:
        if len(node.args) != 1 or node.keywords:
            raise self.reject("E103", node, "tl.load_scalar takes one tensor element, x[i, j]")
        source = self.global_slice(node.args[0])
        if source.spans:
            raise self.reject(
                "E103",
                node,
                "tl.load_scalar reads one element, not a slice",
                why="a slice is loaded into a buffer by tl.load",
            )
        symbol = self.scope.symbols[source.tensor.text]
        assert isinstance(symbol, TensorSymbol)
        is_float = symbol.type.dtype.is_float
        return ReadScalar(source, DType.F32 if is_float else DType.I64, self.at(node))

    # --- operands --------------------------------------------------------------------------------

    def view(self, node: ast.AST) -> View:
        """Parse a buffer or a slice of one.

        Raises:
            Rejected: where it is neither.
        """
        name_node = node.value if isinstance(node, ast.Subscript) else node
        if not isinstance(name_node, ast.Name):
            raise self.reject(
                "E102", node, f"a buffer is needed here, not {self.source.written(node)}"
            )
        symbol = self.scope.symbols.get(name_node.id)
        if not isinstance(symbol, BufferSymbol):
            if isinstance(symbol, TensorSymbol):
                raise self.reject(
                    "E102",
                    node,
                    f"{name_node.id} is a tensor in global memory; a buffer is needed here",
                    why="memory spaces: load into a buffer first",
                )
            raise self.unknown(name_node, name_node.id, self.scope.buffer_names(), "buffer")
        if not isinstance(node, ast.Subscript):
            return View(Name(name_node.id), (), self.at(node))
        rank = len(symbol.buffer.shape)
        index = self._index(node, rank, is_global=False)
        if not any(isinstance(axis, Span) for axis in index):
            raise self.reject(
                "E103",
                node,
                "one element of a buffer cannot be an operand",
                why="slices: take a span, such as b[0:1]; a reduction gives a scalar",
            )
        spans = [isinstance(axis, Span) for axis in index]
        if spans != sorted(spans):
            raise self.reject(
                "E103",
                node,
                "a column of a buffer is not an operand",
                why="slices: vector operations read rows; one column is b[:, j:j + 1], of rank 2",
            )
        return View(Name(name_node.id), index, self.at(node))

    def global_slice(self, node: ast.AST) -> GlobalSlice:
        """Parse a slice of a tensor in global memory.

        Raises:
            Rejected: where it is not one.
        """
        name_node = node.value if isinstance(node, ast.Subscript) else node
        if not isinstance(name_node, ast.Name):
            raise self.reject(
                "E103", node, "a slice of a tensor is needed here, such as x[r, c:c+n]"
            )
        symbol = self.scope.symbols.get(name_node.id)
        if not isinstance(symbol, TensorSymbol):
            if isinstance(symbol, BufferSymbol):
                raise self.reject(
                    "E103",
                    node,
                    f"{name_node.id} is a buffer; a slice of a tensor "
                    "in global memory is needed here",
                )
            raise self.unknown(name_node, name_node.id, self.scope.tensor_names(), "tensor")
        dims = symbol.type.dims
        if not isinstance(node, ast.Subscript):
            raise self.reject(
                "E103",
                node,
                f"{name_node.id} needs an index: which part of it?",
                why="global memory is moved by slices that fit a buffer",
            )
        index = self._index(node, len(dims), is_global=True)
        filled = tuple(
            Span(axis.start or Literal(0, DType.I64), axis.stop or dim, axis.step, axis.at)
            if isinstance(axis, Span)
            else axis
            for axis, dim in zip(index, dims, strict=True)
        )
        spans = [isinstance(axis, Span) for axis in filled]
        if sum(spans) > 2 or spans != sorted(spans):
            raise self.reject(
                "E103",
                node,
                "only the last one or two indices may be slices",
                why="copies move rows: x[i, r:r+k, c:c+n]; one column is x[r:r+k, c:c+1]",
            )
        return GlobalSlice(Name(name_node.id), filled, self.at(node))

    def _index(self, node: ast.Subscript, rank: int, *, is_global: bool) -> tuple[Index, ...]:
        axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(axes) != rank:
            name = self.source.written(node.value)
            raise self.reject(
                "E103", node, f"{name} has {rank} dimensions", numbers=f"{len(axes)} indices given"
            )
        return tuple(self._axis(axis, is_global=is_global) for axis in axes)

    def _axis(self, node: ast.expr, *, is_global: bool) -> Index:
        if not isinstance(node, ast.Slice):
            return self.integer(node, "an index")
        start = None if node.lower is None else self.integer(node.lower, "a slice start")
        stop = None if node.upper is None else self.integer(node.upper, "a slice end")
        step = 1 if node.step is None else self._step(node.step)
        if step != 1 and not is_global:
            raise self.reject(
                "E103",
                node,
                "a slice of a buffer has no step",
                why="tl.strided(d, a, start, step, n) picks every step-th element",
            )
        return Span(start, stop, step, self.at(node))

    def _step(self, node: ast.expr) -> int:
        value = self.scalar(node)
        if not isinstance(value, Literal) or value.type is not DType.I64 or value.value < 1:
            raise self.reject("E103", node, "the step of a slice is a positive number")
        return int(value.value)
