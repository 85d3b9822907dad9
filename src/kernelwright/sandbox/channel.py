"""The child's end of the line to the trusted side."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence

from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer
from kernelwright.sandbox.frame import FrameEnd, receive_frame, send_frame

CHANNEL_FD = 3
"""Descriptor of the channel in every warm child; 0, 1 and 2 are stdin, stdout and stderr."""


class Channel:
    """Receives requests and sends exactly one answer to each; used inside a child."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._nonce: int | None = None

    def receive(self) -> tuple[dict[str, Json], list[memoryview]]:
        """Wait for the next request: its header, and its blobs as writable views.

        Ends the process quietly when the trusted side has closed the line.
        """
        try:
            frame = receive_frame(self._sock, writable=True)
        except FrameEnd:
            os._exit(0)
        self._nonce = frame.nonce
        return frame.header, [memoryview(blob) for blob in frame.blobs]

    def send(self, header: Mapping[str, Json], blobs: Sequence[Buffer] = ()) -> None:
        """Answer the request that was received last.

        Raises:
            RuntimeError: if it has been answered already.
            ValueError: if the header is too large for one frame.
        """
        if self._nonce is None:
            raise RuntimeError("there is no request to answer")
        send_frame(self._sock, self._nonce, header, blobs)
        self._nonce = None
