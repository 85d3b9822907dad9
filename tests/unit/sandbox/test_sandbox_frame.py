"""Messages from a child are well-formed, whole, in time and within their size, or refused."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from kernelwright.sandbox.frame import (
    HEADER_BYTES,
    FrameEnd,
    FrameError,
    FrameLate,
    channel_pair,
    receive_frame,
    send_frame,
)


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = channel_pair()
    with ours, theirs:
        yield ours, theirs


def raw(magic: bytes, header: bytes, sizes: list[int], *, length: int | None = None) -> bytes:
    head = struct.pack("<4sQII", magic, 7, len(header) if length is None else length, len(sizes))
    return head + struct.pack(f"<{len(sizes)}Q", *sizes) + header


@pytest.mark.parametrize("writable", [False, True])
def test_a_message_arrives_as_it_was_sent(line, writable: bool) -> None:
    ours, theirs = line
    blobs = [b"", b"abc", bytearray(range(256)) * 5000, memoryview(b"view")]
    sender = threading.Thread(target=send_frame, args=(theirs, 2**64 - 1, {"x": [1, None]}, blobs))
    sender.start()
    frame = receive_frame(ours, blob_bytes=1 << 24, writable=writable)
    sender.join()
    assert frame.nonce == 2**64 - 1
    assert frame.header == {"x": [1, None]}
    assert [bytes(blob) for blob in frame.blobs] == [bytes(blob) for blob in blobs]
    assert {type(blob) for blob in frame.blobs} == {bytearray if writable else bytes}


def test_a_large_blob_arrives_whole_and_in_order(line) -> None:
    ours, theirs = line
    blob = struct.pack("<2000000I", *range(2_000_000))
    sender = threading.Thread(target=send_frame, args=(theirs, 1, {}, [blob]))
    sender.start()
    assert receive_frame(ours, blob_bytes=len(blob)).blobs == [blob]
    sender.join()


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n" + bytes(20), "does not start like one"),
        (raw(b"KWF1", b"{}", [], length=HEADER_BYTES + 1), "too large"),
        (raw(b"KWF1", b"{}", [])[:16] + struct.pack("<I", 1 << 20), "too large"),
        (raw(b"KWF1", b"[1]", []), "not an object"),
        (raw(b"KWF1", b"\xff\xfe", []), "not JSON"),
        (raw(b"KWF1", b'{"a": ', []), "not JSON"),
        (raw(b"KWF1", b"[" * 100_000, []), "not JSON"),
        (raw(b"KWF1", b'{"a": ' + b"9" * 5000 + b"}", []), "not JSON"),
        (raw(b"KWF1", b"{}", [600, 500]), "1100 bytes, 1000 are allowed"),
        (raw(b"KWF1", b"{}", [2**64 - 1, 2**64 - 1]), "1000 are allowed"),
    ],
)
def test_a_malformed_message_is_refused(line, sent: bytes, complaint: str) -> None:
    ours, theirs = line
    theirs.sendall(sent)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(FrameError, match=complaint):
        receive_frame(ours, blob_bytes=1000)


def test_a_sender_that_leaves_in_the_middle_is_noticed(line) -> None:
    ours, theirs = line
    theirs.sendall(raw(b"KWF1", b"{}", [100]) + b"half")
    theirs.close()
    with pytest.raises(FrameEnd):
        receive_frame(ours, blob_bytes=1000)


def test_a_sender_that_drips_does_not_move_the_deadline(line) -> None:
    ours, theirs = line
    stop = threading.Event()

    def drip() -> None:
        theirs.sendall(raw(b"KWF1", b"{}", [1000]))
        while not stop.wait(0.02):
            theirs.sendall(b"x")

    sender = threading.Thread(target=drip)
    sender.start()
    start = time.monotonic()
    with pytest.raises(FrameLate):
        receive_frame(ours, blob_bytes=1000, deadline=start + 0.2)
    assert time.monotonic() - start < 2.0
    stop.set()
    sender.join()


def test_a_receiver_that_does_not_read_does_not_block_the_sender_for_ever(line) -> None:
    ours, _ = line
    with pytest.raises(FrameLate):
        send_frame(ours, 1, {}, [bytes(64 << 20)], deadline=time.monotonic() + 0.2)


def test_a_header_over_the_limit_is_the_senders_mistake(line) -> None:
    ours, _ = line
    with pytest.raises(ValueError, match="header"):
        send_frame(ours, 1, {"text": "x" * HEADER_BYTES})


def test_floats_that_json_has_no_word_for_survive(line) -> None:
    ours, theirs = line
    send_frame(theirs, 1, json.loads('{"x": [NaN, Infinity]}'))
    answer = receive_frame(ours).header["x"]
    assert answer[0] != answer[0]
    assert answer[1] == float("inf")
