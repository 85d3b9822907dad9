"""The only place that writes: JSON objects on stdout for machines, text for people.

With `--json` a command prints exactly one object on stdout; everything else goes to stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from kernelwright.core.errors import KernelwrightError
from kernelwright.core.fingerprint import Json

EXIT_DONE = 0
EXIT_WRONG = 1
EXIT_MISTAKE = 2
EXIT_LACKING = 3
EXIT_BUG = 70
"""Not one of the documented results: the program itself failed (sysexits.h, EX_SOFTWARE)."""
EXIT_INTERRUPTED = 130


def say(text: str = "") -> None:
    """Write a line for people on stdout."""
    print(text)


def note(text: str) -> None:
    """Write a line for people on stderr."""
    print(text, file=sys.stderr)


def emit(value: Mapping[str, Json]) -> None:
    """Write the one JSON object of a `--json` command on stdout."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def complain(error: KernelwrightError, *, is_json: bool) -> int:
    """Write what is wrong and how to fix it; return the exit status."""
    if is_json:
        emit({"error": error.what, "fix": error.fix, "exit_code": error.exit_code})
    note(f"error: {error.what}")
    note(f"fix: {error.fix}")
    return error.exit_code


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a plain table with aligned columns; long cells are not cut."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, *rows)
    ]
    return "\n".join(lines)
