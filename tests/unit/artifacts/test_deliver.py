"""Files appear whole, stay untouched when nothing changed, and never outside the folder."""

from __future__ import annotations

from pathlib import Path

from kernelwright.artifacts.deliver import deliver, withdraw


def test_files_are_written_below_the_folder(tmp_path: Path) -> None:
    deliver({"a.txt": "one", "deep/b.txt": "two"}, tmp_path / "out")
    assert (tmp_path / "out" / "deep" / "b.txt").read_text() == "two"
    assert {p.name for p in (tmp_path / "out").rglob("*") if p.is_file()} == {"a.txt", "b.txt"}


def test_an_unchanged_file_keeps_its_time(tmp_path: Path) -> None:
    (path,) = deliver({"a.txt": "one"}, tmp_path)
    before = path.stat().st_mtime_ns
    deliver({"a.txt": "one"}, tmp_path)
    assert path.stat().st_mtime_ns == before


def test_only_files_below_the_folder_are_withdrawn(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("keep")
    deliver({"a.txt": "one", "b.txt": "two"}, tmp_path / "out")
    withdraw({"a.txt", "missing.txt", "../outside.txt"}, tmp_path / "out")
    assert outside.exists()
    assert not (tmp_path / "out" / "a.txt").exists()
    assert (tmp_path / "out" / "b.txt").exists()
