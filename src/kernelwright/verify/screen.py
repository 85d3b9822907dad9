"""The screen gate: the backend's static rules, before anything is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernelwright.core.execution import Finding
from kernelwright.core.ports import Evidence, Subject
from kernelwright.core.verdict import Category, GateName, GateReport, GateStatus
from kernelwright.verify.policy import Stopwatch, joined

FORMAT_RULES = frozenset({"format", "missing-part", "syntax"})
"""Rules whose violation is a malformed answer and not an attempt to avoid the work."""


class ScreenGate:
    """Fails a candidate with every finding, so that one answer can mend them all.

    Args:
        clock: Seconds, rising.
    """

    name = GateName.SCREEN

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock

    def check(self, subject: Subject, evidence: Evidence) -> tuple[GateReport, Evidence]:
        """Judge the candidate's text."""
        stopwatch = Stopwatch(self._clock)
        findings = subject.backend.screen(subject.candidate, subject.task)
        if not findings:
            details = (("parts", joined(path for path, _ in subject.candidate.parts)),)
            report = GateReport(
                self.name, GateStatus.PASSED, details=details, wall_s=stopwatch.total_s
            )
            return report, evidence
        report = GateReport(
            self.name,
            GateStatus.FAILED,
            reason="\n".join(_line(finding) for finding in findings),
            category=_category(findings),
            details=(("rules", joined(sorted({finding.rule for finding in findings}))),),
            wall_s=stopwatch.total_s,
        )
        return report, evidence


def _line(finding: Finding) -> str:
    return f"[{finding.rule}] {finding.path}:{finding.line}: {finding.message}"


def _category(findings: Sequence[Finding]) -> Category:
    is_format = all(finding.rule.split(":")[0] in FORMAT_RULES for finding in findings)
    return Category.FORMAT if is_format else Category.HACK
