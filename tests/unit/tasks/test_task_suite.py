"""Folders of task files, and the version that a result names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.core.errors import UsageMistake
from kernelwright.core.task import OperandSpec, Role, Shrink, Task
from kernelwright.tasks import describe, list_tasks
from kernelwright.tasks.memory import spelled
from kernelwright.tasks.version import version_of

GOOD = """
import torch
class Model(torch.nn.Module):
    pass
def get_inputs():
    return []
"""
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    root = tmp_path / "bench"
    for name in ("level1/10_b.py", "level1/9_a.py", "attention/mask.py", ".hidden/x.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(GOOD)
    (root / "level1/__init__.py").write_text("")
    (root / "level1/11_bad.py").write_text(GOOD.replace("Model", "Other"))
    return root


def test_a_folder_is_listed_in_natural_order_whatever_its_levels_are_called(suite: Path) -> None:
    listed = list_tasks(suite)
    assert [(item.category, item.name) for item in listed] == [
        ("attention", "mask"),
        ("level1", "9_a"),
        ("level1", "10_b"),
        ("level1", "11_bad"),
    ]
    assert {item.suite for item in listed} == {"bench"}


def test_a_listing_says_why_a_file_is_no_task(suite: Path) -> None:
    bad = list_tasks(suite)[-1]
    assert bad.problem.startswith("there is no Model")
    assert bad.fix.startswith("define a class Model")
    assert [item.problem for item in list_tasks(suite)[:3]] == ["", "", ""]


def test_one_file_is_a_listing_of_one(suite: Path) -> None:
    (only,) = list_tasks(suite / "level1/9_a.py")
    assert (only.name, only.category) == ("9_a", "level1")


def test_a_missing_folder_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageMistake, match="fix: name a task file"):
        list_tasks(tmp_path / "nothing")


def test_the_version_outside_a_checkout_is_the_content(suite: Path) -> None:
    before = version_of(suite)
    assert before.startswith("sha256:")
    assert version_of(suite) == before
    (suite / "level1/9_a.py").write_text(GOOD + "# changed\n")
    assert version_of(suite) != before


@pytest.mark.parametrize("form", ["loose", "packed", "detached", "worktree"])
def test_the_version_in_a_checkout_is_its_commit(suite: Path, form: str) -> None:
    git = suite / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    if form == "loose":
        (git / "refs/heads").mkdir(parents=True)
        (git / "refs/heads/main").write_text(COMMIT + "\n")
    elif form == "packed":
        (git / "packed-refs").write_text(f"# pack-refs\n{COMMIT} refs/heads/main\n")
    elif form == "detached":
        (git / "HEAD").write_text(COMMIT + "\n")
    else:
        shared = git.rename(suite.parent / "shared")
        own = shared / "worktrees/bench"
        own.mkdir(parents=True)
        (own / "HEAD").write_text("ref: refs/heads/main\n")
        (own / "commondir").write_text("../..\n")
        (shared / "packed-refs").write_text(f"{COMMIT} refs/heads/main\n")
        (suite / ".git").write_text(f"gitdir: {own}\n")
    assert version_of(suite / "level1/9_a.py") == f"git:{COMMIT}"


def test_a_checkout_without_a_commit_falls_back_to_the_content(suite: Path) -> None:
    (suite / ".git").mkdir()
    (suite / ".git/HEAD").write_text("ref: refs/heads/main\n")
    assert version_of(suite).startswith("sha256:")


def test_a_description_holds_every_fact_of_a_task() -> None:
    task = Task(
        name="op",
        source="",
        path="op.py",
        operands=(
            OperandSpec("x", Role.INPUT, "tensor", "float32", (4, 8), is_contiguous=False),
            OperandSpec("eps", Role.INIT, "float", value="1e-05"),
        ),
        is_training=False,
        shrink=Shrink("halve-sizes/1", (("rows", 64, 4),), max_bytes=100),
    )
    shown = describe(task)
    assert shown["mode"] == "evaluation"
    assert shown["inputs"] == [
        {"name": "x", "type": "tensor", "dtype": "float32", "shape": [4, 8], "contiguous": False}
    ]
    assert shown["init"] == [{"name": "eps", "type": "float", "value": "1e-05"}]
    assert shown["shrink"] == {
        "rule": "halve-sizes/1",
        "max_bytes": 100,
        "max_flops": None,
        "sizes": {"rows": {"file": 64, "used": 4}},
    }


def test_memory_is_spelled_for_people() -> None:
    assert [spelled(n) for n in (12, 1536, 6 << 30)] == ["12 B", "1.5 KiB", "6.0 GiB"]


def test_the_trusted_process_never_imports_torch() -> None:
    code = "import sys, kernelwright.tasks; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
