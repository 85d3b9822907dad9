"""The CPU backend keeps the contract of a backend."""

from __future__ import annotations

import struct

import pytest

from contract.cpu_candidates import COPY, NEGATE, NEGATE_MODEL, candidate
from kernelwright.backends.cpu.backend import CpuBackend
from kernelwright.core.execution import Call
from kernelwright.core.task import Task
from kernelwright.core.tensor import Tensor
from kernelwright.testing import BackendCase, BackendContract

VALUES = [0.5, -1.25, 3.0, 0.1, 7.0, -0.75]


def floats(values: list[float]) -> Tensor:
    return Tensor("float32", (2, 3), struct.pack(f"{len(values)}f", *values))


class TestCpuBackend(BackendContract):
    @pytest.fixture
    def case(self, backend: CpuBackend, task: Task) -> BackendCase:
        return BackendCase(
            backend=backend,
            task=task,
            good=NEGATE,
            uncompilable=candidate(COPY.replace("y[i] = -x[i];", "y[i] = -x[i]"), NEGATE_MODEL),
            bypassing=candidate(COPY, NEGATE_MODEL.replace("return y", "return torch.neg(x)")),
            crashing=candidate(
                COPY.replace("y[i] =", "*(volatile int*)8 = 1, y[i] ="), NEGATE_MODEL
            ),
            call=Call(seed=0, init=(), state={}, args=(floats(VALUES),), is_training=True),
            expected=floats([-value for value in VALUES]),
        )
