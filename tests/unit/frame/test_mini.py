"""`mini/mini.py` is the first file a newcomer runs: it has to work, alone."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

MINI = Path(__file__).parents[3] / "mini" / "mini.py"


def run_mini(folder: Path, *, budget: int) -> str:
    # -I: nothing of the checkout or of the user's folder can be found by accident.
    command = [sys.executable, "-I", str(MINI), "--tasks", "rms_norm", "--budget", str(budget)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("mini")
    return folder, run_mini(folder, budget=4)


def rollouts_in(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "mini.jsonl").read_text().splitlines()]


def test_it_imports_nothing_of_ours() -> None:
    names = {
        alias.name
        for node in ast.walk(ast.parse(MINI.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert "numpy" in names
    assert not any(name.startswith("kernelwright") for name in names)


def test_it_drafts_a_feasible_kernel_and_refines_it(first_run: tuple[Path, str]) -> None:
    rollouts = rollouts_in(first_run[0])
    assert len(rollouts) == 4
    assert rollouts[0]["stage"] == "draft"
    feasible = [entry for entry in rollouts if entry["verdict"]["gate"] is None]
    assert feasible
    assert rollouts[-1]["stage"] == "refine"


def test_it_prints_what_it_learned(first_run: tuple[Path, str]) -> None:
    assert "what it learned, Q(draft) and Q(refine):" in first_run[1]
    assert first_run[1].count("rms_norm") == 4


def test_it_goes_on_where_it_ended(first_run: tuple[Path, str]) -> None:
    folder, _ = first_run
    before = rollouts_in(folder)
    output = run_mini(folder, budget=5)
    assert rollouts_in(folder)[: len(before)] == before
    assert len(rollouts_in(folder)) == 5
    assert output.count("rms_norm") == 1
