"""Opening a store: where it lies, which ones are refused, and what that says."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from kernelwright.core.errors import (
    RecordUnreadable,
    StoreTooNew,
    StoreUnusable,
    UsageMistake,
)
from kernelwright.store.connect import open_engine, writing
from kernelwright.store.location import default_path, open_store
from kernelwright.store.migrate import HEAD, MIGRATIONS, migrate, revision_of
from kernelwright.store.schema import METADATA
from kernelwright.testing.samples import a_candidate, a_rollout, a_run, learn_by_steps


def test_the_store_lies_in_the_users_data_folder_unless_told_otherwise(tmp_path: Path) -> None:
    home = {"HOME": "/home/me"}
    assert default_path(home) == Path("/home/me/.local/share/kernelwright/kernelwright.db")
    data = {**home, "XDG_DATA_HOME": "/data"}
    assert default_path(data) == Path("/data/kernelwright/kernelwright.db")
    assert default_path({**data, "KERNELWRIGHT_STORE": "/x/team.db"}) == Path("/x/team.db")
    named = {"KERNELWRIGHT_STORE": str(tmp_path)}
    assert default_path(named) == tmp_path / "kernelwright.db"


def test_a_relative_data_folder_is_ignored_as_xdg_says() -> None:
    found = default_path({"HOME": "/home/me", "XDG_DATA_HOME": "data"})
    assert found.is_relative_to("/home/me")


def test_without_any_folder_the_user_is_told_what_to_set() -> None:
    with pytest.raises(UsageMistake, match="KERNELWRIGHT_STORE"):
        default_path({})


def test_a_folder_holds_the_database_under_the_products_name(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    assert (tmp_path / "kernelwright.db").is_file()


def test_missing_folders_are_made(tmp_path: Path) -> None:
    open_store(tmp_path / "a" / "b" / "store.db").close()
    assert (tmp_path / "a" / "b" / "store.db").is_file()


def test_a_command_that_only_reads_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match=r"there is no store at .*\nfix: "):
        open_store(tmp_path / "store.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_there_opens_without_being_made(tmp_path: Path) -> None:
    open_store(tmp_path / "store.db").close()
    open_store(tmp_path / "store.db", create=False).close()


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnusable, match="fix: name another store"):
        open_store(tmp_path / "file" / "store.db")


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_text("these are not the bytes of a database\n" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match="not a database") as caught:
        open_store(path)
    assert "restore it from a backup" in caught.value.fix
    assert path.read_bytes() == before


def test_a_damaged_database_is_an_error_with_a_fix_not_a_wrong_answer(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(path)
    run = store.begin(a_run())
    for index in range(50):
        store.append(a_rollout(run, index, candidate=a_candidate("x" * 3000)), learn_by_steps)
    store.close()
    data = bytearray(path.read_bytes())
    for start in range(8192, len(data), 4096):
        data[start : start + 2048] = b"\xa5" * 2048
    path.write_bytes(bytes(data))
    with pytest.raises((StoreUnusable, RecordUnreadable)) as caught:
        damaged = open_store(path)
        damaged.rollouts()
    assert "restore it from a backup" in caught.value.fix


def test_a_store_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("update alembic_version set version_num = '0999'")
        connection.execute("create table tomorrow (x)")
    with pytest.raises(StoreTooNew, match=r"newer version.*0999(.|\n)*fix: upgrade kernelwright"):
        open_store(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("select version_num from alembic_version").fetchone() == ("0999",)


def test_an_older_store_is_brought_up_to_date_with_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    engine = open_engine(path)
    with writing(engine, path) as connection:
        migrate(connection, to="0001")
        assert revision_of(connection) == "0001"
    engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute(
            "insert into live_values (stage, item_id, mean, count) values ('draft', 'a', 0.1, 2)"
        )
    store = open_store(path)
    assert [value.mean for value in store.values().values.values()] == [0.1]
    store.append(a_rollout(store.begin(a_run()), 0), learn_by_steps)
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("select version_num from alembic_version").fetchone() == (HEAD,)


def test_the_migrations_make_exactly_the_tables_that_the_code_uses(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    engine = open_engine(path)
    with writing(engine, path) as connection:
        migrate(connection)
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_migrations_are_numbered_without_gaps_and_the_last_one_is_the_head() -> None:
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.set_main_option("version_locations", MIGRATIONS)
    config.set_main_option("path_separator", "newline")
    revisions = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert revisions[::-1] == [f"{number:04d}" for number in range(1, len(revisions) + 1)]
    assert revisions[0] == HEAD


def test_naming_the_store_does_not_cost_the_import_of_a_database() -> None:
    code = (
        "import sys, kernelwright.store.location as location\n"
        "location.default_path({'HOME': '/h'})\n"
        "sys.exit(any(name in sys.modules for name in ('sqlalchemy', 'alembic')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_store_that_is_up_to_date_opens_without_the_migration_tool(tmp_path: Path) -> None:
    open_store(tmp_path / "store.db").close()
    code = (
        "import sys, pathlib\n"
        "from kernelwright.store.location import open_store\n"
        f"open_store(pathlib.Path({str(tmp_path)!r}) / 'store.db').close()\n"
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
