"""Primitives: one call of the builtins table, from Python's syntax tree to a node."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kernelwright.dsl.builtins import BUILTINS, Builtin, Kind, Slot
from kernelwright.dsl.diagnostics import Edit, Rejected
from kernelwright.dsl.nodes import AttributeValue, Expr, Literal, Load, Op, Operand, Store
from kernelwright.dsl.parse.operand import OperandParser
from kernelwright.dsl.parse.reporter import tl_name
from kernelwright.dsl.parse.scope import BufferSymbol
from kernelwright.dsl.parse.source import nearest, nearest_one
from kernelwright.dsl.types import DType

SCALAR_FORMS = {
    "add": "adds",
    "sub": "subs",
    "mul": "muls",
    "div": "divs",
    "max": "maxs",
    "min": "mins",
}
"""Operations on two buffers, and their forms with a scalar."""
BUFFER_FORMS = {scalar: name for name, scalar in SCALAR_FORMS.items()}
BUFFER_KINDS = (Kind.BUFFER, Kind.MASK, Kind.INDEX, Kind.CARRY)


@dataclass(slots=True)
class CallParser(OperandParser):
    """Parses calls that stand as statements."""

    def primitive(self, call: ast.Call, inlines: list[str]) -> Load | Store | Op:
        """Parse `tl.NAME(...)`.

        Raises:
            Rejected: where it is no primitive, or its operands are not those of the table.
        """
        name = tl_name(call.func)
        row = BUILTINS.get(name or "")
        if row is None:
            raise self._unknown_primitive(call, name, inlines)
        if any(isinstance(arg, ast.Starred) for arg in call.args) or any(
            word.arg is None for word in call.keywords
        ):
            raise self.reject("E100", call, "* and ** are not in the language")
        if row.name == "load":
            return self._load(call)
        if row.name in ("store", "store_add"):
            self._count(call, row, len(call.args))
            self._no_keywords(call, row)
            return Store(
                self.global_slice(call.args[0]),
                self.view(call.args[1]),
                row.name == "store_add",
                self.at(call),
            )
        return self._op(call, row)

    def _unknown_primitive(self, call: ast.Call, name: str | None, inlines: list[str]) -> Rejected:
        written = self.source.written(call.func)
        if name is None:
            near = nearest(written, inlines)
            return self.reject(
                "E100",
                call.func,
                f"{written} is not a function of the language{near}",
                why="a kernel calls tl.* and @tl.inline functions of the same file",
            )
        better = nearest_one(name, BUILTINS)
        fix = self.source.replace(self.at(call.func), f"tl.{better}") if better else ()
        return self.reject(
            "E100",
            call.func,
            f"unknown primitive tl.{name}{nearest(name, BUILTINS)}",
            why="primitives: the language has no other operations on buffers; "
            "`kernelwright dsl explain E100` lists them",
            fix=fix,
        )

    def _load(self, call: ast.Call) -> Load:
        self._count(call, BUILTINS["load"], len(call.args))
        words = {word.arg: word.value for word in call.keywords}
        if not set(words) <= {"fill"}:
            raise self.reject("E103", call, "tl.load knows one keyword, fill=")
        fill: Expr | None = None
        if "fill" in words:
            fill = self.scalar(words["fill"])
            if fill.type is DType.BOOL:
                raise self.reject("E401", words["fill"], "fill= is a number")
        return Load(self.view(call.args[0]), self.global_slice(call.args[1]), fill, self.at(call))

    def _op(self, call: ast.Call, row: Builtin) -> Op:
        args = list(call.args)
        attributes: dict[str, AttributeValue] = {}
        if (
            row.name == "cmp"
            and args
            and isinstance(args[-1], ast.Constant)
            and isinstance(args[-1].value, str)
        ):
            attributes["op"] = self._keyword(row, "op", args.pop())
        self._count(call, row, len(args))
        for word in call.keywords:
            assert word.arg is not None
            if word.arg in attributes:
                raise self.reject("E103", word.value, f"{word.arg} is given twice")
            attributes[word.arg] = self._keyword(row, word.arg, word.value)
        dest = self.view(args[0])
        operands = tuple(
            self._operand(row, slot, arg) for slot, arg in zip(row.slots, args[1:], strict=False)
        )
        return Op(row.name, dest, operands, tuple(sorted(attributes.items())), self.at(call))

    def _operand(self, row: Builtin, slot: Slot, node: ast.expr) -> Operand:
        if slot.kind in BUFFER_KINDS:
            return self._buffer(row, slot, node)
        if slot.kind is Kind.COUNT:
            return self.integer(node, f"{slot.name} of tl.{row.name}")
        if slot.kind is Kind.EITHER and self._is_buffer(node):
            return self.view(node)
        if row.name in BUFFER_FORMS and slot.kind is Kind.SCALAR and self._is_buffer(node):
            form = BUFFER_FORMS[row.name]
            raise self.reject(
                "E401",
                node,
                f"tl.{row.name} takes a scalar; {self.source.written(node)} is a buffer",
                why=f"operand kinds: tl.{form}(d, a, b) takes two buffers",
                fix=self._renamed(node, row.name, form),
            )
        return self.number(node)

    def _is_buffer(self, node: ast.expr) -> bool:
        name = node.value if isinstance(node, ast.Subscript) else node
        return isinstance(name, ast.Name) and isinstance(
            self.scope.symbols.get(name.id), BufferSymbol
        )

    def _buffer(self, row: Builtin, slot: Slot, node: ast.expr) -> Operand:
        scalar_form = SCALAR_FORMS.get(row.name)
        if scalar_form and slot.name == "b" and not self._is_buffer(node):
            value = self.scalar(node)
            if not isinstance(value, Literal) or not isinstance(value.value, bool):
                call = self.source.written(node)
                raise self.reject(
                    "E401",
                    node,
                    f"tl.{row.name} takes two buffers; {call} is a scalar",
                    why=f"operand kinds: tl.{scalar_form}(d, a, s) takes a scalar",
                    fix=self._renamed(node, row.name, scalar_form),
                )
        return self.view(node)

    def _renamed(self, node: ast.expr, old: str, new: str) -> tuple[Edit, ...]:
        line = self.source.lines[node.lineno - 1].strip()
        return (Edit(node.lineno, line.replace(f"tl.{old}(", f"tl.{new}(", 1)),)

    def _keyword(self, row: Builtin, name: str, node: ast.expr) -> AttributeValue:
        word = next((word for word in row.keywords if word.name == name), None)
        if word is None:
            known = ", ".join(word.name for word in row.keywords) or "none"
            raise self.reject(
                "E103", node, f"tl.{row.name} has no keyword {name}=", numbers=f"keywords: {known}"
            )
        value: object = node.value if isinstance(node, ast.Constant) else None
        if value is None:
            parsed = self.scalar(node)
            value = parsed.value if isinstance(parsed, Literal) else None
        if word.choices and value not in word.choices:
            raise self.reject(
                "E103",
                node,
                f"{name}= of tl.{row.name} is one of "
                f"{', '.join(repr(choice) for choice in word.choices)}",
            )
        if not isinstance(value, type(word.default)):
            raise self.reject(
                "E103",
                node,
                f"{name}= of tl.{row.name} is a "
                f"{type(word.default).__name__} known at compile time",
            )
        return value

    def _no_keywords(self, call: ast.Call, row: Builtin) -> None:
        if call.keywords:
            raise self.reject("E103", call, f"tl.{row.name} has no keywords")

    def _count(self, call: ast.Call, row: Builtin, given: int) -> None:
        least, most = row.required + 1, len(row.slots) + 1
        if not least <= given <= most:
            raise self.reject(
                "E103",
                call,
                f"wrong number of operands: {row.signature}",
                numbers=f"{given} given",
                why="operands: the destination first, then the sources",
            )
