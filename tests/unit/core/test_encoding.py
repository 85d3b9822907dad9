"""Corners of writing records as JSON; the properties are in `tests/property/core`."""

from __future__ import annotations

import pytest

from kernelwright.core import encode
from kernelwright.core.budget import Budget, Usage
from kernelwright.core.encode import from_json, to_json
from kernelwright.core.errors import RecordUnreadable
from kernelwright.core.fingerprint import Json
from kernelwright.core.verdict import GateName, GateReport, GateStatus


@pytest.mark.parametrize("odd", ["nan", "inf", "-inf"])
def test_numbers_that_json_lacks_survive_in_records(odd: str) -> None:
    again = from_json(Usage, to_json(Usage(seconds=float(odd))))
    assert str(again.seconds) == odd


def test_what_is_no_record_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="no part of a record"):
        to_json(object())


def test_a_boolean_is_not_a_number() -> None:
    written = to_json(Budget(rollouts=1))
    assert isinstance(written, dict)
    with pytest.raises(RecordUnreadable):
        from_json(Budget, {**written, "rollouts": True})


def test_an_older_record_is_migrated_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    written = to_json(Budget(rollouts=3))
    assert isinstance(written, dict)
    first = {**written, "rounds": written["rollouts"]}
    del first["rollouts"]

    def renamed(fields: dict[str, Json]) -> dict[str, Json]:
        return {"rollouts" if name == "rounds" else name: fields[name] for name in fields}

    def doubled(fields: dict[str, Json]) -> dict[str, Json]:
        count = fields["rollouts"]
        assert isinstance(count, int)
        return {**fields, "rollouts": 2 * count}

    monkeypatch.setattr(encode, "VERSIONS", {"Budget": 3})
    monkeypatch.setattr(encode, "MIGRATIONS", {("Budget", 1): renamed, ("Budget", 2): doubled})
    assert from_json(Budget, first) == Budget(rollouts=6)
    assert to_json(Budget(rollouts=6)) == {**written, "record_version": 3, "rollouts": 6}


def test_a_newer_record_names_the_version_it_needs() -> None:
    written = to_json(Budget())
    assert isinstance(written, dict)
    with pytest.raises(RecordUnreadable, match=r"version 7(.|\n)*fix: upgrade kernelwright"):
        from_json(Budget, {**written, "record_version": 7})


def test_a_gate_report_from_before_faults_is_read_without_any() -> None:
    report = GateReport(GateName.COMPILE, GateStatus.PASSED, wall_s=0.5)
    written = to_json(report)
    assert isinstance(written, dict)
    old = {name: value for name, value in written.items() if name != "faults"}
    assert from_json(GateReport, {**old, "record_version": 1}) == report
