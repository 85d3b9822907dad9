"""Opening the store that a command works on, and keeping two commands off one run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelwright.core.errors import StoreConflict
from kernelwright.core.ports import Store
from kernelwright.wiring.registries import STORES
from kernelwright.wiring.settings import Settings, data_folder


def store_path(settings: Settings, option: Path | None) -> Path:
    """Return the database to use: the option's, the settings', or the user's own."""
    return option or settings.store or data_folder() / "kernelwright.db"


@contextmanager
def opened_store(settings: Settings, option: Path | None) -> Iterator[Store]:
    """Open the store of this command and close it at the end."""
    store = STORES.factory("sqlite")(store_path(settings, option))
    try:
        yield store
    finally:
        store.close()


@contextmanager
def claimed(database: Path, run_id: str) -> Iterator[None]:
    """Hold a run for this process; the kernel lets go of it however the process ends.

    Raises:
        StoreConflict: if another process is working on the run.
    """
    folder = database.with_name(database.name + ".runs")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run_id}.lock"
    with path.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as busy:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            raise StoreConflict(
                f"run {run_id} is being worked on by process {owner}",
                fix="wait for it, stop it, or begin another run with --fresh",
            ) from busy
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
