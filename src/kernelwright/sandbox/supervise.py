"""The supervisor of one child: a trusted process between the zygote and the untrusted tree.

It isolates and starts the child, drains its output, watches what its tree uses, kills the tree when
a limit is passed or the trusted side lets go of the leash, and reports how it ended.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.folder import deleted_bytes, entries_below
from kernelwright.sandbox.frame import FrameEnd, receive_frame, send_frame
from kernelwright.sandbox.isolate import Ability
from kernelwright.sandbox.launch import Crew, launch
from kernelwright.sandbox.limits import Cause, Limits, cause_in
from kernelwright.sandbox.output import Kept
from kernelwright.sandbox.plan import Plan, plan_from
from kernelwright.sandbox.watch import Tree, Usage, proportional_bytes

_PIPE_CHUNK = 1 << 16
_COMMAND_BYTES = 1 << 20
_CHILD_BYTES = 64 << 10
_BUSY_S = 0.01
_CALM_S = 0.05
_FOLDER_S = 0.5
_FOLDER_FACTOR = 4
_FOLDER_ENTRIES = 100_000


@dataclass(frozen=True, slots=True)
class Kill:
    """Why the tree is killed: the limit it passed, or None when the leash was let go."""

    cause: Cause | None
    detail: str


class Tally:
    """The largest figures seen so far."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self.peak_bytes = 0

    def add(self, usage: Usage) -> None:
        """Take one more sample in."""
        self.cpu_s = max(self.cpu_s, usage.cpu_s)
        self.peak_bytes = max(self.peak_bytes, usage.resident_bytes)


class Supervisor:
    """Watches one running child until it ends, or must."""

    def __init__(self, plan: Plan, leash: socket.socket, crew: Crew, outputs: list[Kept]) -> None:
        self._plan = plan
        self._leash = leash
        self._child = crew.child
        self._outputs = outputs
        self._start = time.monotonic()
        self._tree = Tree(crew.roots, {crew.child})
        self._exact_at = self._start
        self._folder_at = self._start + _FOLDER_S
        self.tally = Tally()

    @property
    def wall_s(self) -> float:
        """Seconds since the child was started."""
        return time.monotonic() - self._start

    def run(self) -> Kill | None:
        """Return why the tree must be killed, None once the child has ended by itself."""
        poll = select.poll()
        poll.register(self._leash, select.POLLIN)
        for output in self._outputs:
            poll.register(output.fd, select.POLLIN)
        child_fd = os.pidfd_open(self._child)
        poll.register(child_fd, select.POLLIN)
        try:
            return self._loop(poll, child_fd)
        finally:
            os.close(child_fd)

    def _loop(self, poll: select.poll, child_fd: int) -> Kill | None:
        pause_s, look_at = _BUSY_S, self._start + _BUSY_S
        while True:
            left_s = min(look_at, self._start + self._plan.limits.wall_s) - time.monotonic()
            events = dict(poll.poll(max(0.0, left_s) * 1000 + 1))
            if child_fd in events:
                return None
            if self._leash.fileno() in events:
                return Kill(None, "it was closed")
            for output in self._outputs:
                if output.fd in events and not output.drain():
                    poll.unregister(output.fd)
            now = time.monotonic()
            if now - self._start >= self._plan.limits.wall_s:
                limit = self._plan.limits.wall_s
                return Kill(Cause.TIMEOUT, f"it ran longer than {limit:g} s")
            if now >= look_at:
                usage = self._tree.sample(now)
                self.tally.add(usage)
                if (kill := self._judge(usage, now)) is not None:
                    return kill
                pause_s = _BUSY_S if self._is_growing(usage) else min(_CALM_S, 1.5 * pause_s)
                look_at = time.monotonic() + pause_s

    def _is_growing(self, usage: Usage) -> bool:
        limits = self._plan.limits
        return (
            usage.resident_bytes > limits.memory_bytes // 4
            or usage.tasks > limits.processes // 2
            or usage.cpu_s > limits.cpu_s - 0.2
        )

    def _judge(self, usage: Usage, now: float) -> Kill | None:
        limits = self._plan.limits
        if usage.tasks > limits.processes:
            return Kill(Cause.PROCESSES, f"it had more than {limits.processes} processes")
        if usage.cpu_s > limits.cpu_s:
            return Kill(Cause.CPU_TIME, f"it used more than {limits.cpu_s:g} s of processor time")
        if usage.resident_bytes > limits.memory_bytes and self._holds_too_much(usage, now):
            return Kill(Cause.MEMORY, f"it held more than {limits.memory_bytes >> 20} MiB")
        if now >= self._folder_at:
            begin = time.monotonic()
            fault = self._folder_fault(usage)
            # A folder with very many files must not take the watch's own time.
            self._folder_at = now + max(_FOLDER_S, 20 * (time.monotonic() - begin))
            return None if fault is None else Kill(Cause.FILE_SIZE, fault)
        return None

    def _folder_fault(self, usage: Usage) -> str | None:
        allowed = self._plan.limits.file_bytes * _FOLDER_FACTOR
        space, count = deleted_bytes(usage.pids), 0
        try:
            for entry in entries_below(self._plan.workdir):
                space, count = space + entry.disk_bytes, count + 1
                if space > allowed:
                    return f"its folder held more than {allowed >> 20} MiB"
                if count > _FOLDER_ENTRIES:
                    return f"its folder held more than {_FOLDER_ENTRIES} files"
        except OSError as fault:
            return f"its folder cannot be read: {os.strerror(fault.errno or 0)}"
        return None if space <= allowed else f"it held more than {allowed >> 20} MiB of files"

    def _holds_too_much(self, usage: Usage, now: float) -> bool:
        # Pages that its processes share, with each other or with the zygote, were counted once for
        # each: count them properly, which takes long enough not to do it all the time.
        if now < self._exact_at:
            return False
        begin = time.monotonic()
        exact = proportional_bytes(usage.pids)
        self._exact_at = now + 4 * (time.monotonic() - begin)
        return exact is None or exact > self._plan.limits.memory_bytes


