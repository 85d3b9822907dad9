"""A candidate on disk: a folder of parts, or one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.core.errors import UsageMistake
from kernelwright.wiring.candidates import read_files


def test_one_file_is_the_model(tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_text("class ModelNew: ...")
    assert read_files(file) == {"model.py": "class ModelNew: ..."}


def test_a_folder_is_its_sources_without_reports_and_what_was_built(tmp_path: Path) -> None:
    for name in ("kernel.cpp", "model.py", "report.json", "report.md", "kernel.so", ".hidden"):
        (tmp_path / name).write_text(name)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "model.py").write_text("old")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "part.h").write_text("part")
    assert set(read_files(tmp_path)) == {"kernel.cpp", "model.py", "deep/part.h"}


def test_the_name_of_the_folder_does_not_change_the_parts(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.py").write_text("same")
    one, other = (read_files(tmp_path / name) for name in ("a", "b"))
    assert one == other


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"x" * (5 << 20)])
def test_what_cannot_be_a_candidate_is_the_users_mistake(
    content: bytes | None, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "model.py").write_bytes(content)
    with pytest.raises(UsageMistake):
        read_files(tmp_path)
