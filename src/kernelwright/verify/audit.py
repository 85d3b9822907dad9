"""The audit gate: a model reads the candidate for cheats. Not built yet, and it says so."""

from __future__ import annotations

from kernelwright.core.ports import Evidence, Subject
from kernelwright.core.verdict import GateName, GateReport, GateStatus

NOT_CONFIGURED = "no model is configured to audit candidates"


class AuditGate:
    """Reports `not_run`: without a model there is no audit, and absence is never a pass."""

    name = GateName.AUDIT

    def check(self, subject: Subject, evidence: Evidence) -> tuple[GateReport, Evidence]:
        """Say that no audit took place."""
        report = GateReport(self.name, GateStatus.NOT_RUN, details=(("why", NOT_CONFIGURED),))
        return report, evidence
