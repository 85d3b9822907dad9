"""What a store keeps when processes die or work at the same time."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from kernelwright.memory.memory import ValueDrivenMemory
from kernelwright.store.location import open_store
from kernelwright.testing.samples import a_run, equal_views, some_rollouts

APPENDING = Path(__file__).parent / "appending.py"
KILLS = 10


def appending(database: Path, run_id: str, *, seed: int, count: int) -> subprocess.Popen[str]:
    arguments = [str(database), run_id, str(seed), str(count)]
    return subprocess.Popen(
        [sys.executable, str(APPENDING), *arguments], stdout=subprocess.PIPE, text=True
    )


def test_killing_a_writer_at_any_moment_loses_no_acknowledged_rollout(tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    rng = random.Random(1)
    acknowledged = -1
    for _ in range(KILLS):
        writer = appending(database, "run-a", seed=5, count=300)
        assert writer.stdout is not None
        # The first line shows that it is in the middle of appending; kill it some lines later.
        for _ in range(rng.randint(1, 12)):
            acknowledged = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().split("\n")
        acknowledged = max([acknowledged, *(int(line) for line in rest[:-1] if line)])
        writer.wait()
        assert writer.returncode == -signal.SIGKILL

        store = open_store(database)
        log = store.rollouts()
        assert len(log) >= acknowledged + 1, "an acknowledged rollout is gone"
        assert log == some_rollouts(a_run("run-a"), 300, seed=5)[: len(log)]
        memory = ValueDrivenMemory()
        assert equal_views(store.values(), memory.fold(log)), "half a lesson was recorded"
        assert {item.rollout_id for item in store.items()} <= {r.rollout_id for r in log}
        store.close()
        with sqlite3.connect(database) as connection:
            assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
            assert connection.execute("pragma foreign_key_check").fetchall() == []


def test_two_processes_write_one_store_without_losing_an_update(tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    # Both open a store that does not exist yet, so they also race to make it.
    writers = [appending(database, f"run-{seed}", seed=seed, count=30) for seed in (1, 2)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    store = open_store(database)
    log = store.rollouts()
    for seed in (1, 2):
        course = some_rollouts(a_run(f"run-{seed}"), 30, seed=seed)
        assert store.history(f"run-{seed}").rollouts == course
    memory = ValueDrivenMemory()
    assert equal_views(store.values(), memory.fold(log))
    assert equal_views(store.rebuild(memory.learn), memory.fold(log))
    store.close()
