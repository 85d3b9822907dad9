"""Statements of a kernel, from Python's syntax tree to nodes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from kernelwright.dsl.diagnostics import Diagnostic, Edit, Rejected
from kernelwright.dsl.nodes import (
    Assign,
    Binary,
    Block,
    Expr,
    For,
    If,
    Literal,
    RefKind,
    Require,
    Statement,
    SyncAll,
)
from kernelwright.dsl.parse.call import CallParser
from kernelwright.dsl.parse.expression import BINARY_OPS
from kernelwright.dsl.parse.head import iteration, loop_names, region_head
from kernelwright.dsl.parse.inline import InlineFunction, expanded
from kernelwright.dsl.parse.reporter import tl_name
from kernelwright.dsl.parse.scope import ScalarSymbol
from kernelwright.dsl.types import DType, Name, Space

SPACES = {space.value: space for space in Space}
LOOPS = ("core_range", "core_tiles", "tiles", "static_range")
MOST_INLINED = 8


@dataclass(slots=True)
class StatementParser:
    """Parses the body of one kernel.

    Attributes:
        calls: Parser of primitives and expressions, with the kernel's scope.
        inlines: Inline functions of the file.
        found: Diagnostics so far; a refused statement does not stop the next.
    """

    calls: CallParser
    inlines: dict[str, InlineFunction]
    found: list[Diagnostic]
    expansions: list[int] = field(default_factory=lambda: [0])
    depth: int = 0

    def block(self, body: list[ast.stmt]) -> Block:
        """Parse the statements of one block; refused ones are reported and left out."""
        nodes: list[Statement] = []
        for item in body:
            try:
                nodes += self.statement(item)
            except Rejected as error:
                if error.diagnostic.code:
                    self.found.append(error.diagnostic)
                self.calls.scope.lost |= _assigned(item)
        return tuple(nodes)

    def statement(self, node: ast.stmt) -> list[Statement]:
        """Parse one statement; an expanded call may give several, `pass` gives none."""
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                return [self._assign(node)]
            case ast.For():
                return [self._for(node)]
            case ast.If():
                condition = self.calls.condition(node.test)
                return [
                    If(
                        condition,
                        self.block(node.body),
                        self.block(node.orelse),
                        self.calls.at(node.test),
                    )
                ]
            case ast.With():
                head = region_head(self.calls, node)
                return [replace(head, body=self.block(node.body))]
            case ast.Expr(value=ast.Call() as call):
                return self._call(call)
        raise _not_in_subset(self.calls, node)

    # --- assignments -----------------------------------------------------------------------------

    def _assign(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Assign:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if (
            isinstance(node, ast.AnnAssign)
            or not isinstance(target, ast.Name)
            or (isinstance(node, ast.Assign) and len(node.targets) != 1)
        ):
            raise self.calls.reject(
                "E100",
                node,
                "only one name can be assigned",
                why="buffers are written by tl.* operations with the destination first",
            )
        if isinstance(node.value, ast.Call) and tl_name(node.value.func) in SPACES:
            raise self.calls.reject(
                "E105",
                node,
                "buffers are allocated at the top level of the kernel",
                why="memory: buffers live for the whole kernel; their sizes are known at the start",
            )
        if isinstance(node, ast.AugAssign):
            value = self.calls.scalar(
                ast.copy_location(ast.BinOp(_load(target), node.op, node.value), node)
            )
            if type(node.op) not in BINARY_OPS:
                raise _not_in_subset(self.calls, node)
        else:
            assert node.value is not None
            value = self.calls.scalar(node.value)
        return self._bind(target, value.type, Assign(Name(target.id), value, self.calls.at(node)))

    def _bind(self, target: ast.Name, kind: DType, assign: Assign) -> Assign:
        symbols = self.calls.scope.symbols
        old = symbols.get(target.id)
        if old is None or target.id in self.calls.scope.lost:
            symbols[target.id] = ScalarSymbol(RefKind.LOCAL, kind, assign.value)
            self.calls.scope.lost.discard(target.id)
            return assign
        if not isinstance(old, ScalarSymbol) or old.kind is not RefKind.LOCAL:
            raise self.calls.reject(
                "E104",
                target,
                f"{target.id} already names something else",
                why="names: buffers, tensors, dimensions, parameters and loop variables are never "
                "assigned",
            )
        if old.type is not kind and not (old.type is DType.F32 and kind is DType.I64):
            raise self.calls.reject(
                "E405",
                assign.at,
                f"{target.id} changes type",
                numbers=f"{old.type} before, {kind} here",
                why="a scalar keeps one type throughout the kernel; start it as 0.0 for a float",
                fix=_as_float(self.calls, old.first),
            )
        if old.type is not kind:
            value = assign.value
            wide = (
                Literal(float(value.value), DType.F32, value.at)
                if isinstance(value, Literal)
                else Binary("*", Literal(1.0, DType.F32), value, DType.F32, value.at)
            )
            return Assign(assign.name, wide, assign.at)
        return assign

    # --- control flow ----------------------------------------------------------------------------

    def _for(self, node: ast.For) -> For:
        if node.orelse:
            raise self.calls.reject("E100", node.orelse[0], "a loop has no else")
        call = node.iter
        name = (
            (
                "range"
                if isinstance(call.func, ast.Name) and call.func.id == "range"
                else tl_name(call.func)
            )
            if isinstance(call, ast.Call)
            else None
        )
        if not isinstance(call, ast.Call) or name not in ("range", *LOOPS):
            raise self.calls.reject(
                "E100",
                node.iter,
                f"cannot loop over {self.calls.source.written(node.iter)}",
                why="loops: tl.core_range(n), tl.core_tiles(N, TILE), tl.tiles(N, TILE), "
                "range(a, b), tl.static_range(K)",
            )
        names = loop_names(self.calls, node, 2 if name in ("core_tiles", "tiles") else 1, name)
        over = iteration(self.calls, call, name, names)
        symbols = self.calls.scope.symbols
        for item in names:
            symbols[item] = ScalarSymbol(RefKind.LOOP, DType.I64)
        body = self.block(node.body)
        for item in names:
            del symbols[item]
        at = self.calls.at(node.target)
        head = self.calls.at(node.iter)
        return For(
            over, body, type(at)(node.lineno, self.calls.at(node).col, head.end_line, head.end_col)
        )

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, call: ast.Call) -> list[Statement]:
        if isinstance(call.func, ast.Name) and call.func.id in self.inlines:
            return self._expand(call, self.inlines[call.func.id])
        name = tl_name(call.func)
        if name == "require":
            if len(call.args) != 1 or call.keywords:
                raise self.calls.reject("E103", call, "tl.require takes one condition")
            return [Require(self.calls.condition(call.args[0]), self.calls.at(call))]
        if name == "sync_all":
            if call.args or call.keywords:
                raise self.calls.reject("E103", call, "tl.sync_all takes nothing")
            return [SyncAll(self.calls.at(call))]
        return [self.calls.primitive(call, list(self.inlines))]

    def _expand(self, call: ast.Call, function: InlineFunction) -> list[Statement]:
        if self.depth >= MOST_INLINED or self.expansions[0] >= 1000:
            raise self.calls.reject(
                "E100",
                call,
                f"{function.name} calls itself, or too many inline functions are nested",
                why="inline functions are expanded, so they cannot recurse",
            )
        self.expansions[0] += 1
        body = expanded(function, call, self.expansions[0], self.calls)
        inner = StatementParser(
            self.calls, self.inlines, self.found, self.expansions, self.depth + 1
        )
        return list(inner.block(body))


def _not_in_subset(calls: CallParser, node: ast.stmt) -> Rejected:
    word = calls.source.written(node).split(" ", 1)[0].split("(", 1)[0][:20]
    hints = {
        ast.While: "use for k in range(a, b)",
        ast.Break: "shorten the range instead",
        ast.Continue: "put the rest under an if",
        ast.Return: "a kernel gives its results by tl.store",
    }
    return calls.reject(
        "E100",
        node,
        f"{word!r} is not in the language",
        why="statements: assignments, for over core_range / core_tiles / tiles / range "
        "/ tl.static_range, if / else, with regions, tl.* calls"
        + (f"; {hints[type(node)]}" if type(node) in hints else ""),
    )


def _as_float(calls: CallParser, first: Expr | None) -> tuple[Edit, ...]:
    """The first value of a scalar written as a float, where it is a number."""
    if not isinstance(first, Literal) or first.type is not DType.I64:
        return ()
    return calls.source.replace(first.at, repr(float(first.value)))


def _load(target: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _assigned(node: ast.stmt) -> set[str]:
    """Names that a refused statement would have defined."""
    return {
        item.id
        for item in ast.walk(node)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }
