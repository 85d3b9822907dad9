"""Where the store lies when the user does not say, and how one is opened by a path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kernelwright.core.errors import StoreUnusable, UsageMistake

if TYPE_CHECKING:
    from kernelwright.store.sqlite import SqliteStore

DATABASE = "kernelwright.db"
"""File name of the database where the user names a folder, or nothing."""


def default_path(environ: Mapping[str, str]) -> Path:
    """Return the database to use: `KERNELWRIGHT_STORE`, else one in the user's data folder (XDG).

    Raises:
        UsageMistake: if the environment names neither of them nor a home folder.
    """
    if named := environ.get("KERNELWRIGHT_STORE"):
        return database_at(Path(named).expanduser())
    # The XDG specification says that a relative path is to be ignored.
    data = environ.get("XDG_DATA_HOME", "")
    if data.startswith("/"):
        return Path(data) / "kernelwright" / DATABASE
    if home := environ.get("HOME"):
        return Path(home) / ".local" / "share" / "kernelwright" / DATABASE
    raise UsageMistake(
        "there is no place for the store: HOME, XDG_DATA_HOME and KERNELWRIGHT_STORE are unset",
        fix="pass --store PATH or set KERNELWRIGHT_STORE",
    )


def database_at(path: Path) -> Path:
    """Return the database file that `path` means: itself, or the one in it if it is a folder."""
    return path / DATABASE if path.is_dir() else path


def open_store(path: Path, *, create: bool = True) -> SqliteStore:
    """Open the store whose database is `path`, bringing an older one up to date.

    With `create` a missing store is made; without, it is an error, so that a command that only
    reads leaves nothing behind.

    Raises:
        StoreTooNew: if a newer version of the product wrote it.
        StoreUnusable: if it is missing (without `create`), damaged, locked or not writable.
    """
    if not create and not database_at(path).is_file():
        raise StoreUnusable(
            f"there is no store at {path}",
            fix="name another one with --store, or make one with `kernelwright solve`",
        )
    # Imported here: it takes half a second, and `--help` and `tasks list` need no database.
    from kernelwright.store.sqlite import SqliteStore

    return SqliteStore(path)
