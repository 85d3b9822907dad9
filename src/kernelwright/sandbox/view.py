"""A view of the file system that holds only what a child may see; everything in it is read-only.

The places are the real ones, so that no path changes, but every folder on the way to them is an
empty one of our own: a Python below a folder that only root may enter can be read all the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from kernelwright.sandbox.syscalls import (
    CLONE_NEWNS,
    MOUNT_ATTR_NOSUID,
    MOUNT_ATTR_RDONLY,
    MS_BIND,
    MS_NODEV,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    detach,
    mount,
    pivot_root,
    set_mount_attributes,
    unshare,
)

_STAGES = ("/tmp", "/mnt", "/run", "/usr")
_OLD, _NEW = "/old", "/new"
_LINKS = 40


def enter_view(*, readable: Iterable[str], writable: str) -> None:
    """Leave the machine's file system for a private view of it; needs CAP_SYS_ADMIN.

    Args:
        readable: Absolute paths to show read-only; ones that do not exist are passed over.
        writable: Absolute path of the folder to show writable; without symbolic links.

    Raises:
        OSError: if the kernel refuses.
    """
    unshare(CLONE_NEWNS)
    # Nothing that is mounted here may appear outside.
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    stage = next(path for path in _STAGES if os.path.isdir(path))
    mount("tmpfs", stage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k")
    os.mkdir(stage + _OLD)
    os.mkdir(stage + _NEW)
    pivot_root(stage, stage + _OLD)
    os.chdir("/")
    mount("tmpfs", _NEW, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m")
    for path in sorted(readable):
        _show(path)
    target = _make_place(writable)
    set_mount_attributes(_NEW, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID)
    if target is not None:
        mount(_OLD + target, _NEW + target, "", MS_BIND | MS_REC)
        set_mount_attributes(_NEW + target, MOUNT_ATTR_NOSUID)
    os.chdir(_NEW)
    pivot_root(".", ".")
    detach(".")
    os.chdir("/")


def _show(path: str) -> None:
    place = _make_place(path)
    if place is not None:
        mount(_OLD + place, _NEW + place, "", MS_BIND | MS_REC)


def _make_place(path: str) -> str | None:
    """Make a mount point at `path`, and the symbolic links on the way; return where it really is.

    None if there is no such path.
    """
    parts, done, links = _parts(path), "", 0
    while parts:
        here = f"{done}/{parts.pop(0)}"
        try:
            mode = os.lstat(_OLD + here).st_mode
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return None
        if stat.S_ISLNK(mode):
            links += 1
            if links > _LINKS:
                return None
            to = os.readlink(_OLD + here)
            if not os.path.lexists(_NEW + here):
                os.symlink(to, _NEW + here)
            parts, done = _parts(os.path.normpath(os.path.join(done or "/", to))) + parts, ""
            continue
        _make_node(_NEW + here, is_folder=stat.S_ISDIR(mode))
        done = here
    return done or None


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _make_node(path: str, *, is_folder: bool) -> None:
    if os.path.lexists(path):
        return
    if is_folder:
        os.mkdir(path, 0o755)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
