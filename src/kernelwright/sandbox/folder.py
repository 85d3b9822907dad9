"""Walks a folder that hostile code may have filled: no recursion, no links followed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, folder or link below a folder.

    Attributes:
        path: Where it is.
        is_folder: Whether it is a folder and no link to one.
        links: How many names it has.
        disk_bytes: Disk space that it takes.
    """

    path: str
    is_folder: bool
    links: int
    disk_bytes: int


def entries_below(path: str) -> Iterator[Entry]:
    """Yield everything below `path`; what vanishes meanwhile is passed over.

    Raises:
        OSError: if a folder is nested so deep that it has no usable name.
    """
    waiting = [path]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    status = entry.stat(follow_symlinks=False)
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if is_folder:
                        waiting.append(entry.path)
                    space = status.st_blocks * 512
                    yield Entry(entry.path, is_folder, status.st_nlink, space)
        except (FileNotFoundError, NotADirectoryError):
            continue


def deleted_bytes(pids: tuple[int, ...]) -> int:
    """Return the disk space of files that have no name any more but are held open by `pids`."""
    space: dict[tuple[int, int], int] = {}
    for pid in pids:
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                status = os.stat(f"/proc/{pid}/fd/{name}")
                if status.st_nlink == 0 and status.st_blocks:
                    space[status.st_dev, status.st_ino] = status.st_blocks * 512
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return sum(space.values())
