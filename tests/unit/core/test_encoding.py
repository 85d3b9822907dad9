"""Corners of writing records as JSON; the properties are in `tests/property/core`."""

from __future__ import annotations

import pytest

from kernelwright.core.budget import Budget, Usage
from kernelwright.core.encode import from_json, to_json
from kernelwright.core.errors import RecordUnreadable


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
