"""Tasks: KernelBench-format files as data, and the oracle that answers for their reference.

Nothing here imports PyTorch: a task's code, and every tensor, lives in a sandboxed process.
"""

from __future__ import annotations

from kernelwright.tasks.describe import describe
from kernelwright.tasks.load import LoadOptions, load_task
from kernelwright.tasks.oracle import TaskOracle
from kernelwright.tasks.process import WARM
from kernelwright.tasks.suite import Entry, Listed, Suite, list_tasks, load_suite

__all__ = [
    "WARM",
    "Entry",
    "Listed",
    "LoadOptions",
    "Suite",
    "TaskOracle",
    "describe",
    "list_tasks",
    "load_suite",
    "load_task",
]
