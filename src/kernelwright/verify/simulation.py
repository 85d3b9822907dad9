"""The latency of a candidate that runs on an emulated device: a timing model's, never measured."""

from __future__ import annotations

import dataclasses
import random

from kernelwright.core.errors import MachineLacks
from kernelwright.core.execution import Build, Call, Failure, Returned
from kernelwright.core.ports import Evidence, Subject
from kernelwright.core.verdict import GateName, GateReport, GateStatus, Latency, LatencySource
from kernelwright.verify.plan import official_workload
from kernelwright.verify.policy import Stopwatch
from kernelwright.verify.trials import worded


def simulated(
    subject: Subject, evidence: Evidence, *, source: random.Random, stopwatch: Stopwatch
) -> tuple[GateReport, Evidence]:
    """Take the latency of one official call from the backend's timing model.

    There is no baseline and no ratio: a model's time and a measured time are not comparable.

    Raises:
        ValueError: if nothing was built.
        MachineLacks: if the backend says that it simulates, but gives no time.
    """
    if evidence.build is None:
        raise ValueError("the latency gate needs a build")
    returned = _called(subject, evidence.build, subject.oracle.call(official_workload(source)))
    if isinstance(returned, Failure):
        failure = worded(returned, "Timed run", stopwatch.total_s)
        report = GateReport(
            GateName.LATENCY,
            GateStatus.FAILED,
            reason=failure.reason,
            category=failure.category,
            wall_s=stopwatch.total_s,
            faults=failure.faults,
        )
        return report, evidence
    profile = returned.profile
    if profile is None or not profile.simulated:
        raise MachineLacks(
            f"the backend {subject.backend.name} simulates, but gave no time of the call",
            fix="upgrade the backend: its Module.run must return a simulated profile",
        )
    latency = Latency(
        profile.duration_us, profile.duration_us, 0.0, LatencySource.SIMULATED, profile.tool
    )
    report = GateReport(
        GateName.LATENCY,
        GateStatus.PASSED,
        details=(("source", f"simulated by {profile.tool}"),),
        wall_s=stopwatch.total_s,
    )
    return report, dataclasses.replace(evidence, latency=latency, profile=profile)


def _called(subject: Subject, build: Build, call: Call) -> Returned | Failure:
    with subject.backend.open(build) as module:
        transfer = module.construct(call)
        return transfer if isinstance(transfer, Failure) else module.run(call.args)
