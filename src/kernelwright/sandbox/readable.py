"""What a child may read: the system's libraries, this Python, this package; never a home."""

from __future__ import annotations

import os
import site
import stat
import sys
from functools import cache
from pathlib import Path

import kernelwright

_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    # torch reads these lazily, after the fork: hidden, it would dispatch to its slowest kernels.
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Device files that a child may read and write."""


def package_folder() -> str:
    """Return the folder of this package, wherever it is used from."""
    return str(Path(kernelwright.__file__).absolute().parent)


def site_folders() -> list[str]:
    """Return the folders of installed packages on our path, the user's own among them."""
    found = [os.path.abspath(p) for p in sys.path if "site-packages" in p and os.path.isdir(p)]
    return list(dict.fromkeys(found))


@cache
def default_readable() -> tuple[str, ...]:
    """Return the absolute paths that exist here and that every child may read and execute."""
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    paths = [*_SYSTEM, *prefixes, *site_folders(), *site.getsitepackages(), package_folder()]
    # A prefix of "/" would allow everything; the system's folders are listed already.
    kept = [path for path in dict.fromkeys(paths) if path != "/" and os.path.exists(path)]
    return tuple(path for path in kept if not _is_inside_another(path, kept))


def _is_inside_another(path: str, paths: list[str]) -> bool:
    return any(path.startswith(other + "/") for other in paths if other != path)


def is_readable_by_all(path: str, *, with_parents: bool) -> bool:
    """Whether every user may read `path`; with its parents, whether they may also get there.

    A path that does not exist counts as readable.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return True
    needed = 0o5 if stat.S_ISDIR(mode) else 0o4
    if mode & needed != needed:
        return False
    parents = Path(path).parents if with_parents else ()
    return all(parent.stat().st_mode & 0o1 for parent in parents)
