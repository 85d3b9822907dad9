"""Start untrusted code (tasks, candidates, compilers) in child processes that cannot do harm.

`Sandbox.run` executes a command, `Sandbox.start` forks a warm process that answers requests; both
under `Limits`, with one writable folder, no network and no view of the rest of the machine.
"""

from __future__ import annotations

from kernelwright.sandbox.channel import Channel
from kernelwright.sandbox.child import Child
from kernelwright.sandbox.limits import (
    Cause,
    ChildFailed,
    Enforcement,
    Finished,
    Limits,
    cause_in,
)
from kernelwright.sandbox.sandbox import Sandbox

__all__ = [
    "Cause",
    "Channel",
    "Child",
    "ChildFailed",
    "Enforcement",
    "Finished",
    "Limits",
    "Sandbox",
    "cause_in",
]
