"""File-system, network and signal walls that a process puts around itself, through Landlock."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

from kernelwright.sandbox.syscalls import call

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_SOCK, _MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST_VERSION = (1 << 13) - 1
_FILE_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_NET = 0b11
_SCOPES = 0b11
GUARDED_LENGTHS = 3
"""First version that keeps files outside from being cut."""
SCOPED_SIGNALS = 6
"""First version that keeps signals and abstract sockets inside."""


def landlock_version() -> int:
    """Return the version of Landlock that this kernel offers, 0 for none."""
    try:
        return call("landlock_create_ruleset", None, 0, 1)
    except (OSError, KeyError):
        return 0


def restrict(
    version: int, *, readable: Iterable[str], devices: Iterable[str], writable: str
) -> None:
    """Allow this process nothing in the file system but what is listed; needs no_new_privs.

    Args:
        version: What `landlock_version` returned, at least 1.
        readable: Files and folders to read and execute; ones that do not exist are passed over.
        devices: Device files to read and write.
        writable: The one folder in which everything but sockets and devices may be made.
    """
    known = _FIRST_VERSION
    for first, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        if version >= first:
            known |= right
    words = [known, _NET if version >= 4 else 0, _SCOPES if version >= SCOPED_SIGNALS else 0]
    size = 24 if version >= SCOPED_SIGNALS else 16 if version >= 4 else 8
    raw = ctypes.create_string_buffer(bytes((ctypes.c_uint64 * 3)(*words)), 24)
    ruleset = call("landlock_create_ruleset", raw, size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in devices:
            _allow(ruleset, path, _READ_FILE | _WRITE_FILE)
        _allow(ruleset, writable, known & ~(_MAKE_CHAR | _MAKE_SOCK | _MAKE_BLOCK | _IOCTL_DEV))
        call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        # What this process cannot even name needs no permission.
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILE_ONLY
        rule = rights.to_bytes(8, "little") + fd.to_bytes(4, "little")
        call("landlock_add_rule", ruleset, 1, ctypes.create_string_buffer(rule, 12), 0)
    finally:
        os.close(fd)
