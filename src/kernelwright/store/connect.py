"""One database file: connections, transactions, and what SQLite's errors mean for the user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, IntegrityError

from kernelwright.core.errors import StoreUnusable

BUSY_TIMEOUT_S = 60
"""How long a writer waits for another one; the longest holder is a rebuild of a large log."""

_PRAGMAS = (
    f"pragma busy_timeout = {BUSY_TIMEOUT_S * 1000}",
    # One writer and any number of readers at once; needs a local file system.
    "pragma journal_mode = wal",
    # Every commit is flushed to the disk. NORMAL would lose the last commits at a power loss; a
    # rollout costs seconds, a flush milliseconds.
    "pragma synchronous = full",
    "pragma foreign_keys = on",
)


def open_engine(path: Path) -> Engine:
    """Return an engine on the database file `path`; nothing is opened yet."""
    engine = create_engine(URL.create("sqlite", database=str(path)))
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


@contextmanager
def reading(engine: Engine, path: Path) -> Iterator[Connection]:
    """Open a transaction that sees one state of the database, whoever writes meanwhile.

    Raises:
        StoreUnusable: if the database cannot be read.
    """
    with _explained(path), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine, path: Path) -> Iterator[Connection]:
    """Open the only writing transaction there is; all of it is recorded, or nothing.

    Raises:
        StoreUnusable: if the database cannot be written, or another writer does not let go.
    """
    with (
        _explained(path),
        engine.connect().execution_options(is_writing=True) as connection,
        connection.begin(),
    ):
        yield connection


def _prepare(connection: Any, record: object) -> None:
    # Python's sqlite3 opens transactions by itself, and late; here they are opened by `_begin`.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin(connection: Connection) -> None:
    # A writer takes the lock before it reads, so that what it read is still true when it writes.
    is_writing = connection.get_execution_options().get("is_writing", False)
    connection.exec_driver_sql("begin immediate" if is_writing else "begin")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise  # A broken rule of ours is a bug, and must look like one.
    except DatabaseError as fault:
        what = str(fault.orig)
        raise StoreUnusable(f"the store {path} cannot be used: {what}", fix=_fix(what)) from fault


def _fix(what: str) -> str:
    if "locked" in what:
        return "another process is writing to it; wait for it, or end it, and try again"
    if "unable to open" in what or "readonly" in what:
        return "make the folder writable, or name another store with --store"
    if "full" in what:
        return "free space on the disk and try again; what was recorded is safe"
    return "restore it from a backup, or move the folder away to start with an empty store"
