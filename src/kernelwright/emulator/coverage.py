"""Which calls of the device API are emulated, and how far."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

Status = Literal["full", "partial", "absent"]
_TABLE = Path(__file__).parent / "coverage.toml"


@dataclass(frozen=True, slots=True)
class Coverage:
    """One call: how far it is emulated, the page of the reference it was written from, a note."""

    name: str
    status: Status
    source: str
    note: str = ""


def coverage() -> tuple[Coverage, ...]:
    """All calls of the table, by name.

    Raises:
        ValueError: a status that does not exist.
    """
    rows = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    for name, row in rows.items():
        if row["status"] not in get_args(Status):
            raise ValueError(f"coverage.toml: {name} has status {row['status']!r}")
    return tuple(
        Coverage(name, cast(Status, row["status"]), row["source"], row.get("note", ""))
        for name, row in rows.items()
    )


def coverage_table(rows: Iterable[Coverage]) -> str:
    """A Markdown table of the calls."""
    lines = ["| call | emulated | note |", "|---|---|---|"]
    lines += [f"| `{row.name}` | {row.status} | {row.note} |" for row in rows]
    return "\n".join(lines) + "\n"
