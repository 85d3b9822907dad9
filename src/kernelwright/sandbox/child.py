"""The trusted side of one warm child: asks, waits for a limited time, and believes nothing."""

from __future__ import annotations

import secrets
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NoReturn, Self

from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer
from kernelwright.sandbox.frame import (
    FrameEnd,
    FrameError,
    FrameLate,
    receive_frame,
    send_frame,
)
from kernelwright.sandbox.leash import Leash, Report
from kernelwright.sandbox.limits import Cause, ChildFailed

_TAIL_BYTES = 64 << 10
_LINGER_S = 2.0


class Child:
    """One child that answers requests, one at a time; leaving its `with` block kills its tree."""

    def __init__(self, channel: socket.socket, leash: Leash) -> None:
        self._channel = channel
        self._leash = leash
        self._lock = threading.Lock()
        self._failure: ChildFailed | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def call(
        self,
        header: Mapping[str, Json],
        blobs: Sequence[Buffer] = (),
        *,
        timeout_s: float,
        max_reply_bytes: int = 4 << 30,
    ) -> tuple[dict[str, Json], list[Buffer]]:
        """Send one request and return the answer's header and blobs (each a `bytes`).

        The answer is well-formed JSON and within its limits, and was sent after the request;
        nothing else about it is known.

        Args:
            header: The request, at most 4 MiB of JSON.
            blobs: Raw bytes that go with it.
            timeout_s: Seconds until the child is killed.
            max_reply_bytes: Most bytes that the answer's blobs may have together.

        Raises:
            ChildFailed: if no such answer came; the child is dead then.
            ValueError: if the header is too large.
        """
        with self._lock:
            return self._exchange(header, blobs, timeout_s, max_reply_bytes)[:2]

    def pulse(self, header: Mapping[str, Json], *, timeout_s: float) -> float:
        """Send one request without blobs and return the seconds until its answer was here.

        The clock is the trusted side's; the answer must have no blobs and a header without an
        `error`, because a failed run has no time.

        Raises:
            ChildFailed: as `call` does, and if the answer has an `error` or blobs.
        """
        with self._lock:
            answer, blobs, elapsed_s = self._exchange(header, (), timeout_s, 0)
            if "error" in answer or blobs:
                self._fail(Cause.PROTOCOL, f"no time to report: {str(answer)[:2000]}")
            return elapsed_s

    def close(self) -> None:
        """Kill the child and everything it started, and wait until that is done.

        A call that another thread waits for fails at once.
        """
        self._leash.kill()
        with self._lock:
            self._channel.close()
            self._leash.close()
            if self._failure is None:
                self._failure = ChildFailed(Cause.EXIT, "the child was closed")

    def _exchange(
        self,
        header: Mapping[str, Json],
        blobs: Sequence[Buffer],
        timeout_s: float,
        max_reply_bytes: int,
    ) -> tuple[dict[str, Json], list[Buffer], float]:
        if self._failure is not None:
            raise self._failure
        nonce = secrets.randbits(64)
        deadline = time.monotonic() + timeout_s
        try:
            self._refuse_early_answer()
            start = time.perf_counter()
            send_frame(self._channel, nonce, header, blobs, deadline=deadline)
            frame = receive_frame(self._channel, blob_bytes=max_reply_bytes, deadline=deadline)
            elapsed_s = time.perf_counter() - start
            if frame.nonce != nonce:
                raise FrameError("the answer is not to this request")
        except FrameLate:
            self._fail(Cause.TIMEOUT, f"no answer within {timeout_s:g} s")
        except FrameEnd:
            self._fail(Cause.EXIT, "it closed its line without an answer")
        except FrameError as fault:
            self._fail(Cause.PROTOCOL, str(fault))
        except KeyboardInterrupt:
            # Half a message may have moved: nothing that follows could be understood.
            self._failure = ChildFailed(Cause.EXIT, "the call was interrupted")
            raise
        return frame.header, frame.blobs, elapsed_s

    def _refuse_early_answer(self) -> None:
        # An answer that is here before its question would look infinitely fast.
        self._channel.settimeout(0)
        try:
            early = self._channel.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except ConnectionResetError as fault:
            raise FrameEnd from fault
        if not early:
            raise FrameEnd
        raise FrameError("it sent something before it was asked")

    def _fail(self, cause: Cause, detail: str) -> NoReturn:
        # A dying child closes its line a moment before its supervisor knows why.
        report = self._leash.wait(_LINGER_S) if cause is Cause.EXIT else None
        was_alive = report is None
        if report is None:
            report = self._leash.end()
        if report.cause is not None and not (was_alive and report.cause is Cause.SIGNAL):
            cause, detail = report.cause, report.detail
        elif cause is Cause.EXIT and not was_alive:
            detail = _end_of(report)
        tail = (report.stdout + report.stderr)[-_TAIL_BYTES:].decode(errors="replace")
        self._failure = ChildFailed(cause, detail, tail)
        self._channel.close()
        self._leash.close()
        raise self._failure


def _end_of(report: Report) -> str:
    if report.signal is not None:
        return f"it was ended by {signal.Signals(report.signal).name} before it answered"
    return f"it ended with status {report.returncode} before it answered"
