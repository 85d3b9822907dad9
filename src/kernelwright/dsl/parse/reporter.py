"""Refusals of the parser: diagnostics that leave a nested step."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.diagnostics import Diagnostic, Edit, Rejected
from kernelwright.dsl.parse.scope import Scope
from kernelwright.dsl.parse.source import Source, nearest, nearest_one
from kernelwright.dsl.types import Position


def tl_name(node: ast.AST) -> str | None:
    """NAME where `node` is `tl.NAME`, else None."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "tl" else None
    return None


@dataclass(slots=True)
class Reporter:
    """Makes the refusals of one function.

    Attributes:
        source: The text.
        scope: The function's names.
    """

    source: Source
    scope: Scope

    def at(self, node: ast.AST) -> Position:
        """The place of `node`."""
        return self.source.at(node)

    def reject(
        self,
        code: str,
        node: ast.AST | Position,
        what: str,
        *,
        numbers: str = "",
        why: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> Rejected:
        """The exception that refuses `node`."""
        at = node if isinstance(node, Position) else self.source.at(node)
        return Rejected(Diagnostic(code, at, what, numbers, why, fix))

    def unknown(self, node: ast.AST, name: str, known: list[str], noun: str) -> Rejected:
        """The exception for a name that stands for nothing; silent where its definition failed."""
        code = "" if name in self.scope.lost else "E102"
        better = nearest_one(name, known)
        at = self.at(node)
        fix = self.source.replace(at, better) if better else ()
        return self.reject(
            code,
            at,
            f"unknown {noun} {name!r}{nearest(name, known)}",
            why="names: a name is a parameter, a dimension, a buffer or a scalar assigned earlier",
            fix=fix,
        )

    def unknown_call(self, node: ast.Call, known: list[str]) -> Rejected:
        """The exception for a call that cannot stand where it stands."""
        name = tl_name(node.func)
        written = self.source.written(node.func)
        if name is None:
            return self.reject(
                "E100",
                node.func,
                f"{written} cannot be called here",
                why="a kernel calls tl.* only; functions of one's own need @tl.inline and stand as "
                "statements",
            )
        if name in BUILTINS:
            return self.reject(
                "E100",
                node,
                f"tl.{name} is a statement, not a value",
                why="operations on buffers stand on a line of their own, destination first",
            )
        better = nearest_one(name, known)
        fix = self.source.replace(self.at(node.func), f"tl.{better}") if better else ()
        return self.reject(
            "E100",
            node.func,
            f"unknown primitive tl.{name}{nearest(name, known)}",
            why="primitives: `kernelwright dsl explain E100` lists them",
            fix=fix,
        )
