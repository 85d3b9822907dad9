"""Children that find torch imported are fast to start and compute as the machine does outside."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from kernelwright.sandbox import Cause, ChildFailed, Limits, Sandbox


@pytest.fixture(scope="module")
def outside() -> tuple[str, float]:
    """Vector capability of torch outside a sandbox, and the seconds that importing it takes."""
    code = "import torch; print(torch.backends.cpu.get_cpu_capability())"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip(), time.perf_counter() - start


@pytest.fixture(scope="module")
def warm() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


def test_torch_dispatches_to_the_same_vector_capability_inside(
    warm: Sandbox, workdir: Path, outside: tuple[str, float]
) -> None:
    with warm.start("sandbox_guests:capability", workdir=workdir, limits=Limits()) as child:
        inside, _ = child.call({}, timeout_s=30.0)
    assert inside["capability"] == outside[0] != "DEFAULT"
    assert inside["threads"] == 1
    assert inside["modules"] is True
    assert abs(float(str(inside["sum"])) - 64) < 1e-3


def test_a_warm_child_starts_many_times_faster_than_torch_can_be_imported(
    warm: Sandbox, workdir: Path, outside: tuple[str, float]
) -> None:
    def seconds() -> float:
        start = time.perf_counter()
        with warm.start("sandbox_guests:echo", workdir=workdir, limits=Limits()) as child:
            child.call({}, timeout_s=20.0)
        return time.perf_counter() - start

    seconds()
    assert median(seconds() for _ in range(9)) < outside[1] / 5


def test_a_tensor_over_the_limit_fails_for_want_of_memory(warm: Sandbox, workdir: Path) -> None:
    limits = Limits(memory_bytes=4 << 30)
    with (
        warm.start("sandbox_guests:bloat", workdir=workdir, limits=limits) as child,
        pytest.raises(ChildFailed) as caught,
    ):
        child.call({"bytes": 6 << 30}, timeout_s=30.0)
    assert caught.value.cause is Cause.MEMORY


def test_a_tensor_within_the_limit_fits_beside_torch_itself(warm: Sandbox, workdir: Path) -> None:
    limits = Limits(memory_bytes=512 << 20)
    with warm.start("sandbox_guests:bloat", workdir=workdir, limits=limits) as child:
        answer, _ = child.call({"bytes": 320 << 20}, timeout_s=30.0)
    assert answer == {"bytes": 320 << 20}


def test_two_children_share_nothing_that_one_of_them_changes(warm: Sandbox, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    code = "import torch; torch.allclose = lambda *a: True; torch.manual_seed(1)"
    with (
        warm.start("sandbox_guests:shell", workdir=folders[0], limits=Limits()) as one,
        warm.start("sandbox_guests:shell", workdir=folders[1], limits=Limits()) as two,
    ):
        one.call({"code": code}, timeout_s=20.0)
        check = "import torch; answer = torch.allclose(torch.zeros(1), torch.ones(1))"
        assert one.call({"code": check}, timeout_s=20.0)[0]["answer"] is True
        assert two.call({"code": check}, timeout_s=20.0)[0]["answer"] is False
