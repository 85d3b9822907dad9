"""One warm sandbox and one small task for all contracts that run code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.backends.cpu.backend import CpuBackend
from kernelwright.core.task import Task
from kernelwright.sandbox import Sandbox
from kernelwright.tasks.load import load_task
from kernelwright.tasks.oracle import TaskOracle

ROWS, COLUMNS = 32, 200

SOFTMAX = f'''"""Softmax over rows."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


rows = {ROWS}
columns = {COLUMNS}


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
'''


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as warm:
        yield warm


@pytest.fixture(scope="session")
def backend(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> CpuBackend:
    return CpuBackend(sandbox, cache_folder=tmp_path_factory.mktemp("cpu"))


@pytest.fixture(scope="session")
def task(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Task:
    path: Path = tmp_path_factory.mktemp("tasks") / "softmax.py"
    path.write_text(SOFTMAX)
    return load_task(path, sandbox=sandbox)


@pytest.fixture(scope="session")
def oracle(task: Task, sandbox: Sandbox) -> Iterator[TaskOracle]:
    with TaskOracle(task, sandbox=sandbox) as opened:
        yield opened
