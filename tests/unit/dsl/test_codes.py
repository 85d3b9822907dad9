"""The table of codes, and what says it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kernelwright.dsl
from kernelwright.dsl import CODES, explain

CODE = re.compile(r"\"([EW]\d{3})\"")
AT_RUN_TIME = {"E801", "E802", "E803", "E901", "E902", "E702"}


def test_every_code_that_is_said_is_explained_and_the_other_way_round() -> None:
    folder = Path(kernelwright.dsl.__file__).parent
    said = {
        code
        for path in folder.rglob("*.py")
        if path.name != "codes.py"
        for code in CODE.findall(path.read_text())
    }
    assert said <= CODES.keys()
    assert CODES.keys() - said <= AT_RUN_TIME


@pytest.mark.parametrize("code", sorted(CODES))
def test_an_explanation_has_the_title_and_the_rule(code: str) -> None:
    text = explain(code.lower())
    assert text.startswith(f"{code}: {CODES[code].title}\n\n{CODES[code].rule}")


def test_an_unknown_code_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        explain("E999")


def test_the_explanation_of_an_unknown_primitive_lists_the_known_ones() -> None:
    assert "tl.cumprod" in explain("E100")
