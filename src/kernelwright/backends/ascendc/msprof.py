"""Profiles of a real chip: three passes of the vendor's profiler, read and averaged.

As in EvoKernel, appendix F.2: passes with the metrics PipeUtilization, Memory and
ResourceConflict; the time is the mean of the column `Computing` of `step_trace_time.csv`, the
metrics are those of `kernel_details.csv`.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.errors import MachineLacks

PASSES = ("PipeUtilization", "Memory", "ResourceConflict")
STEP_FILE = "step_trace_time.csv"
KERNEL_FILE = "kernel_details.csv"
_LABELS = frozenset({"Name", "Type", "Step Id", "Accelerator Core", "Device_id"})
_SUMMED = ("Duration(us)",)


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass of the profiler said.

    Attributes:
        metrics: Which metrics it gathered, one of `PASSES`.
        computing_us: Time on the chip of one step, in microseconds.
        kernels: For each kernel its columns that are numbers.
    """

    metrics: str
    computing_us: float
    kernels: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Passes:
    """The passes together.

    Attributes:
        mean_us: Mean time of a step over the passes.
        std_us: Its standard deviation over the passes.
        kernels: For each kernel, every metric of any pass; a metric of several is averaged.
    """

    mean_us: float
    std_us: float
    kernels: Mapping[str, Mapping[str, float]]


def read_pass(folder: Path, metrics: str) -> Pass:
    """Read one pass from the profiler's output folder, wherever below it the files lie.

    Raises:
        MachineLacks: if the profiler wrote no times.
    """
    steps = _rows(folder, STEP_FILE)
    times = [float(row["Computing"]) for row in steps if _is_number(row.get("Computing"))]
    if not times:
        raise MachineLacks(
            f"the profiler wrote no column Computing in {STEP_FILE} ({metrics})",
            fix="check that msprof works on this machine: run a sample with torch_npu.profiler",
        )
    kernels: dict[str, dict[str, float]] = {}
    counts: dict[str, int] = {}
    for row in _rows(folder, KERNEL_FILE):
        name = row.get("Name", "")
        numbers = {k: float(v) for k, v in row.items() if k not in _LABELS and _is_number(v)}
        counts[name] = counts.get(name, 0) + 1
        total = kernels.setdefault(name, {})
        for column, value in numbers.items():
            total[column] = total.get(column, 0.0) + value
    averaged = {
        name: {
            column: value if column in _SUMMED else value / counts[name]
            for column, value in columns.items()
        }
        for name, columns in kernels.items()
    }
    return Pass(metrics, statistics.fmean(times), averaged)


def together(passes: Sequence[Pass]) -> Passes:
    """Average passes.

    Raises:
        ValueError: if there is none.
    """
    times = [item.computing_us for item in passes]
    gathered: dict[str, dict[str, list[float]]] = {}
    for item in passes:
        for name, columns in item.kernels.items():
            for column, value in columns.items():
                gathered.setdefault(name, {}).setdefault(column, []).append(value)
    kernels = {
        name: {column: statistics.fmean(values) for column, values in columns.items()}
        for name, columns in gathered.items()
    }
    return Passes(
        mean_us=statistics.fmean(times),
        std_us=statistics.pstdev(times) if len(times) > 1 else 0.0,
        kernels=kernels,
    )


def _rows(folder: Path, name: str) -> Iterable[dict[str, str]]:
    for file in sorted(folder.rglob(name)):
        with file.open(newline="", encoding="utf-8", errors="replace") as opened:
            yield from csv.DictReader(opened)


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True
