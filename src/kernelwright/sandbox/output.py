"""What is kept of a child's output: a bounded part, however much it writes."""

from __future__ import annotations

import os

_CHUNK = 1 << 18


class Kept:
    """Drains one pipe and keeps its beginning, or its end.

    Args:
        fd: Read end of the pipe; closed by `close`.
        size: Most bytes to keep.
        is_tail: Whether the end is kept instead of the beginning.
    """

    def __init__(self, fd: int, size: int, *, is_tail: bool) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self._size = size
        self._is_tail = is_tail
        self._kept = bytearray()

    @property
    def data(self) -> bytes:
        """What is kept so far."""
        return bytes(self._kept[-self._size :] if self._is_tail else self._kept[: self._size])

    def drain(self) -> bool:
        """Take one chunk of what is there; return False once every writer is gone."""
        try:
            chunk = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return True
        if self._is_tail:
            self._kept += chunk
            if len(self._kept) > self._size + _CHUNK:
                del self._kept[: -self._size]
        elif len(self._kept) < self._size:
            self._kept += chunk
        return bool(chunk)

    def finish(self) -> None:
        """Take what is left in the pipe (at most a pipe's capacity), then close it."""
        os.set_blocking(self.fd, False)
        for _ in range(16):
            before = len(self._kept)
            if not self.drain() or len(self._kept) == before:
                break
        os.close(self.fd)
