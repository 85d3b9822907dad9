"""Blob files and the settings of the database on which durability rests."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from kernelwright.core.errors import RecordUnreadable, StoreUnusable
from kernelwright.core.rollout import Rollout
from kernelwright.store.blobs import Blobs
from kernelwright.store.connect import open_engine, reading
from kernelwright.store.location import open_store
from kernelwright.store.sqlite import SqliteStore
from kernelwright.store.texts import INLINE_CHARACTERS, record_of, text_of
from kernelwright.testing.samples import (
    a_candidate,
    a_rollout,
    a_run,
    infeasible,
    learn_by_steps,
)


def blob_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "blobs" in str(path))


def stored_with_a_long_part(folder: Path) -> SqliteStore:
    store = open_store(folder / "store.db")
    run = store.begin(a_run())
    store.append(a_rollout(run, 0, candidate=a_candidate("long " * 5000)), learn_by_steps)
    return store


def test_a_blob_is_named_by_its_bytes(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    address = blobs.put(b"abc")
    assert address == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (tmp_path / address[:2] / address[2:]).read_bytes() == b"abc"


def test_a_damaged_blob_is_found_out_when_it_is_read(tmp_path: Path) -> None:
    store = stored_with_a_long_part(tmp_path)
    for path in blob_files(tmp_path):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(RecordUnreadable, match="damaged"):
        store.history("run-a")


def test_a_missing_blob_is_an_error_with_a_fix(tmp_path: Path) -> None:
    store = stored_with_a_long_part(tmp_path)
    for path in blob_files(tmp_path):
        path.unlink()
    with pytest.raises(RecordUnreadable, match=r"cannot be read(.|\n)*fix: restore"):
        store.history("run-a")


def test_writing_a_blob_again_repairs_a_damaged_file(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    address = blobs.put(b"abc")
    (tmp_path / address[:2] / address[2:]).write_bytes(b"")
    assert blobs.put(b"abc") == address
    assert blobs.get(address) == b"abc"


def test_no_temporary_file_is_left_behind(tmp_path: Path) -> None:
    store = stored_with_a_long_part(tmp_path)
    store.put_blob(b"more")
    assert [path for path in blob_files(tmp_path) if path.name.startswith(".")] == []


def test_a_folder_that_cannot_be_written_is_an_error_with_a_fix(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file where the folder should be")
    with pytest.raises(StoreUnusable, match="fix: make the folder writable"):
        Blobs(tmp_path / "blobs").put(b"abc")


def test_files_that_nothing_needs_any_more_go_with_a_prune(tmp_path: Path) -> None:
    store = stored_with_a_long_part(tmp_path)
    kept = store.put_blob(b"kept")
    assert len(blob_files(tmp_path)) > 1
    store.prune("run-a", learn_by_steps)
    assert [path.parent.name + path.name for path in blob_files(tmp_path)] == [kept]


def test_short_texts_stay_in_the_row_and_long_ones_do_not(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    short = a_rollout(a_run(), 0, verdict=infeasible("x" * INLINE_CHARACTERS))
    assert text_of(short, blobs.put)[1] == frozenset()
    long = a_rollout(a_run(), 0, verdict=infeasible("x" * (INLINE_CHARACTERS + 1)))
    text, addresses = text_of(long, blobs.put)
    assert len(addresses) == 1
    assert len(text) < INLINE_CHARACTERS
    assert record_of(Rollout, text, blobs.get) == long


def test_half_a_character_of_somebodys_output_survives(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    run = store.begin(a_run())
    for index, reason in enumerate(["cut \udce2", "cut \udce2" * 5000]):
        rollout = a_rollout(run, index, verdict=infeasible(reason))
        store.append(rollout, learn_by_steps)
        assert store.history("run-a").rollouts[index] == rollout


def test_a_damaged_record_is_refused_instead_of_half_read(tmp_path: Path) -> None:
    stored_with_a_long_part(tmp_path).close()
    for text in ("{", '{"record": "Rollout", "version": 1}', '{"record": "Task", "version": 1}'):
        with sqlite3.connect(tmp_path / "store.db") as connection:
            connection.execute("update rollouts set data = ?", (text,))
        with pytest.raises(RecordUnreadable):
            open_store(tmp_path / "store.db").rollouts()


def test_every_commit_is_flushed_and_references_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    open_store(path).close()
    engine = open_engine(path)
    with reading(engine, path) as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"pragma {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    engine.dispose()
    full = 2
    assert pragmas == {"journal_mode": "wal", "synchronous": full, "foreign_keys": 1}


def test_a_writer_that_does_not_let_go_is_named_as_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelwright.store.connect._PRAGMAS", ("pragma busy_timeout = 50",))
    path = tmp_path / "store.db"
    store = open_store(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(StoreUnusable, match=r"locked(.|\n)*fix: another process"):
        store.begin(a_run())
    other.execute("rollback")
    other.close()
    assert store.begin(a_run()) == a_run()
