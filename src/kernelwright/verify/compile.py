"""The compile gate: the backend builds the candidate in the sandbox."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from kernelwright.core.execution import Build, Failure
from kernelwright.core.ports import Evidence, Subject
from kernelwright.core.verdict import GateName, GateReport, GateStatus
from kernelwright.verify.policy import Stopwatch


class CompileGate:
    """Fails a candidate with the compiler's own words.

    Args:
        clock: Seconds, rising.
    """

    name = GateName.COMPILE

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock

    def check(self, subject: Subject, evidence: Evidence) -> tuple[GateReport, Evidence]:
        """Build the candidate and keep the build for the gates that follow.

        Raises:
            ToolchainMissing: if this machine has no toolchain for the backend.
        """
        stopwatch = Stopwatch(self._clock)
        built = subject.backend.build(subject.candidate)
        if isinstance(built, Failure):
            report = GateReport(
                self.name,
                GateStatus.FAILED,
                reason=built.reason,
                category=built.category,
                wall_s=stopwatch.total_s,
            )
            return report, evidence
        report = GateReport(
            self.name, GateStatus.PASSED, details=_details(built), wall_s=stopwatch.total_s
        )
        return report, dataclasses.replace(evidence, build=built)


def _details(build: Build) -> tuple[tuple[str, str], ...]:
    source = "cache" if build.is_cached else f"{build.wall_s:.3f} s"
    return (*build.toolchain, *build.facts, ("built", source))
