"""The table of fault codes, which people and models read."""

from __future__ import annotations

from tests.emulator.core.test_fault_classes import CASES

from kernelwright.emulator.fault_table import fault_table


def test_every_code_says_its_rule_and_how_to_mend_it():
    rules = fault_table()
    assert len(rules) > 60
    assert all(rule.title and rule.rule and rule.mend for rule in rules.values())


def test_a_case_has_the_severity_of_the_table():
    rules = fault_table()
    assert {case.code: case.severity for case in CASES} == {
        case.code: rules[case.code].severity for case in CASES
    }
