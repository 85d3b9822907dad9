"""Golden files: diagnostics as a reader sees them, and programs as they print."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernelwright.dsl import check_file, check_source, legalised, print_kernel, print_program
from support.dsl_programs import EXAMPLES, ILL_FORMED, WELL_FORMED

SHOWN = ["whole_tile_at_the_tail", "temporaries_count", "loaded_and_stored", "arithmetic_in_bf16",
         "no_core_loop", "shifted_window", "extent_changes_in_a_loop"]  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_a_diagnostic_shows_the_line_the_numbers_the_rule_and_the_fix(
    golden: Any, name: str
) -> None:
    path = next(path for path in ILL_FORMED if path.stem == name)
    result = check_source(path.read_text(), file=path.name)
    golden.check(f"dsl/diagnostic_{name}.txt", result.to_text() + "\n")


def test_a_diagnostic_in_json(golden: Any) -> None:
    path = next(path for path in ILL_FORMED if path.stem == "whole_tile_at_the_tail")
    result = check_source(path.read_text(), file=path.name)
    golden.check("dsl/diagnostic.json", json.dumps(result.to_json(), indent=2) + "\n")


@pytest.mark.parametrize("name", ["inline_functions", "column_tiles"])
def test_a_program_prints(golden: Any, name: str) -> None:
    program = check_file(next(path for path in WELL_FORMED if path.stem == name)).program
    assert program is not None
    golden.check(f"dsl/print_{name}.txt", print_program(program))


def test_a_legal_kernel_prints(golden: Any) -> None:
    program = check_file(next(path for path in EXAMPLES if path.stem == "gelu")).program
    assert program is not None
    golden.check("dsl/legal_gelu.txt", print_kernel(legalised(program.kernels[0]).kernel))
