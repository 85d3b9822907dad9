"""Two commands cannot work on one run, and a dead one does not block the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.core.errors import StoreConflict
from kernelwright.wiring.stores import claimed

HOLD = """
import sys, time
from pathlib import Path
from kernelwright.wiring.stores import claimed
with claimed(Path(sys.argv[1]), "run-1"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_run_is_held_by_one_process_and_let_go_when_it_is_killed(tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(database)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(StoreConflict, match=str(holder.pid)),
            claimed(database, "run-1"),
        ):
            pass
        with claimed(database, "run-2"):
            pass
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with claimed(database, "run-1"):
        pass
