"""Runs the gates in order and stops at the first failure; what did not run is said so."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import NotCovered
from kernelwright.core.execution import Workload
from kernelwright.core.ports import Backend, Evidence, Gate, Oracle, Subject
from kernelwright.core.verdict import (
    Category,
    Feasible,
    GateName,
    GateReport,
    GateStatus,
    Infeasible,
    Verdict,
)
from kernelwright.verify.audit import AuditGate
from kernelwright.verify.compile import CompileGate
from kernelwright.verify.correctness import CorrectnessGate
from kernelwright.verify.latency import LatencyGate
from kernelwright.verify.plan import Handover
from kernelwright.verify.policy import Policy
from kernelwright.verify.screen import ScreenGate
from kernelwright.verify.timing import TimingPlan

MAY_BE_ABSENT = frozenset({GateName.AUDIT})
"""Gates without which a candidate can be feasible (architecture.md §4)."""


class GatedVerifier:
    """Implements `core.ports.Verifier` over gates that are given in order.

    Args:
        backend: Builds and runs candidates.
        oracle: Answers for the reference of one task.
        gates: One gate of every name, in the order of `GateName`; none can be left out.

    Raises:
        ValueError: if a gate is missing, double or out of order.
    """

    def __init__(self, backend: Backend, oracle: Oracle, gates: Sequence[Gate]) -> None:
        names = [gate.name for gate in gates]
        if names != list(GateName):
            raise ValueError(f"gates must be {[name.value for name in GateName]}, got {names}")
        self._backend = backend
        self._oracle = oracle
        self._gates = tuple(gates)

    def verify(
        self, candidate: Candidate, *, on_gate: Callable[[GateName], None] | None = None
    ) -> Verdict:
        """Return the verdict on a candidate; `on_gate` hears of each gate as it starts.

        Raises:
            KernelwrightError: if this machine or the task is at fault, never the candidate.
        """
        subject = Subject(self._oracle.task, candidate, self._backend, self._oracle)
        evidence = Evidence()
        reports: list[GateReport] = []
        for gate in self._gates:
            if on_gate is not None:
                on_gate(gate.name)
            report, evidence = gate.check(subject, evidence)
            reports.append(report)
            if report.status is GateStatus.FAILED:
                return _infeasible(report, reports)
        return _feasible(evidence, tuple(reports))


def standard_verifier(
    backend: Backend,
    oracle: Oracle,
    *,
    policy: Policy | None = None,
    plan: TimingPlan | None = None,
    workloads: Sequence[Workload] = (),
    source: random.Random | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> GatedVerifier:
    """Return the verifier with the product's own five gates.

    Args:
        backend: Builds and runs candidates.
        oracle: Answers for the reference of one task.
        policy: Choices of the gates.
        plan: How long and how exactly to time.
        workloads: The plan that admission chose; empty to take the oracle's own.
        source: Source of seeds and secret choices. None takes the operating system's, which
            nothing can predict; anything else is for tests.
        clock: Seconds, rising.
    """
    rules = policy or Policy()
    secret = source or random.SystemRandom()
    handover = Handover()
    gates: tuple[Gate, ...] = (
        ScreenGate(clock=clock),
        AuditGate(),
        CompileGate(clock=clock),
        CorrectnessGate(rules, workloads=workloads, handover=handover, source=secret, clock=clock),
        LatencyGate(
            rules, plan=plan or TimingPlan(), handover=handover, source=secret, clock=clock
        ),
    )
    return GatedVerifier(backend, oracle, gates)


def _infeasible(report: GateReport, reports: Sequence[GateReport]) -> Infeasible:
    # The gates run in the order of GateName, so whatever comes after the failure did not run.
    done = len(reports)
    rest = [GateReport(name, GateStatus.NOT_RUN) for name in list(GateName)[done:]]
    return Infeasible(
        gate=report.gate,
        reason=report.reason,
        category=report.category or Category.EXCEPTION,
        gates=(*reports, *rest),
    )


def _feasible(evidence: Evidence, reports: tuple[GateReport, ...]) -> Feasible:
    absent = [
        report.gate.value
        for report in reports
        if report.status is GateStatus.NOT_RUN and report.gate not in MAY_BE_ABSENT
    ]
    if absent or evidence.latency is None:
        raise NotCovered(
            f"no verdict: {', '.join(absent) or 'latency'} did not run",
            fix="verify with a backend that can run this gate",
        )
    return Feasible(
        latency=evidence.latency,
        baseline=evidence.baseline,
        speedups=evidence.speedups,
        gates=reports,
        profile=evidence.profile,
    )
