"""What can go wrong outside a candidate: each error says what happened and how to fix it.

A bad candidate is a value (`core.verdict.Infeasible`), never an exception. An exception here means
that the user, or the machine, has to change something; the command line prints `str(error)` (two
lines: what, fix) without a traceback and exits with `exit_code`.
"""

from __future__ import annotations


class KernelwrightError(Exception):
    """Something outside the candidate is wrong; `fix` says what to do about it.

    Attributes:
        what: One sentence on what happened.
        fix: One sentence on what the user can do.
        exit_code: Exit status of the command that ends with this error.
    """

    exit_code = 2

    def __init__(self, what: str, *, fix: str) -> None:
        super().__init__(what, fix)
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.what}\nfix: {self.fix}"


class UsageMistake(KernelwrightError):
    """The command or an option does not make sense: a missing file, a bad value."""


class UnknownName(UsageMistake):
    """A name is in no registry; the message lists the known ones."""


class TaskInvalid(KernelwrightError):
    """A task file is not in KernelBench's format, or cannot run on this machine.

    Attributes:
        path: The task file.
        line: 1-based line of the fault, or None when no line is at fault.
    """

    def __init__(self, what: str, *, path: str, line: int | None = None, fix: str) -> None:
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {what}", fix=fix)
        self.path = path
        self.line = line


class StoreTooNew(KernelwrightError):
    """The database was written by a newer version than this one."""


class StoreUnusable(KernelwrightError):
    """The store cannot be opened, read or written: missing, damaged, locked, no space."""


class StoreConflict(KernelwrightError):
    """Two writers disagreed about one record; nothing was overwritten."""


class RecordUnreadable(KernelwrightError):
    """A stored record has an unknown version or a broken shape."""


class MachineLacks(KernelwrightError):
    """This machine lacks something that the command needs."""

    exit_code = 3


class ToolchainMissing(MachineLacks):
    """A compiler or packager is not installed."""


class SandboxUnavailable(MachineLacks):
    """Untrusted code cannot be confined on this machine as asked."""


class ModelUnavailable(MachineLacks):
    """No language model can be reached as configured."""


class NotCovered(KernelwrightError):
    """A generator cannot write a kernel for a task; the message names the node that stops it."""

    exit_code = 1
