"""Write an artifact where the user wants it, so that an interrupt never leaves half of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path


def deliver(files: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Write `files` (path to content) under `folder`, each in one step; return their paths.

    A file that is already there with the same content is left alone, so that its time of
    modification tells when it changed.
    """
    written = []
    for name, content in sorted(files.items()):
        path = folder / name
        if not (path.is_file() and path.read_text(encoding="utf-8") == content):
            path.parent.mkdir(parents=True, exist_ok=True)
            half = path.with_name(f".{path.name}.{os.getpid()}")
            half.write_text(content, encoding="utf-8")
            half.replace(path)
        written.append(path)
    return tuple(written)


def withdraw(names: Iterable[str], folder: Path) -> None:
    """Remove files of an earlier delivery; only what lies below `folder`, and what is there."""
    for name in names:
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(folder.resolve()):
            path.unlink()
