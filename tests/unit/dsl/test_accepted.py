"""Programs of every kind are accepted, printed back, annotated and legalised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.dsl import (
    CheckResult,
    check_file,
    check_program,
    check_source,
    legalised,
    parse,
    print_program,
    specialised,
)
from kernelwright.dsl.check.binding import bindings_of
from kernelwright.dsl.invariants import InvariantBroken, check_annotated, check_legal
from kernelwright.dsl.nodes import ConstParam, Kernel
from support.dsl_programs import ACCEPTED, EXAMPLES


def accepted(path: Path) -> CheckResult:
    result = check_file(path)
    assert result.program is not None, result.to_text()
    return result


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_a_printed_program_parses_to_the_same_tree(path: Path) -> None:
    program = parse(path.read_text()).program
    assert program is not None
    text = print_program(program)
    again = parse(text).program
    assert again == program
    assert print_program(again) == text


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_every_operand_of_an_accepted_program_has_an_extent(path: Path) -> None:
    program = accepted(path).program
    assert program is not None
    for kernel in program.kernels:
        check_annotated(kernel)
    parsed = parse(path.read_text()).program
    assert parsed is not None
    with pytest.raises(InvariantBroken):
        check_annotated(parsed.kernels[0])


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_a_legal_kernel_is_itself_an_accepted_program(path: Path) -> None:
    program = accepted(path).program
    assert program is not None
    for kernel in program.kernels:
        legal = legalised(kernel)
        check_legal(legal)
        values = bindings_of(program, kernel)[0].values
        params = tuple(
            replace(param, default=values[param.name.text])
            if isinstance(param, ConstParam)
            else param
            for param in kernel.params
        )
        again: Kernel = replace(legal.kernel, params=params)
        result = check_program(replace(program, kernels=(again,), hosts=()))
        assert result.is_ok, result.to_text()


@pytest.mark.parametrize("tile", [64, 192, 1024])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_accepted_under_other_schedules(path: Path, tile: int) -> None:
    program = accepted(path).program
    assert program is not None
    values = {"TILE": tile, "K": 5, "P": 2}
    for kernel in program.kernels:
        consts = {param.name.text: values[param.name.text] for param in kernel.consts}
        checked = specialised(kernel, consts)
        assert checked.is_ok, checked.diagnostics
        check_annotated(checked.kernel)


def test_a_schedule_that_does_not_fit_is_refused() -> None:
    program = accepted(EXAMPLES[0]).program
    assert program is not None
    checked = specialised(program.kernels[0], {"TILE": 1 << 20})
    assert [item.code for item in checked.diagnostics] == ["E301"]


def test_a_store_of_one_core_may_stand_under_a_longer_condition() -> None:
    path = next(path for path in ACCEPTED if path.stem == "full_sum_through_a_workspace")
    text = path.read_text().replace("if tl.core_id() == 0:", "if N > 1 and tl.core_id() == 0:")
    assert check_source(text).is_ok
    several = text.replace("tl.core_id() == 0", "tl.core_id() < 2")
    assert {item.code for item in check_source(several).diagnostics} == {"E501"}
