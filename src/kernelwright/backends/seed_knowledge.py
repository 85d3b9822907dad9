"""Seed knowledge of a backend: the Markdown files of its folder `knowledge/`, as memory items.

A file starts with lines `name: value` between two lines `---` (kind, title, category, schedule)
and goes on with the text that a generator is shown. `schedule` lists `name=value` pairs.
"""

from __future__ import annotations

from pathlib import Path

from kernelwright.core.errors import RecordUnreadable
from kernelwright.core.memory_item import MemoryItem, MemoryKind

VERSION = "1"


def seed_items(backend: str, folder: Path | None = None) -> tuple[MemoryItem, ...]:
    """Return the items of every Markdown file in a folder, in order of file name.

    Args:
        backend: Backend that they are about.
        folder: Where they lie; None is the backend's own folder.

    Raises:
        RecordUnreadable: if a file has no front matter or an unknown kind.
    """
    place = Path(__file__).parent / backend / "knowledge" if folder is None else folder
    return tuple(_item(path, backend) for path in sorted(place.glob("*.md")))


def _item(path: Path, backend: str) -> MemoryItem:
    text = path.read_text(encoding="utf-8")
    pieces = text.split("---\n", 2)
    fields = dict(_pair(line) for line in pieces[1].splitlines()) if len(pieces) == 3 else {}
    kinds = {kind.value for kind in MemoryKind}
    if fields.get("kind") not in kinds or not fields.get("title"):
        raise RecordUnreadable(
            f"{path.name} does not start with kind and title between two lines `---`",
            fix=f"kind is one of {', '.join(sorted(kinds))}; see the other files of the folder",
        )
    choices = fields.get("schedule", "").split()
    return MemoryItem(
        kind=MemoryKind(fields["kind"]),
        title=fields["title"],
        body=pieces[2].strip(),
        backend=backend,
        category=fields.get("category", ""),
        schedule=tuple((name, value) for name, _, value in (c.partition("=") for c in choices)),
        version=VERSION,
    )


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
