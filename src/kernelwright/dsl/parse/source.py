"""The source text, and places in it."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from kernelwright.dsl.diagnostics import Diagnostic, Edit, Rejected
from kernelwright.dsl.types import Position

DEEPEST = 80
"""Levels of syntax tree accepted; deeper programs are refused rather than run out of stack."""


@dataclass(frozen=True, slots=True)
class Source:
    """Text of one program.

    Attributes:
        text: The whole text.
        lines: Its lines, without line ends.
    """

    text: str
    lines: tuple[str, ...]

    def at(self, node: ast.AST) -> Position:
        """The place of a syntax node; columns count characters, where `ast` counts UTF-8 bytes."""
        line = getattr(node, "lineno", 1)
        end_line = getattr(node, "end_lineno", line) or line
        return Position(
            line,
            self._column(line, getattr(node, "col_offset", 0)),
            end_line,
            self._column(end_line, getattr(node, "end_col_offset", 0) or 0),
        )

    def _column(self, line: int, offset: int) -> int:
        if not 1 <= line <= len(self.lines):
            return 1
        text = self.lines[line - 1]
        return (
            offset + 1
            if text.isascii()
            else len(text.encode()[:offset].decode(errors="ignore")) + 1
        )

    def written(self, node: ast.AST) -> str:
        """The text of a syntax node on one line."""
        at = self.at(node)
        return self.cut(at)

    def cut(self, at: Position) -> str:
        """The text at a place, lines joined by one space."""
        if not 1 <= at.line <= len(self.lines):
            return ""
        if at.line == at.end_line:
            return self.lines[at.line - 1][at.col - 1 : at.end_col - 1]
        parts = [self.lines[at.line - 1][at.col - 1 :]]
        parts += self.lines[at.line : at.end_line - 1]
        parts.append(self.lines[at.end_line - 1][: at.end_col - 1])
        return " ".join(part.strip() for part in parts)

    def replace(self, at: Position, text: str) -> tuple[Edit, ...]:
        """Edits that put `text` in the place of what stands at `at`, and join its lines."""
        if not 1 <= at.line <= at.end_line <= len(self.lines):
            return ()
        head = self.lines[at.line - 1][: at.col - 1].lstrip()
        tail = self.lines[at.end_line - 1][at.end_col - 1 :]
        first = Edit(at.line, head + text + tail)
        return (first, *(Edit(line, None) for line in range(at.line + 1, at.end_line + 1)))


def source_of(text: str) -> Source:
    """Split `text` into lines the way `ast` counts them."""
    return Source(text, tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))


def syntax_tree(source: Source) -> ast.Module:
    """Return Python's syntax tree of the source.

    Raises:
        Rejected: with E100 where the text is not Python, or is nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            tree = ast.parse(source.text)
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), len(source.lines))
        col = max(error.offset or 1, 1)
        at = Position(line, col, line, col + 1)
        raise Rejected(Diagnostic("E100", at, f"not Python syntax: {error.msg}")) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        at = Position(1, 1, 1, 2)
        what = f"the text cannot be read as Python: {str(error) or 'nested too deeply'}"
        raise Rejected(Diagnostic("E100", at, what)) from None
    _refuse_deep(source, tree)
    return tree


def _refuse_deep(source: Source, tree: ast.Module) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    node = next((node for node in level if hasattr(node, "lineno")), tree)
    raise Rejected(
        Diagnostic(
            "E100",
            source.at(node),
            "nested too deeply",
            f"more than {DEEPEST} levels",
            "split long expressions into several assignments",
        )
    )


def nearest(name: str, known: Iterable[str]) -> str:
    """The known names closest to `name`, as a phrase to append to a message; may be empty."""
    close = difflib.get_close_matches(name, sorted(set(known)), n=3, cutoff=0.6)
    return f"; nearest: {', '.join(close)}" if close else ""


def nearest_one(name: str, known: Iterable[str]) -> str | None:
    """The one known name that `name` most probably stands for."""
    close = difflib.get_close_matches(name, sorted(set(known)), n=1, cutoff=0.7)
    return close[0] if close else None
