"""Diagnostics: what is wrong, where, with which numbers, by which rule, and what to write instead.

One diagnostic is one root cause. It is a value; `Rejected` carries it out of a nested step to the
nearest place that can go on (a statement, a function), never out of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kernelwright.core.fingerprint import Json
from kernelwright.dsl.types import Position

MOST_SHOWN = 5
"""Diagnostics reported for one program: later ones are usually echoes of the first."""


class Severity(StrEnum):
    """An error refuses the program; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace one line of the source; the replaced line's indentation is kept.

    Attributes:
        line: 1-based line.
        text: New text without indentation; several lines where it holds newlines (deeper
            indentation written out); None deletes the line.
    """

    line: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Attributes:
        code: Stable code, a key of `codes.CODES`.
        at: The part of the source at fault.
        what: What is wrong, in one line, in the program's own names.
        numbers: The quantities or expressions behind it; shown beside the caret. May be empty.
        why: The rule, by its name, and its reason.
        fix: Edits that turn the program into one that passes this check; empty where none is known.
        severity: Whether it refuses the program.
    """

    code: str
    at: Position
    what: str
    numbers: str = ""
    why: str = ""
    fix: tuple[Edit, ...] = ()
    severity: Severity = Severity.ERROR

    @property
    def message(self) -> str:
        """The finding in one line."""
        return f"{self.what}: {self.numbers}" if self.numbers else self.what

    def to_json(self, file: str) -> dict[str, Json]:
        """The finding as a JSON object; `fix` is a list of [line, text or null], or null."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "file": file,
            "line": self.at.line,
            "col": self.at.col,
            "message": self.message,
            "what": self.what,
            "numbers": self.numbers,
            "why": self.why,
            "fix": [[edit.line, edit.text] for edit in self.fix] or None,
        }

    def to_text(self, file: str, lines: Sequence[str]) -> str:
        """The finding as a reader sees it, with the source line and a caret.

        Args:
            file: Name to show.
            lines: The source's lines.
        """
        at = self.at
        shown = [f"{self.code} {file}:{at.line}:{at.col}: {self.what}"]
        if self.severity is Severity.WARNING:
            shown[0] = f"{self.code} {file}:{at.line}:{at.col}: warning: {self.what}"
        numbers = self.numbers
        if 1 <= at.line <= len(lines):
            line = lines[at.line - 1]
            end = at.end_col if at.end_line == at.line else len(line) + 1
            caret = " " * (at.col - 1) + "^" * max(1, end - at.col)
            shown += [f"{at.line:4} | {line}", f"     | {caret} {numbers}".rstrip()]
            numbers = ""
        if numbers:
            shown.append(f"  with: {numbers}")
        if self.why:
            shown.append(f"  why: {self.why}")
        for edit in self.fix:
            text = "(delete this line)" if edit.text is None else edit.text
            label = "  fix: " if edit.line == at.line else f"  fix, line {edit.line}: "
            shown.append(label + text.replace("\n", "\n       "))
        return "\n".join(shown)


class Rejected(Exception):
    """Leaves a nested step of the front end with one diagnostic; caught inside the package."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def apply_fix(source: str, fix: Sequence[Edit]) -> str:
    """Return `source` with the edits made.

    Args:
        source: Text of the program.
        fix: Edits; at most one a line.
    """
    lines: list[str | None] = list(source.split("\n"))
    for edit in fix:
        if not 1 <= edit.line <= len(lines):
            continue
        old = lines[edit.line - 1] or ""
        indent = old[: len(old) - len(old.lstrip())]
        if edit.text is None:
            lines[edit.line - 1] = None
        else:
            lines[edit.line - 1] = "\n".join(indent + part for part in edit.text.split("\n"))
    return "\n".join(line for line in lines if line is not None)
