"""The contract of a gate."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pytest

from kernelwright.core.ports import Evidence, Gate, Subject
from kernelwright.core.verdict import GateName, GateReport, GateStatus


@dataclass(frozen=True, slots=True)
class GateCase:
    """A gate to test.

    Attributes:
        gate: The gate.
        good: A subject that passes, with what the gates before it found.
        bad: A subject that fails, with what the gates before it found.
    """

    gate: Gate
    good: tuple[Subject, Evidence]
    bad: tuple[Subject, Evidence]


class GateContract:
    """What holds for every gate; define the fixture `case`."""

    @pytest.fixture
    def case(self) -> GateCase:
        """Return the gate under test."""
        raise NotImplementedError("define the fixture `case`")

    def test_it_is_one_of_the_gates(self, case: GateCase) -> None:
        assert isinstance(case.gate.name, GateName)

    def test_a_good_subject_passes(self, case: GateCase) -> None:
        report, _ = case.gate.check(*case.good)
        assert report.status is GateStatus.PASSED, report.reason
        assert report.category is None
        assert report.reason == ""

    def test_a_bad_subject_fails_with_feedback(self, case: GateCase) -> None:
        report, _ = case.gate.check(*case.bad)
        assert report.status is GateStatus.FAILED
        assert report.category is not None
        assert report.reason.strip()

    def test_a_report_is_about_this_gate_and_says_how_long_it_took(self, case: GateCase) -> None:
        for subject, evidence in (case.good, case.bad):
            report, _ = case.gate.check(subject, evidence)
            assert report.gate is case.gate.name
            assert report.wall_s > 0.0

    def test_what_was_found_before_is_kept(self, case: GateCase) -> None:
        subject, before = case.good
        _, after = case.gate.check(subject, before)
        for field in dataclasses.fields(Evidence):
            found = getattr(before, field.name)
            if found not in (None, ()):
                assert getattr(after, field.name) == found

    def test_a_failure_adds_no_latency(self, case: GateCase) -> None:
        subject, before = case.bad
        _, after = case.gate.check(subject, before)
        assert (after.latency, after.speedups) == (before.latency, before.speedups)

    def test_it_judges_the_same_subject_the_same_way_again(self, case: GateCase) -> None:
        for subject, evidence in (case.good, case.bad):
            first, _ = case.gate.check(subject, evidence)
            second, _ = case.gate.check(subject, evidence)
            assert _judgement(first) == _judgement(second)


def _judgement(report: GateReport) -> tuple[object, ...]:
    return report.gate, report.status, report.category
