"""Programs that are refused, each for one reason, and the fixes that mend them.

A file marks the line at fault with `# <- CODE`, and with `# <- CODE fixable` where the diagnostic
carries a fix that makes the program accepted.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.dsl import CODES, Severity, apply_fix, check_source
from support.dsl_programs import ILL_FORMED

FILES = ILL_FORMED
MARK = re.compile(r"# <- (E\d{3})( fixable)?")


def expected(text: str) -> tuple[str, int, bool]:
    for number, line in enumerate(text.split("\n"), start=1):
        match = MARK.search(line)
        if match:
            return match[1], number, match[2] is not None
    raise AssertionError("the file marks no line")


def test_there_are_enough_ill_formed_programs_and_fixes() -> None:
    marks = [expected(path.read_text()) for path in FILES]
    assert len(marks) >= 30
    assert sum(is_fixable for _, _, is_fixable in marks) >= 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_ill_formed_program_gets_one_error_that_names_its_cause_and_line(path: Path) -> None:
    text = path.read_text()
    code, line, _ = expected(text)
    result = check_source(text, file=path.name)
    errors = [item for item in result.diagnostics if item.severity is Severity.ERROR]
    assert [(item.code, item.at.line) for item in errors] == [(code, line)], result.to_text()
    assert not result.is_ok
    assert code in CODES
    assert errors[0].why or code == "E100"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_fix_makes_the_program_accepted(path: Path) -> None:
    text = path.read_text()
    _, _, is_fixable = expected(text)
    diagnostic = check_source(text).diagnostics[0]
    if not is_fixable:
        assert not diagnostic.fix, diagnostic.fix
        return
    fixed = apply_fix(text, diagnostic.fix)
    result = check_source(fixed)
    assert result.is_ok, f"{fixed}\n{result.to_text()}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_diagnostics_are_the_same_in_text_and_json(path: Path) -> None:
    result = check_source(path.read_text(), file=path.name)
    payload = result.to_json()
    assert payload["ok"] is False
    for item, entry in zip(result.diagnostics, payload["diagnostics"], strict=True):  # type: ignore[arg-type]
        assert isinstance(entry, dict)
        assert {"code", "severity", "file", "line", "col", "message", "fix"} <= entry.keys()
        assert f"{item.code} {path.name}:{item.at.line}:{item.at.col}" in result.to_text()
