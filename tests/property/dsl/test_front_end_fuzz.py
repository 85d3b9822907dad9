"""Mutated programs: whatever the text, a result; whatever is accepted, printable and lowerable."""

from __future__ import annotations

import random

import pytest

from kernelwright.dsl import (
    CODES,
    CheckResult,
    Severity,
    apply_fix,
    check_source,
    legalised,
    parse,
    print_program,
)
from kernelwright.dsl.invariants import check_annotated, check_legal
from support.dsl_fuzz.mutate import TOKENS, mutated_line, mutated_token
from support.dsl_programs import ACCEPTED, ILL_FORMED

SOURCES = [path.read_text() for path in ACCEPTED]
ODD = ["-", "(", ")", ":", "\n", "while", "*", "**", "'", "\x00", "é", "10**10", "1e400", "[:]",
       "None", "not", "lambda x: x", '"f32[N]"', "...", "tl.min()", "\udc80", "yield"]  # fmt: skip


def broken_token(rng: random.Random, text: str) -> str:
    """Put something odd in, or take something out."""
    tokens = TOKENS.findall(text)
    place = rng.randrange(len(tokens))
    tokens[place : place + rng.randrange(4)] = [rng.choice(ODD)]
    return "".join(tokens)


def mutant(rng: random.Random) -> str:
    """One program, changed once to three times."""
    text = rng.choice(SOURCES)
    for _ in range(rng.choice([1, 1, 2, 3])):
        act = rng.choices([mutated_token, mutated_line, broken_token], [7, 2, 1])[0]
        text = act(rng, text)
    return text


def check_accepted(result: CheckResult) -> None:
    """What must hold of any accepted program."""
    program = result.program
    assert program is not None
    text = print_program(program)
    assert parse(text).program == program, text
    again = check_source(text)
    assert again.is_ok, f"{text}\n{again.to_text()}"
    for kernel in program.kernels:
        check_annotated(kernel)
        check_legal(legalised(kernel))


def check_refused(text: str, result: CheckResult) -> None:
    """What must hold of any refusal."""
    errors = [item for item in result.diagnostics if item.severity is Severity.ERROR]
    assert 1 <= len(errors) <= 5
    lines = text.count("\n") + 1
    for item in result.diagnostics:
        assert item.code in CODES
        assert item.what
        assert 1 <= item.at.line <= lines
        if item.fix:
            after = check_source(apply_fix(text, item.fix))
            said = [one.what for one in after.diagnostics if one.code == "E100"]
            assert not any("not Python" in what for what in said), (item, text)
    assert result.to_text()
    assert result.to_json()["ok"] is False


@pytest.mark.parametrize("seed", range(8))
def test_a_mutated_program_is_accepted_and_lowers_or_is_refused_with_a_code(seed: int) -> None:
    rng = random.Random(seed)
    accepted = 0
    for _ in range(60):
        text = mutant(rng)
        result = check_source(text)
        if result.is_ok:
            accepted += 1
            check_accepted(result)
        else:
            check_refused(text, result)
    assert accepted >= 3, "the mutations are too violent to test anything but the parser"


def test_the_sources_of_the_mutants_include_every_kind_of_program() -> None:
    assert len(SOURCES) >= 25
    assert len(ILL_FORMED) >= 30
