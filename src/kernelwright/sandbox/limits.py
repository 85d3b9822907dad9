"""What untrusted code may use, and how it ended: the records of the sandbox."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """What one child and everything it starts may use.

    All of them hold for the child's whole life: a long-lived child needs large times, and gets its
    short ones from the timeout of each call.

    Attributes:
        wall_s: Seconds of wall time until the whole tree is killed.
        cpu_s: Seconds of processor time, summed over the tree.
        memory_bytes: Memory of the tree, and what one process may allocate beyond what a warm child
            starts with. A page that several processes share counts in parts.
        processes: Processes and threads of the tree at any moment.
        file_bytes: Largest file it may write; its work folder may hold four times as much.
        open_files: Open file descriptors of each process.
        virtual_bytes: Address space of each process; None is `memory_bytes`. Programs built with a
            sanitizer reserve terabytes that they never touch: give them `1 << 50`. Their leak check
            traces itself, which is denied, and /proc, through which they read their environment, is
            hidden: turn it off in the program, by `__asan_default_options`.
    """

    wall_s: float = 60.0
    cpu_s: float = 60.0
    memory_bytes: int = 4 << 30
    processes: int = 64
    file_bytes: int = 1 << 30
    open_files: int = 256
    virtual_bytes: int | None = None


class Cause(StrEnum):
    """Why a child did not end by itself, or not with an answer."""

    TIMEOUT = "timeout"
    """The wall-time limit, or the timeout of a call, passed."""
    CPU_TIME = "cpu_time"
    MEMORY = "memory"
    SIGNAL = "signal"
    """A signal that no limit explains, such as a segmentation fault."""
    FILE_SIZE = "file_size"
    PROCESSES = "processes"
    EXIT = "exit"
    """It ended, with whatever status, before it answered. Only in `ChildFailed`."""
    PROTOCOL = "protocol"
    """What it sent is no well-formed answer. Only in `ChildFailed`."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    Attributes:
        returncode: Exit status; None if a signal ended it.
        stdout: The first MiB of what it wrote.
        stderr: The first MiB of what it wrote.
        wall_s: Seconds from its first instruction to its end.
        cpu_s: Seconds of processor time of the tree.
        peak_bytes: Largest resident memory of the tree that was seen.
        cause: Which limit or signal ended it; None if it ended by itself.
        signal: Number of the signal that ended it; None if none did.
    """

    returncode: int | None
    stdout: bytes
    stderr: bytes
    wall_s: float
    cpu_s: float
    peak_bytes: int
    cause: Cause | None
    signal: int | None = None


class ChildFailed(Exception):
    """A child gave no answer; the fault of what ran in it, and a value for its caller.

    Attributes:
        cause: What happened.
        detail: One sentence for a person or a model.
        stderr_tail: The end of what it wrote to stdout and stderr, at most 64 KiB. Untrusted.
    """

    def __init__(self, cause: Cause, detail: str, stderr_tail: str = "") -> None:
        super().__init__(f"{cause.value}: {detail}")
        self.cause = cause
        self.detail = detail
        self.stderr_tail = stderr_tail


@dataclass(frozen=True, slots=True)
class Enforcement:
    """One protection, and whether it held when it was tried on this machine.

    Attributes:
        name: What is protected, such as `network`.
        enforced: Whether the attempt to get past it failed.
        how: The mechanisms in use.
        detail: What was tried and what came of it.
    """

    name: str
    enforced: bool
    how: str
    detail: str


_SIGNS: Mapping[Cause, re.Pattern[str]] = {
    Cause.MEMORY: re.compile(
        r"^(?:[\w.]+\.)?_?(?:Array)?MemoryError\b|^terminate called .*'std::bad_alloc'"
        r"|^\S*: out of memory|can't allocate memory|Errno 12\]|virtual memory exhausted"
        r"|failed to map segment from shared",
        re.MULTILINE,
    ),
    Cause.FILE_SIZE: re.compile(r"Errno 27\]|: File too large|File size limit exceeded"),
    Cause.PROCESSES: re.compile(
        r"fork: (?:retry: )?Resource temporarily|BlockingIOError: \[Errno 11\]"
        r"|Thread creation failed|^RuntimeError: can't start new thread",
        re.MULTILINE,
    ),
}


def cause_in(message: str) -> Cause | None:
    """Return which limit an error message speaks of, None if none.

    A refused allocation, write or fork reaches the program as an ordinary error, so its message is
    the only witness. The message is untrusted: use this to name a failure, never to excuse one.
    """
    for cause, sign in _SIGNS.items():
        if sign.search(message):
            return cause
    return None
