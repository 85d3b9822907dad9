"""Tokens: a tile lives from the operation that starts it to its last reader in the same body."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.dsl.check.bodies import inside, same_body
from kernelwright.dsl.diagnostics import Diagnostic, Edit
from kernelwright.dsl.nodes import Block, For, If, Load, Op, Statement, Store
from kernelwright.dsl.parse.source import Source
from kernelwright.dsl.tree import buffers_read
from kernelwright.dsl.types import Name, Position


@dataclass(slots=True)
class TokenCheck:
    """Collects the findings of one kernel.

    Attributes:
        source: The text, for fixes.
        found: Findings so far.
    """

    source: Source
    found: list[Diagnostic] = field(default_factory=list)

    def _add(
        self, code: str, at: Position, what: str, why: str, *, fix: tuple[Edit, ...] = ()
    ) -> None:
        self.found.append(Diagnostic(code, at, what, "", why, fix))

    def check(self, body: Block) -> list[Diagnostic]:
        """Every load has a reader, and every store a writer, in the same body."""
        items = list(same_body(body))
        for place, item in enumerate(items):
            if isinstance(item, Load) and not self._is_read(items[place + 1 :], item.dest.buffer):
                self._add(
                    "E308",
                    item.at,
                    f"{item.dest.buffer.text} is loaded, never used",
                    "tokens: a loaded tile lives until the end of the body that loaded it, or "
                    "until the next load of the same buffer",
                    fix=self._dropped(item),
                )
            if isinstance(item, Store) and not self._is_written(items[:place], item.source.buffer):
                self._add(
                    "E309",
                    item.at,
                    f"{item.source.buffer.text} is stored, but not computed in this body",
                    "tokens: the body that stores a tile also starts it, with an "
                    "operation that writes the buffer before the store",
                )
            if isinstance(item, For):
                self.check(item.body)
            if isinstance(item, If):
                self.check(item.then)
                self.check(item.orelse)
        return self.found

    def _dropped(self, item: Load) -> tuple[Edit, ...]:
        if not 1 <= item.at.line <= len(self.source.lines):
            return ()
        return (
            Edit(item.at.line, "pass"),
            *(Edit(line, None) for line in range(item.at.line + 1, item.at.end_line + 1)),
        )

    def _is_read(self, items: list[Statement], name: Name) -> bool:
        for item in items:
            if isinstance(item, Load) and item.dest.buffer == name:
                return False
            if any(name in buffers_read(one) for one in (item, *inside(item))):
                return True
        return False

    def _is_written(self, items: list[Statement], name: Name) -> bool:
        return any(
            isinstance(one, Op) and one.dest.buffer == name
            for item in items
            for one in (item, *inside(item))
        )
