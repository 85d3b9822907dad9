"""The trusted side's hold on one child's supervisor: the child lives as long as the leash does."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kernelwright.core.errors import SandboxUnavailable
from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.frame import FrameEnd, FrameLate, receive_frame
from kernelwright.sandbox.limits import Cause

_KILL_S = 10.0


@dataclass(frozen=True, slots=True)
class Report:
    """A supervisor's last word on its child.

    Attributes:
        returncode: Exit status; None if a signal ended the child.
        signal: The signal that ended it; None if none did.
        cause: The limit or signal that explains the end; None if it ended by itself or was closed.
        detail: The same in words.
        wall_s: Seconds it lived.
        cpu_s: Processor seconds of its tree.
        peak_bytes: Largest resident memory of its tree that was seen.
        stdout: What was kept of its stdout.
        stderr: What was kept of its stderr.
    """

    returncode: int | None
    signal: int | None
    cause: Cause | None
    detail: str
    wall_s: float
    cpu_s: float
    peak_bytes: int
    stdout: bytes
    stderr: bytes


class Leash:
    """One supervisor: letting go of it kills the child and everything that the child started."""

    def __init__(self, sock: socket.socket, pid: int, release: Callable[[], None]) -> None:
        self._sock = sock
        self._pid = pid
        self._release = release
        self._report: Report | None = None
        self._is_closed = False

    def wait(self, timeout_s: float) -> Report | None:
        """Return the report if the child ends within `timeout_s`, else None.

        Raises:
            SandboxUnavailable: if the supervisor itself failed.
        """
        if self._report is not None or self._is_closed:
            return self._report
        try:
            frame = receive_frame(self._sock, deadline=time.monotonic() + timeout_s)
        except FrameLate:
            return None
        except FrameEnd as fault:
            raise SandboxUnavailable(
                "the supervisor of a sandboxed process ended without a report",
                fix="try again; if it persists, see `kernelwright doctor`",
            ) from fault
        if "broken" in frame.header or len(frame.blobs) != 2:
            raise SandboxUnavailable(
                f"the supervisor of a sandboxed process failed: {frame.header.get('broken')}",
                fix="try again; if it persists, see `kernelwright doctor`",
            )
        self._report = _report(frame.header, bytes(frame.blobs[0]), bytes(frame.blobs[1]))
        return self._report

    def kill(self) -> None:
        """Order the tree to be killed, without waiting; may be called from any thread."""
        try:
            # Half-closing is the order; the report still comes back on the other half.
            self._sock.shutdown(socket.SHUT_WR)
        except OSError:
            # The supervisor has gone already: its report, or its absence, is still to be read.
            return

    def end(self) -> Report:
        """Kill the child's whole tree and return the report.

        Raises:
            SandboxUnavailable: if the supervisor does not answer; it is killed then.
        """
        if self._report is None and not self._is_closed:
            self.kill()
            if self.wait(_KILL_S) is None:
                os.kill(self._pid, signal.SIGKILL)
        if self._report is None:
            raise SandboxUnavailable(
                "the supervisor of a sandboxed process hangs and was killed",
                fix="try again; if it persists, see `kernelwright doctor`",
            )
        return self._report

    def close(self) -> None:
        """Kill the tree if it still lives, wait until it is gone, and give everything back."""
        if self._is_closed:
            return
        try:
            self.end()
        finally:
            self._is_closed = True
            self._sock.close()
            self._release()


def _report(header: Mapping[str, Json], stdout: bytes, stderr: bytes) -> Report:
    def number(name: str) -> float:
        value = header.get(name)
        return float(value) if isinstance(value, (int, float)) else 0.0

    code, sign, cause = header.get("returncode"), header.get("signal"), header.get("cause")
    return Report(
        returncode=code if isinstance(code, int) else None,
        signal=sign if isinstance(sign, int) else None,
        cause=Cause(cause) if isinstance(cause, str) else None,
        detail=str(header.get("detail", "")),
        wall_s=number("wall_s"),
        cpu_s=number("cpu_s"),
        peak_bytes=int(number("peak_bytes")),
        stdout=stdout,
        stderr=stderr,
    )
