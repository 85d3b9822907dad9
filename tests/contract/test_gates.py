"""The gates that can run here keep the contract; the audit needs a model and has its own tests."""

from __future__ import annotations

import random
import time

import pytest

from contract.cpu_candidates import BYPASSING, GOOD, IDLE_WHEN_TIMED, UNCOMPILABLE, WRONG
from kernelwright.backends.cpu.backend import CpuBackend
from kernelwright.core.candidate import Candidate
from kernelwright.core.ports import Evidence, Gate, Subject
from kernelwright.tasks.oracle import TaskOracle
from kernelwright.testing import GateCase, GateContract
from kernelwright.verify.compile import CompileGate
from kernelwright.verify.correctness import CorrectnessGate
from kernelwright.verify.latency import LatencyGate
from kernelwright.verify.policy import Policy
from kernelwright.verify.screen import ScreenGate
from kernelwright.verify.timing import TimingPlan

CLOCK = time.perf_counter


class CpuGateContract(GateContract):
    """The contract, for a gate and two candidates of the softmax task."""

    is_built = True
    good = GOOD
    bad: Candidate

    def gate(self) -> Gate:
        raise NotImplementedError

    @pytest.fixture
    def case(self, backend: CpuBackend, oracle: TaskOracle) -> GateCase:
        def seen(candidate: Candidate) -> tuple[Subject, Evidence]:
            subject = Subject(oracle.task, candidate, backend, oracle)
            if not self.is_built:
                return subject, Evidence()
            return subject, CompileGate(clock=CLOCK).check(subject, Evidence())[1]

        return GateCase(self.gate(), seen(self.good), seen(self.bad))


class TestScreenGate(CpuGateContract):
    is_built = False
    bad = BYPASSING

    def gate(self) -> Gate:
        return ScreenGate(clock=CLOCK)


class TestCompileGate(CpuGateContract):
    is_built = False
    bad = UNCOMPILABLE

    def gate(self) -> Gate:
        return CompileGate(clock=CLOCK)


class TestCorrectnessGate(CpuGateContract):
    bad = WRONG

    def gate(self) -> Gate:
        return CorrectnessGate(Policy(), source=random.Random(1), clock=CLOCK)


@pytest.mark.long
class TestLatencyGate(CpuGateContract):
    bad = IDLE_WHEN_TIMED

    def gate(self) -> Gate:
        return LatencyGate(Policy(), plan=TimingPlan(), source=random.Random(1), clock=CLOCK)
