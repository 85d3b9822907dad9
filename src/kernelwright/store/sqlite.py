"""The embedded store: one SQLite database, and the blob files in a folder beside it.

What is guaranteed when a call that writes has returned: the change survives the end of the
process at any moment (kill -9) and, as far as the disk keeps what it says it has flushed, the loss
of power. A call that did not return has changed everything it was to change, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection

from kernelwright.core.budget import Budget
from kernelwright.core.errors import StoreUnusable
from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.ports import Learn, Lesson, ValueUpdate
from kernelwright.core.rollout import History, Rollout
from kernelwright.core.run import Run, RunStatus
from kernelwright.core.value import ValueView
from kernelwright.store import rows
from kernelwright.store.blobs import Blobs
from kernelwright.store.connect import open_engine, reading, writing
from kernelwright.store.learning import (
    frozen_view,
    live_view,
    rebuild_values,
    record_lesson,
    updates_of,
)
from kernelwright.store.location import database_at
from kernelwright.store.migrate import HEAD, migrate, revision_of
from kernelwright.store.schema import ROLLOUTS, RUNS

R = TypeVar("R")

_KEPT_BY_CALLER = "caller"


class SqliteStore:
    """A store on a local file system; implements `core.ports.Store`.

    One object may be used from several threads, and one database from several processes: writers
    wait for one another, readers never wait. It is not made for network file systems, whose locks
    SQLite cannot rely on.
    """

    def __init__(self, path: Path) -> None:
        """Open the database file `path`, making it or bringing it up to date where needed.

        Where `path` is a folder, the database is `kernelwright.db` in it. The blob files lie in a
        folder of the database's name with `.blobs` added.

        Raises:
            StoreTooNew: if a newer version of the product wrote it.
            StoreUnusable: if it is damaged, locked or not writable.
        """
        self._path = database_at(path)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreUnusable(
                f"the folder {self._path.parent} cannot be made: {fault.strerror}",
                fix="name another store with --store",
            ) from fault
        self._blobs = Blobs(self._path.with_name(self._path.name + ".blobs"))
        self._known_items: dict[int, MemoryItem] = {}
        self._engine = open_engine(self._path)
        try:
            if self._read(revision_of) != HEAD:
                self._write(migrate)
        except BaseException:
            self._engine.dispose()
            raise

    def begin(self, run: Run) -> Run:
        """Record a new run, or return the recorded one with the same identity."""
        return self._write(lambda connection: rows.add_run(connection, self._blobs, run))

    def runs(self, *, key: str | None = None, task_id: str | None = None) -> tuple[Run, ...]:
        """Return runs, newest first."""
        wanted = [
            column == value
            for column, value in ((RUNS.c.key, key), (RUNS.c.task_id, task_id))
            if value is not None
        ]
        return tuple(self._read(lambda found: rows.runs_where(found, self._blobs, *wanted)))

    def update_run(self, run_id: str, *, status: RunStatus, budget: Budget) -> None:
        """Change what may change about a run: where it stands and what it may spend."""
        with writing(self._engine, self._path) as connection:
            run = rows.run_named(connection, self._blobs, run_id)
            rows.change_run(connection, self._blobs, replace(run, status=status, budget=budget))

    def prune(self, run_id: str, learn: Learn) -> int:
        """Forget a run, its rollouts and what only they taught; return how many rollouts went."""
        with writing(self._engine, self._path) as connection:
            rows.run_named(connection, self._blobs, run_id)
            count, freed = rows.forget_run(connection, run_id)
            self._rebuild(connection, learn)
        # Files go after the records that needed them: the other way round, an interrupt would leave
        # records without their files. Nobody can begin to need one of them under this lock.
        with writing(self._engine, self._path) as connection:
            for address in rows.unneeded(connection, freed):
                self._blobs.forget(address)
        return count

    def append(self, rollout: Rollout, learn: Learn) -> Lesson:
        """Record a rollout and what it teaches, all or nothing; return what it taught."""
        with writing(self._engine, self._path) as connection:
            rows.run_named(connection, self._blobs, rollout.run_id)
            if not rows.add_rollout(connection, self._blobs, rollout):
                return Lesson()
            lesson = learn(rollout, values=live_view(connection))
            self._add_items(connection, rollout, lesson)
            record_lesson(connection, rollout.rollout_id, lesson)
        return lesson

    def rebuild(self, learn: Learn) -> ValueView:
        """Fold the whole log again, put the outcome in place of the live values and return it."""
        return self._write(lambda connection: self._rebuild(connection, learn))

    def history(self, run_id: str) -> History:
        """Return the rollouts of a run, in order."""
        rollouts = self._rollouts_of(ROLLOUTS.c.run_id == run_id)
        return History(tuple(sorted(rollouts, key=lambda rollout: rollout.index)))

    def rollouts(self, *, task_id: str | None = None) -> tuple[Rollout, ...]:
        """Return all rollouts in the order in which they were recorded."""
        if task_id is None:
            return tuple(self._rollouts_of())
        return tuple(self._rollouts_of(ROLLOUTS.c.task_id == task_id))

    def seed_items(self, items: Sequence[MemoryItem]) -> int:
        """Add seed knowledge that is not there yet; return how many items were new."""
        with writing(self._engine, self._path) as connection:
            return sum(
                rows.add_item(connection, self._blobs, item, taught_by=None) for item in items
            )

    def items(self, *, backend: str | None = None) -> tuple[MemoryItem, ...]:
        """Return memory items; with `backend`, those about it and those about all backends."""
        known = self._known_items
        return tuple(self._read(lambda at: rows.items_about(at, self._blobs, backend, known)))

    def values(self) -> ValueView:
        """Return the live values."""
        return self._read(frozen_view)

    def updates_of(self, item_id: str) -> tuple[tuple[str, ValueUpdate], ...]:
        """Return (rollout id, update) of every time an item's value moved, oldest first."""
        return self._read(lambda connection: updates_of(connection, item_id))

    def put_blob(self, data: bytes) -> str:
        """Keep bytes under their content address and return it; no prune forgets them."""
        with writing(self._engine, self._path) as connection:
            address = self._blobs.put(data)
            rows.refer(connection, _KEPT_BY_CALLER, [address])
        return address

    def get_blob(self, address: str) -> bytes:
        """Return the bytes of a content address.

        Raises:
            RecordUnreadable: if there are none or they are damaged.
        """
        return self._blobs.get(address)

    def close(self) -> None:
        """Release the database."""
        self._engine.dispose()

    def _read(self, question: Callable[[Connection], R]) -> R:
        with reading(self._engine, self._path) as connection:
            return question(connection)

    def _write(self, change: Callable[[Connection], R]) -> R:
        with writing(self._engine, self._path) as connection:
            return change(connection)

    def _rollouts_of(self, *wanted: ColumnElement[bool]) -> list[Rollout]:
        return self._read(lambda found: list(rows.rollouts_where(found, self._blobs, *wanted)))

    def _add_items(self, connection: Connection, rollout: Rollout, lesson: Lesson) -> None:
        for item in lesson.items:
            rows.add_item(connection, self._blobs, item, taught_by=rollout.rollout_id)

    def _rebuild(self, connection: Connection, learn: Learn) -> ValueView:
        log = rows.rollouts_where(connection, self._blobs)
        for rollout, lesson in rebuild_values(connection, log, learn):
            self._add_items(connection, rollout, lesson)
        return frozen_view(connection)
