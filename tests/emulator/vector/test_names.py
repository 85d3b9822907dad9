"""The table of what is emulated, and names that do not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.emulator.coverage import coverage, coverage_table
from kernelwright.emulator.suggest import api_names, did_you_mean, suggestions

_TESTS = Path(__file__).parents[1]


def test_every_call_marked_full_is_called_by_a_test():
    text = "\n".join(path.read_text(encoding="utf-8") for path in _TESTS.rglob("*.py"))
    untested = [
        row.name
        for row in coverage()
        if row.status == "full" and not re.search(rf'\b{row.name}(\s*[(<]|")', text)
    ]
    assert untested == []


def test_no_call_marked_absent_is_in_the_headers():
    assert [
        row.name for row in coverage() if row.status == "absent" and row.name in api_names()
    ] == []


def test_the_table_has_a_line_for_each_call():
    rows = coverage()
    assert len(coverage_table(rows).splitlines()) == len(rows) + 2


@pytest.mark.parametrize(
    ("name", "meant"),
    [("AscendC::Dup", "Duplicate"), ("Maximum", "Max("), ("Exps", "Exp("), ("Rec", "Reciprocal"),
     ("Less", "CMPMODE::LT"), ("Softmax", "SoftMax"), ("LeakyRELU", "LeakyRelu")],
)  # fmt: skip
def test_a_name_that_does_not_exist_gets_the_one_that_is_meant(name: str, meant: str):
    found = did_you_mean(name)
    assert found is not None and meant in found


def test_a_name_that_exists_gets_no_suggestion():
    assert did_you_mean("Duplicate") is None


def test_the_compilers_own_words_are_understood(complaint):
    body = '#include "kernel_operator.h"\nvoid f() { AscendC::Dup(1, 2, 3); Maximum(1, 2); }\n'
    said = suggestions(complaint(body))
    assert len(said) == 2
    assert "Duplicate" in said[0] and "Max(" in said[1]
