"""Statements of a kernel, from Python's syntax tree to nodes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from kernelwright.dsl.diagnostics import Diagnostic, Edit, Rejected
from kernelwright.dsl.nodes import (
    Assign,
    Binary,
    Block,
    CoreRange,
    Expr,
    For,
    If,
    Iteration,
    Literal,
    Range,
    RefKind,
    Region,
    RegionKind,
    Require,
    Statement,
    StaticRange,
    SyncAll,
    Tiles,
)
from kernelwright.dsl.parse.call import CallParser
from kernelwright.dsl.parse.expression import BINARY_OPS, tl_name
from kernelwright.dsl.parse.inline import InlineFunction, expanded
from kernelwright.dsl.parse.scope import ScalarSymbol
from kernelwright.dsl.types import DType, Name, Space

REGIONS = {kind.value: kind for kind in RegionKind}
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
                return [self._region(node)]
            case ast.Expr(value=ast.Call() as call):
                return self._call(call)
        raise self._not_in_subset(node)

    def _not_in_subset(self, node: ast.stmt) -> Rejected:
        word = self.calls.source.written(node).split(" ", 1)[0].split("(", 1)[0][:20]
        hints = {
            ast.While: "use for k in range(a, b)",
            ast.Break: "shorten the range instead",
            ast.Continue: "put the rest under an if",
            ast.Return: "a kernel gives its results by tl.store",
        }
        return self.calls.reject(
            "E100",
            node,
            f"{word!r} is not in the language",
            why="statements: assignments, for over core_range / core_tiles / tiles / range "
            "/ tl.static_range, if / else, with regions, tl.* calls"
            + (f"; {hints[type(node)]}" if type(node) in hints else ""),
        )

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
                why="memory: every buffer lives for the whole kernel; the compiler overlays them",
            )
        if isinstance(node, ast.AugAssign):
            value = self.calls.scalar(
                ast.copy_location(ast.BinOp(_load(target), node.op, node.value), node)
            )
            if type(node.op) not in BINARY_OPS:
                raise self._not_in_subset(node)
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
                fix=self._as_float(old.first),
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

    def _as_float(self, first: Expr | None) -> tuple[Edit, ...]:
        """The first value of a scalar written as a float, where it is a number."""
        if not isinstance(first, Literal) or first.type is not DType.I64:
            return ()
        return self.calls.source.replace(first.at, repr(float(first.value)))

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
        names = self._targets(node, 2 if name in ("core_tiles", "tiles") else 1, name)
        over = self._iteration(call, name, names)
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

    def _targets(self, node: ast.For, count: int, loop: str) -> list[str]:
        elements = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        names = [item.id for item in elements if isinstance(item, ast.Name)]
        if len(names) != count or len(elements) != count or len(set(names)) != count:
            wants = "two names, offset and length" if count == 2 else "one name"
            raise self.calls.reject(
                "E103",
                node.target,
                f"{loop} gives {wants}",
                why="loops: for i, n in tl.tiles(N, TILE): n is the length of the tile at i",
            )
        for item in names:
            if item in self.calls.scope.symbols:
                raise self.calls.reject(
                    "E104",
                    node.target,
                    f"{item} already names something else",
                    why="names: a loop variable is a new name",
                )
        return names

    def _iteration(self, call: ast.Call, loop: str, names: list[str]) -> Iteration:
        counts = {"range": (1, 2), "core_range": (1, 1), "static_range": (1, 1)}.get(loop, (2, 2))
        keywords = {word.arg: word.value for word in call.keywords}
        allowed = {"reverse"} if loop == "tiles" else set()
        if not counts[0] <= len(call.args) <= counts[1] or not set(keywords) <= allowed:
            raise self.calls.reject(
                "E103",
                call,
                f"{loop} takes {counts[1]} operand{'s' if counts[1] > 1 else ''}",
                numbers=f"{len(call.args)} given, keywords "
                f"{', '.join(str(k) for k in keywords) or 'none'}",
            )
        args = [self.calls.integer(arg, f"an operand of {loop}") for arg in call.args]
        first, *rest = (Name(item) for item in names)
        if loop == "core_range":
            return CoreRange(first, args[0])
        if loop == "static_range":
            return StaticRange(first, args[0])
        if loop == "range":
            start = args[0] if len(args) == 2 else Literal(0, DType.I64)
            return Range(first, start, args[-1])
        flag = keywords.get("reverse")
        if flag is not None and not (
            isinstance(flag, ast.Constant) and isinstance(flag.value, bool)
        ):
            raise self.calls.reject("E103", flag, "reverse= is True or False")
        is_reversed = isinstance(flag, ast.Constant) and flag.value is True
        return Tiles(first, rest[0], args[0], args[1], loop == "core_tiles", is_reversed)

    def _region(self, node: ast.With) -> Region:
        call = node.items[0].context_expr
        name = tl_name(call.func) if isinstance(call, ast.Call) else None
        if len(node.items) != 1 or name not in REGIONS or node.items[0].optional_vars is not None:
            raise self.calls.reject(
                "E100", call, "with opens tl.copyin(), tl.compute() or tl.copyout()"
            )
        assert isinstance(call, ast.Call)
        labels = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
        if (
            call.keywords
            or len(call.args) > 1
            or len(labels) != len(call.args)
            or not all(isinstance(label, str) and label.isidentifier() for label in labels)
        ):
            raise self.calls.reject("E103", call, "a region takes at most one name, a string")
        label = str(labels[0]) if labels else None
        at = self.calls.at(call)
        return Region(REGIONS[name], self.block(node.body), label, at)

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


def _load(target: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _assigned(node: ast.stmt) -> set[str]:
    """Names that a refused statement would have defined."""
    return {
        item.id
        for item in ast.walk(node)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }
