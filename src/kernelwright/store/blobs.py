"""Content-addressed files: the name of a blob is the SHA-256 of its bytes.

A file appears under its name only when all of it is on the disk, so a crash leaves at most a
temporary file. A blob is checked against its name whenever it is read.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from kernelwright.core.errors import RecordUnreadable, StoreUnusable


class Blobs:
    """The blob files under one folder, spread over subfolders by the first two digits."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Keep `data` and return its address; it is on the disk when this returns.

        Raises:
            StoreUnusable: if the file cannot be written.
        """
        address = hashlib.sha256(data).hexdigest()
        path = self._path(address)
        try:
            if not path.is_file() or path.read_bytes() != data:
                _write(path, data)
        except OSError as fault:
            raise StoreUnusable(
                f"the blob {path} cannot be written: {fault.strerror}",
                fix="make the folder writable and free space on the disk, then try again",
            ) from fault
        return address

    def get(self, address: str) -> bytes:
        """Return the bytes of a blob.

        Raises:
            RecordUnreadable: if there is no such blob, or its bytes are not what they were.
        """
        path = self._path(address)
        try:
            data = path.read_bytes()
        except OSError as fault:
            raise _unreadable(address, f"{path} cannot be read: {fault.strerror}") from fault
        if hashlib.sha256(data).hexdigest() != address:
            raise _unreadable(address, f"{path} is damaged")
        return data

    def forget(self, address: str) -> None:
        """Delete a blob if it is there."""
        self._path(address).unlink(missing_ok=True)

    def _path(self, address: str) -> Path:
        if len(address) != 64 or set(address) - set("0123456789abcdef"):
            raise _unreadable(address, "that is no content address")
        return self._folder / address[:2] / address[2:]


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)
    _flush_folder(path.parent.parent)


def _flush_folder(folder: Path) -> None:
    # A rename survives a power loss only when the folder itself is flushed.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unreadable(address: str, why: str) -> RecordUnreadable:
    return RecordUnreadable(
        f"the blob {address[:16]} cannot be read: {why}",
        fix="restore the store's folder from a backup, or forget the run with `kernelwright runs "
        "prune`",
    )
