"""Where the store lies when the user does not say, and how one is opened by a path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kernelwright.core.errors import StoreUnusable, UsageMistake

if TYPE_CHECKING:
    from kernelwright.store.sqlite import SqliteStore

DATABASE = "kernelwright.db"
"""File name of the database inside a store's folder."""


def default_path(environ: Mapping[str, str]) -> Path:
    """Return the store's folder: `KERNELWRIGHT_STORE`, else in the user's data folder (XDG).

    Raises:
        UsageMistake: if the environment names neither of them nor a home folder.
    """
    if named := environ.get("KERNELWRIGHT_STORE"):
        return Path(named).expanduser()
    # The XDG specification says that a relative path is to be ignored.
    data = environ.get("XDG_DATA_HOME", "")
    if data.startswith("/"):
        return Path(data) / "kernelwright"
    if home := environ.get("HOME"):
        return Path(home) / ".local" / "share" / "kernelwright"
    raise UsageMistake(
        "there is no folder for the store: HOME, XDG_DATA_HOME and KERNELWRIGHT_STORE are unset",
        fix="pass --store PATH or set KERNELWRIGHT_STORE",
    )


def open_store(path: Path, *, create: bool = True) -> SqliteStore:
    """Open the store in the folder `path`, bringing an older one up to date.

    With `create` a missing store is made; without, it is an error, so that a command that only
    reads leaves nothing behind.

    Raises:
        StoreTooNew: if a newer version of the product wrote it.
        StoreUnusable: if it is missing (without `create`), damaged, locked or not writable.
    """
    if path.exists() and not path.is_dir():
        raise StoreUnusable(f"{path} is a file, not a store", fix="name a folder with --store")
    if not create and not (path / DATABASE).is_file():
        raise StoreUnusable(
            f"there is no store in {path}",
            fix="name another folder with --store, or make one with `kernelwright solve`",
        )
    # Imported here: it takes half a second, and `--help` and `tasks list` need no database.
    from kernelwright.store.sqlite import SqliteStore

    return SqliteStore(path)
