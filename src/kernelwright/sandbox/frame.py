"""Messages between processes: one JSON header and raw blobs, never anything that can run code.

A frame is `magic, nonce, header length, blob count | blob lengths | header | blobs`, little endian.
The nonce of an answer must be the request's, so that no answer can be sent before its question.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer

HEADER_BYTES = 4 << 20
BLOB_COUNT = 1 << 16
_MAGIC = b"KWF1"
_HEAD = struct.Struct("<4sQII")
_SMALL = 1 << 16
_CHUNK = 4 << 20
_HUGE = 4 << 20
_PAGE = mmap.PAGESIZE
_SOCKET_BYTES = 4 << 20
_MADV_HUGEPAGE = 14


class FrameError(Exception):
    """What arrived is no well-formed frame."""


class FrameLate(Exception):
    """The deadline passed before a whole frame had moved."""


class FrameEnd(Exception):
    """The other side is gone."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message as it arrived.

    Attributes:
        nonce: Number that ties an answer to its request.
        header: The JSON object.
        blobs: The raw blobs, in order.
    """

    nonce: int
    header: dict[str, Json]
    blobs: list[Buffer]


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets with room for large blobs, as far as the kernel allows."""
    pair = socket.socketpair()
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BYTES)
    return pair


def send_frame(
    sock: socket.socket,
    nonce: int,
    header: Mapping[str, Json],
    blobs: Sequence[Buffer] = (),
    *,
    deadline: float | None = None,
) -> None:
    """Write one frame; `deadline` is on `time.monotonic`'s clock.

    Raises:
        FrameLate: if the other side does not read in time.
        FrameEnd: if the other side is gone.
        ValueError: if the header is larger than `HEADER_BYTES`.
    """
    text = json.dumps(header, separators=(",", ":")).encode()
    if len(text) > HEADER_BYTES:
        raise ValueError(f"a header may have {HEADER_BYTES} bytes, this one has {len(text)}")
    views = [memoryview(blob).cast("B") for blob in blobs if memoryview(blob).nbytes]
    sizes = struct.pack(f"<{len(blobs)}Q", *(memoryview(blob).nbytes for blob in blobs))
    head = _HEAD.pack(_MAGIC, nonce, len(text), len(blobs)) + sizes + text
    _send_all(sock, memoryview(head), deadline)
    for view in views:
        _send_all(sock, view, deadline)


def receive_frame(
    sock: socket.socket,
    *,
    blob_bytes: int | None = None,
    deadline: float | None = None,
    writable: bool = False,
) -> Frame:
    """Read one frame.

    Args:
        sock: Where from.
        blob_bytes: Most bytes that all blobs may have together; None trusts the sender.
        deadline: On `time.monotonic`'s clock; None waits for ever.
        writable: Whether blobs come as `bytearray` instead of `bytes`.

    Raises:
        FrameError: if it is malformed or too large.
        FrameLate: if it is not complete in time.
        FrameEnd: if the other side closes before or within it.
    """
    magic, nonce, length, count = _HEAD.unpack(_read(sock, _HEAD.size, deadline))
    if magic != _MAGIC:
        raise FrameError("the answer does not start like one")
    if length > HEADER_BYTES or count > BLOB_COUNT:
        raise FrameError(f"a header of {length} bytes with {count} blobs is too large")
    sizes = struct.unpack(f"<{count}Q", _read(sock, 8 * count, deadline))
    if blob_bytes is not None and sum(sizes) > blob_bytes:
        raise FrameError(f"the answer has {sum(sizes)} bytes, {blob_bytes} are allowed")
    header = _parsed(_read(sock, length, deadline))
    allocate = _new_bytearray if writable else _new_bytes
    return Frame(nonce, header, [_read_blob(sock, size, allocate, deadline) for size in sizes])


def _parsed(text: bytes) -> dict[str, Json]:
    try:
        header = json.loads(text.decode())
    except (ValueError, RecursionError) as fault:
        raise FrameError(f"the header is not JSON: {str(fault)[:200]}") from fault
    if not isinstance(header, dict):
        raise FrameError("the header is not an object")
    return cast("dict[str, Json]", header)


def _wait(sock: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        sock.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise FrameLate
    sock.settimeout(left)


def _send_all(sock: socket.socket, view: memoryview, deadline: float | None) -> None:
    sent = 0
    while sent < len(view):
        _wait(sock, deadline)
        try:
            sent += sock.send(view[sent : sent + _CHUNK], socket.MSG_NOSIGNAL)
        except TimeoutError as fault:
            raise FrameLate from fault
        except (BrokenPipeError, ConnectionResetError) as fault:
            raise FrameEnd from fault


def _fill(sock: socket.socket, view: memoryview, deadline: float | None) -> None:
    got = 0
    while got < len(view):
        _wait(sock, deadline)
        try:
            step = sock.recv_into(view[got : got + _CHUNK])
        except TimeoutError as fault:
            raise FrameLate from fault
        except ConnectionResetError as fault:
            raise FrameEnd from fault
        if step == 0:
            raise FrameEnd
        got += step


def _read(sock: socket.socket, size: int, deadline: float | None) -> bytes:
    buffer = bytearray(size)
    _fill(sock, memoryview(buffer), deadline)
    return bytes(buffer)


def _read_blob(
    sock: socket.socket,
    size: int,
    allocate: Callable[[int], tuple[Buffer, memoryview]],
    deadline: float | None,
) -> Buffer:
    if size < _SMALL and allocate is _new_bytes:
        return _read(sock, size, deadline)
    try:
        blob, view = allocate(size)
    except MemoryError as fault:
        raise FrameError(f"there is no room for a blob of {size} bytes") from fault
    _fill(sock, view, deadline)
    return blob


# The C API may create these objects uninitialised, to be filled before anybody else sees them:
# hundreds of megabytes arrive without being zeroed or copied first.
_MAKE_BYTES = ctypes.pythonapi.PyBytes_FromStringAndSize
_MAKE_BYTES.restype = ctypes.py_object
_MAKE_BYTES.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t]
_BYTES_AT = ctypes.pythonapi.PyBytes_AsString
_BYTES_AT.restype = ctypes.c_void_p
_BYTES_AT.argtypes = [ctypes.py_object]
_MAKE_BYTEARRAY = ctypes.pythonapi.PyByteArray_FromStringAndSize
_MAKE_BYTEARRAY.restype = ctypes.py_object
_MAKE_BYTEARRAY.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t]


def _new_bytes(size: int) -> tuple[Buffer, memoryview]:
    blob = cast(bytes, _MAKE_BYTES(None, size))
    address = int(_BYTES_AT(blob))
    if size >= _HUGE:
        # Faulting in 2 MiB at a time doubles the speed; a kernel that declines changes nothing.
        first = -(-address // _PAGE) * _PAGE
        length = ctypes.c_size_t(address + size - first)
        ctypes.CDLL(None).madvise(ctypes.c_void_p(first), length, _MADV_HUGEPAGE)
    return blob, memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")


def _new_bytearray(size: int) -> tuple[Buffer, memoryview]:
    blob = cast(bytearray, _MAKE_BYTEARRAY(None, size))
    return blob, memoryview(blob)
