"""Starts one child inside its walls; runs in the supervisor."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal
import time
import traceback
from dataclasses import dataclass
from typing import NoReturn

from kernelwright.sandbox.channel import CHANNEL_FD
from kernelwright.sandbox.entry import execute, serve
from kernelwright.sandbox.isolate import Ability, confine, give_folder, separate
from kernelwright.sandbox.plan import Plan
from kernelwright.sandbox.syscalls import set_parent_death_signal, set_subreaper
from kernelwright.sandbox.watch import Tree

_SETUP_FD = 4
_KILL_S = 5.0


@dataclass(frozen=True, slots=True)
class Crew:
    """The processes behind one child.

    Attributes:
        child: Id of the untrusted process.
        init: Id of the first process of its PID namespace; None where there is none.
        outputs: Read ends of its stdout and stderr.
    """

    child: int
    init: int | None
    outputs: tuple[int, int]

    @property
    def roots(self) -> set[int]:
        """Trusted processes whose other descendants are all untrusted."""
        return {os.getpid()} if self.init is None else {os.getpid(), self.init}

    def end(self) -> tuple[int, float, int]:
        """Kill everything untrusted; return the child's wait status, CPU seconds and peak bytes."""
        # The kernel kills every process of a PID namespace together with its first one.
        os.kill(self.child if self.init is None else self.init, signal.SIGKILL)
        _, status, used = os.wait4(self.child, 0)
        if self.init is None:
            _kill_descendants()
        else:
            os.waitpid(self.init, 0)
        total = resource.getrusage(resource.RUSAGE_CHILDREN)
        return status, total.ru_utime + total.ru_stime, used.ru_maxrss << 10


def launch(plan: Plan, stdin: bytes, channel_fd: int | None, ability: Ability) -> Crew | str:
    """Start the child of `plan`; return the processes, or why it could not be isolated."""
    give_folder(plan, ability)
    set_subreaper()
    separate(ability)
    init = _fork_init() if ability.namespaces != "none" else None
    stdin_fd = _stdin(stdin)
    out, err, setup = os.pipe(), os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        fds = [stdin_fd, out[1], err[1], channel_fd, setup[1]]
        _become(plan, ability, fds)
    for fd in (stdin_fd, out[1], err[1], setup[1], channel_fd):
        if fd is not None:
            os.close(fd)
    with os.fdopen(setup[0], "rb") as pipe:
        fault = pipe.read()
    crew = Crew(child, init, (out[0], err[0]))
    if fault:
        crew.end()
        return fault.decode()
    return crew


def _stdin(content: bytes) -> int:
    if not content:
        return os.open("/dev/null", os.O_RDONLY)
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    # The child holds this file: it must not become a place to hide memory in.
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _fork_init() -> int:
    pid = os.fork()
    if pid == 0:
        # Holds the PID namespace open and takes orphans in; ignoring SIGCHLD reaps them.
        set_parent_death_signal(signal.SIGKILL)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.closerange(0, _highest_fd() + 1)
        while True:
            signal.pause()
    return pid


def _become(plan: Plan, ability: Ability, fds: list[int | None]) -> NoReturn:
    try:
        _arrange(fds)
        os.setsid()
        confine(plan, ability)
        if plan.entry:
            os.close(_SETUP_FD)
            serve(plan)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        execute(plan)
    except BaseException:  # noqa: BLE001 - reported to the supervisor
        os.write(_SETUP_FD, traceback.format_exc(limit=-3).encode()[-4000:])
    finally:
        os._exit(127)


def _arrange(fds: list[int | None]) -> None:
    """Make `fds` the descriptors 0, 1, 2, ... and close every other one."""
    above = [None if fd is None else fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in fds]
    for number, fd in enumerate(above):
        if fd is not None:
            os.dup2(fd, number, inheritable=number < CHANNEL_FD)
    os.closerange(len(fds), _highest_fd() + 1)
    if fds[CHANNEL_FD] is None:
        os.close(CHANNEL_FD)


def _highest_fd() -> int:
    return max(int(name) for name in os.listdir("/proc/self/fd"))


def _kill_descendants() -> None:
    """Without a PID namespace: kill what is left, which as orphans became our children."""
    tree = Tree({os.getpid()}, set())
    give_up_at = time.monotonic() + _KILL_S
    while time.monotonic() < give_up_at:
        for pid in tree.sample(time.monotonic()).pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
