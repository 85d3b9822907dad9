"""The timing model built alone, and short ways to ask it."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.emulator.targets import configure, load_chip
from kernelwright.emulator.timing_stream import Launch, Stream, play, runtime_sources

Report = dict[str, object]
Simulate = Callable[..., Report]


@pytest.fixture(scope="session")
def timing_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    target = tmp_path_factory.mktemp("timing") / "libtiming.so"
    command = ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-o", str(target)]
    subprocess.run([*command, *map(str, runtime_sources())], check=True)
    return ctypes.CDLL(str(target))


@pytest.fixture
def simulate(timing_library: ctypes.CDLL) -> Simulate:
    """Simulate a stream on every block of a launch, on a 910B2; blocks lie 64 MiB apart."""
    configure(timing_library, load_chip("910B2"))

    def run(stream: Stream, launch: Launch | None = None, apart: int = 1 << 26) -> Report:
        return dict(
            play(
                timing_library,
                launch or Launch(),
                lambda _: stream,
                lambda block: (1 << 34) + block * apart,
            )
        )

    return run


def inside_us(report: Report) -> float:
    """Time of the cores, without the launch."""
    return float(report["duration_us"]) - float(report["launch_us"])  # type: ignore[arg-type]


def published_module(name: str) -> Path:
    """A file of the benchmark that compares the model with published rows."""
    return Path(__file__).parents[3] / "benchmarks" / name
