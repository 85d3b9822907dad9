"""Bring a database to the newest shape, or refuse one that is newer than this program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, inspect, text

from kernelwright.core.errors import StoreTooNew

HEAD = "0002"
"""The newest migration; a test holds it against the files."""

MIGRATIONS = "kernelwright.store:migrations"


def revision_of(connection: Connection) -> str | None:
    """Return the migration that the database is at, or None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(
        text("select version_num from alembic_version")
    ).scalar_one_or_none()
    return found


def migrate(connection: Connection, *, to: str = HEAD) -> None:
    """Run the migrations that are missing, inside the caller's transaction.

    The caller's transaction must be a writing one: of two processes that open a new store at once
    the second waits, and then finds nothing to do.

    Raises:
        StoreTooNew: if the database is at a migration that this program does not know.
    """
    current = revision_of(connection)
    if current == to:
        return
    # Imported here: a store that is up to date, the common case, pays nothing for it.
    from alembic.config import Config
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.set_main_option("version_locations", MIGRATIONS)
    config.set_main_option("path_separator", "newline")
    scripts = ScriptDirectory.from_config(config)
    known = {script.revision for script in scripts.walk_revisions()}
    if current is not None and current not in known:
        raise StoreTooNew(
            f"the store was written by a newer version: it is at migration {current!r}, "
            f"this version knows up to {HEAD!r}",
            fix="upgrade kernelwright, or name another store with --store",
        )

    def missing(revision: Any, context: MigrationContext) -> Sequence[Any]:
        return scripts._upgrade_revs(to, revision)

    context = MigrationContext.configure(
        connection, opts={"fn": missing, "transactional_ddl": True}
    )
    with Operations.context(context):
        context.run_migrations()