def supervise(leash_fd: int, channel_fd: int | None, ability: Ability) -> NoReturn:
    """Start and watch the one child that the trusted side asks for on the leash, then exit."""
    leash = socket.socket(fileno=leash_fd)
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        frame = receive_frame(leash)
        _oversee(plan_from(frame.header), bytes(frame.blobs[0]), leash, channel_fd, ability)
    except FrameEnd:
        # The trusted side let go before the child was started, or did not wait for the report.
        os._exit(0)
    except BaseException:  # noqa: BLE001 - reported to the trusted side
        traceback.print_exc()
        sys.stderr.flush()
        _say(leash, {"broken": traceback.format_exc(limit=-2)})
    os._exit(0)


def _say(leash: socket.socket, header: dict[str, Json], blobs: Sequence[bytes] = ()) -> None:
    try:
        send_frame(leash, 0, header, blobs)
    except FrameEnd:
        return


def _oversee(
    plan: Plan, stdin: bytes, leash: socket.socket, channel_fd: int | None, ability: Ability
) -> None:
    crew = launch(plan, stdin, channel_fd, ability)
    if isinstance(crew, str):
        _say(leash, {"broken": crew})
        return
    keep = (_CHILD_BYTES, True) if plan.entry else (_COMMAND_BYTES, False)
    outputs = [Kept(fd, keep[0], is_tail=keep[1]) for fd in crew.outputs]
    supervisor = Supervisor(plan, leash, crew, outputs)
    _say(leash, {"pid": os.getpid()})
    kill = supervisor.run()
    wall_s = supervisor.wall_s
    status, cpu_s, peak_bytes = crew.end()
    for output in outputs:
        output.finish()
    report = _report(plan.limits, kill, status, max(cpu_s, supervisor.tally.cpu_s), outputs)
    report["wall_s"] = wall_s
    report["peak_bytes"] = max(peak_bytes, supervisor.tally.peak_bytes)
    _say(leash, report, [output.data for output in outputs])


def _report(
    limits: Limits, kill: Kill | None, status: int, cpu_s: float, outputs: Sequence[Kept]
) -> dict[str, Json]:
    code = os.waitstatus_to_exitcode(status)
    cause, detail = (None, "") if kill is None else (kill.cause, kill.detail)
    if kill is None and code != 0:
        said = b"\n".join(output.data for output in outputs).decode(errors="replace")
        cause, detail = _explain(limits, code, cpu_s, said)
    return {
        "returncode": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "cause": None if cause is None else cause.value,
        "detail": detail,
        "cpu_s": cpu_s,
    }


def _explain(limits: Limits, code: int, cpu_s: float, said: str) -> tuple[Cause | None, str]:
    if code == -signal.SIGXCPU or (code == -signal.SIGKILL and cpu_s >= limits.cpu_s):
        return Cause.CPU_TIME, f"it used more than {limits.cpu_s:g} s of processor time"
    if code == -signal.SIGXFSZ:
        return Cause.FILE_SIZE, f"it wrote a file of more than {limits.file_bytes >> 20} MiB"
    named = cause_in(said)
    if named is not None:
        return named, f"it says that it met its limit of {named.value}"
    if code < 0:
        return Cause.SIGNAL, f"it was ended by {signal.Signals(-code).name}"
    return None, ""
