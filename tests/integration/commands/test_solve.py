"""The main job as a user runs it: the command in a process of its own."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.integration.commands.broken import TASK

from kernelwright.store.sqlite import SqliteStore

SWISH = TASK.replace("torch.softmax(x, dim=-1)", "x * torch.sigmoid(x)")

COMMAND = [sys.executable, "-m", "kernelwright"]

USE = """
import importlib.util, sys
sys.modules["kernelwright"] = None  # An export must not need it.
import torch
spec = importlib.util.spec_from_file_location("anything", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
x = torch.randn(7, 515)
print(float((module.ModelNew()(x) - torch.softmax(x, -1)).abs().max()))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solve")
    (folder / "softmax.py").write_text(TASK)
    return folder


@pytest.fixture(scope="module")
def report(place: Path) -> dict[str, Any]:
    done = command(place, "solve", "softmax.py", "--budget", "2", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def command(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments, *_store(place)],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _store(place: Path) -> list[str]:
    return ["--store", str(place / "store.db")]


def test_solve_finds_a_feasible_kernel_with_every_gate_reported(report: dict[str, Any]) -> None:
    assert report["feasible"] is True
    assert report["gate"] is None
    said = {name: gate["status"] for name, gate in report["gates"].items()}
    assert said == {
        "screen": "passed",
        "audit": "not_run",
        "compile": "passed",
        "correctness": "passed",
        "latency": "passed",
    }
    assert report["simulated"] is False
    assert report["speedup_low"] <= report["speedup"] <= report["speedup_high"]
    assert len(report["rollouts"]) == 2
    assert report["admission"]["is_powerful"] is True


def test_the_files_are_where_the_user_expects_them(report: dict[str, Any], place: Path) -> None:
    folder = place / "kernelwright-out" / "softmax"
    assert {"kernel.cpp", "model.py", "report.md", "report.json"} <= {
        path.name for path in folder.iterdir()
    }
    assert json.loads((folder / "report.json").read_text()) == report


@pytest.mark.usefixtures("report")
def test_the_model_runs_from_anywhere_without_the_product(place: Path, tmp_path: Path) -> None:
    model = place / "kernelwright-out" / "softmax" / "model.py"
    done = subprocess.run(
        [sys.executable, "-c", USE, str(model)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-6


@pytest.mark.usefixtures("report")
def test_what_was_solved_can_be_verified_again_and_a_change_to_it_is_seen(place: Path) -> None:
    folder = place / "kernelwright-out" / "softmax"
    again = command_without_store(place, "verify", "softmax.py", str(folder))
    assert again.returncode == 0, again.stdout + again.stderr
    changed = place / "changed"
    changed.mkdir()
    for name in ("kernel.cpp", "model.py"):
        (changed / name).write_text((folder / name).read_text().replace("1.0", "1.5"))
    worse = command_without_store(place, "verify", "softmax.py", str(changed), "--json")
    assert worse.returncode == 1
    assert json.loads(worse.stdout)["feasible"] is False


def test_a_kernel_of_the_dsl_route_carries_its_program_and_runs_show_names_the_route(
    place: Path,
) -> None:
    (place / "swish.py").write_text(SWISH)
    done = command(place, "solve", "swish.py", "--budget", "1", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rollouts"][0]["schedule"]["route"] == "dsl"
    text = (place / "kernelwright-out" / "swish" / "kernel.cpp").read_text()
    program = _head_program(text)
    program_file = place / "swish_program.py"
    program_file.write_text(program)
    checked = command_without_store(place, "dsl", "check", str(program_file), "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["ok"] is True
    shown = command(place, "runs", "show", report["run"]["run_id"])
    assert shown.returncode == 0, shown.stderr
    assert "route=dsl" in shown.stdout


def _head_program(text: str) -> str:
    """Return the program in the comment that a printed kernel starts with."""
    head = list(itertools.takewhile(lambda line: line.startswith("//"), text.splitlines()))
    lines = [line.removeprefix("//").removeprefix(" ") for line in head]
    start = lines.index("import kernelwright.language as tl")
    end = next(n for n, line in enumerate(lines) if line.startswith("    return"))
    return "\n".join(lines[start : end + 1]) + "\n"


def command_without_store(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=place, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.usefixtures("report")
def test_a_finished_run_prints_its_result_again(report: dict[str, Any], place: Path) -> None:
    again = command(place, "solve", "softmax.py", "--budget", "2", "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout) == report


def test_kill_9_loses_no_finished_rollout_and_the_same_command_goes_on(place: Path) -> None:
    arguments = ["solve", "softmax.py", "--budget", "4", "--seed", "5", "--out", "killed"]
    process = subprocess.Popen(
        [*COMMAND, *arguments, *_store(place)],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    store = SqliteStore(place / "store.db")
    try:
        deadline = time.monotonic() + 240
        while len(_rollouts(store)) < 2:
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kept = _rollouts(store)
        done = command(place, *arguments, "--json")
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
    finally:
        store.close()
    assert len(report["rollouts"]) == 4
    assert [row["candidate"] for row in report["rollouts"]][: len(kept)] == kept


def _rollouts(store: SqliteStore) -> list[str]:
    runs = [run for run in store.runs() if run.seed == 5]
    if not runs:
        return []
    history = store.history(runs[0].run_id)
    return [rollout.candidate.candidate_id for rollout in history.rollouts]
