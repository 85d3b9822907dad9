"""Tensors, schedule holes and numbers of host code, from Python's syntax tree to nodes."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kernelwright.dsl.host_nodes import (
    Empty,
    Hole,
    HostValue,
    Reshape,
    Tensor,
    TensorRef,
    Workspace,
)
from kernelwright.dsl.nodes import Literal
from kernelwright.dsl.parse.reporter import tl_name
from kernelwright.dsl.parse.scope import TensorSymbol
from kernelwright.dsl.parse.signature import SignatureParser
from kernelwright.dsl.types import DType, Name

TENSOR_CALLS = ("empty", "view", "workspace")
HOLE_WORDS = {"default", "multiple_of", "choices", "min", "max"}


@dataclass(slots=True)
class HostValueParser(SignatureParser):
    """Parses the values of one host function."""

    def value(self, node: ast.expr) -> HostValue:
        """Parse a tensor, a schedule hole or a scalar.

        Raises:
            Rejected: where it is none of them.
        """
        name = tl_name(node.func) if isinstance(node, ast.Call) else None
        if name == "param":
            assert isinstance(node, ast.Call)
            return self._hole(node)
        is_tensor = isinstance(node, ast.Name) and isinstance(
            self.scope.symbols.get(node.id), TensorSymbol
        )
        return self.tensor(node) if is_tensor or name in TENSOR_CALLS else self.scalar(node)

    def tensor(self, node: ast.expr) -> Tensor:
        """Parse a tensor.

        Raises:
            Rejected: where it is none.
        """
        if isinstance(node, ast.Name):
            symbol = self.scope.symbols.get(node.id)
            if isinstance(symbol, TensorSymbol):
                return TensorRef(Name(node.id), self.at(node))
            raise self.unknown(node, node.id, self.scope.tensor_names(), "tensor")
        name = tl_name(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name not in TENSOR_CALLS:
            raise self.reject(
                "E103",
                node,
                "a tensor is needed here: a name, tl.empty(type), "
                "tl.view(x, type) or tl.workspace(type)",
            )
        words = {word.arg: word.value for word in node.keywords}
        count = 2 if name == "view" else 1
        if len(node.args) != count or not set(words) <= (
            {"zero"} if name == "workspace" else set()
        ):
            raise self.reject("E103", node, f"wrong operands of tl.{name}")
        kind = self.tensor_type(node.args[-1])
        if name == "empty":
            return Empty(kind, self.at(node))
        if name == "workspace":
            zero = words.get("zero")
            is_zero = isinstance(zero, ast.Constant) and zero.value is True
            return Workspace(kind, is_zero, self.at(node))
        source = self.tensor(node.args[0])
        if not isinstance(source, TensorRef):
            raise self.reject("E103", node.args[0], "tl.view takes the name of a tensor")
        symbol = self.scope.symbols[source.name.text]
        if isinstance(symbol, TensorSymbol) and symbol.type.dtype is not kind.dtype:
            raise self.reject(
                "E401",
                node,
                "a view keeps the element type",
                numbers=f"{symbol.type.dtype} and {kind.dtype}",
            )
        return Reshape(source, kind, self.at(node))

    def _hole(self, call: ast.Call) -> Hole:
        words: dict[str, object] = {}
        for word in call.keywords:
            parsed = self._hole_word(word)
            words[str(word.arg)] = parsed
        label = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if len(call.args) != 1 or not isinstance(label, str) or "default" not in words:
            raise self.reject(
                "E103", call, 'tl.param("NAME", default=...) needs a name and a default'
            )
        choices = words.get("choices")
        return Hole(
            label,
            _int(words["default"]),
            _maybe(words.get("multiple_of")),
            choices if isinstance(choices, tuple) else None,
            _maybe(words.get("min")),
            _maybe(words.get("max")),
            self.at(call),
        )

    def _hole_word(self, word: ast.keyword) -> object:
        if word.arg not in HOLE_WORDS:
            raise self.reject(
                "E103",
                word.value,
                f"tl.param has no keyword {word.arg}=",
                numbers="keywords: " + ", ".join(sorted(HOLE_WORDS)),
            )
        is_list = isinstance(word.value, ast.Tuple | ast.List)
        items = word.value.elts if isinstance(word.value, ast.Tuple | ast.List) else [word.value]
        numbers = [self.scalar(item) for item in items]
        if (
            is_list != (word.arg == "choices")
            or not items
            or not all(isinstance(item, Literal) and item.type is DType.I64 for item in numbers)
        ):
            raise self.reject("E103", word.value, f"{word.arg}= of tl.param takes integers")
        values = tuple(int(item.value) for item in numbers if isinstance(item, Literal))
        return values if is_list else values[0]


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


def _maybe(value: object) -> int | None:
    return value if isinstance(value, int) else None
