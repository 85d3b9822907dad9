"""The printed C++ of each template, small enough to be reviewed."""

from __future__ import annotations

from typing import Any

import pytest

from kernelwright.synth.constructor import constructor_of
from kernelwright.synth.model_source import model_source
from kernelwright.synth.route import Routes
from kernelwright.synth.schedule import space_of
from kernelwright.synth.source import kernel_source

from .reference_tasks import TASKS
from .running import ENTRY, program_of

CASES = {
    "map": ("gelu", {}),
    "map_broadcast": ("chain", {}),
    "row_reduction": ("sum_2", {}),
    "row_softmax": ("softmax", {}),
    "row_softmax_online": ("softmax", {"passes": "online", "stream": "yes"}),
    "row_layernorm_online": ("layernorm", {"passes": "online"}),
    "row_place": ("max_last", {}),
    "columns_reduction": ("max_both", {}),
    "columns_norm": ("rmsnorm_columns", {}),
    "whole_loss": ("mse_loss", {}),
    "two_kernels": ("cross_entropy", {}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_template_prints_what_was_reviewed(case: str, golden: Any) -> None:
    name, choices = CASES[case]
    program = program_of(TASKS[name])
    schedule = space_of(program).completed(choices.items())
    text = kernel_source(program, schedule, name=ENTRY)
    golden.check(f"synth/{case}.cpp.txt", text[text.index("static void part_0") :])


def test_the_module_around_a_kernel_only_checks_allocates_and_calls(golden: Any) -> None:
    program = program_of(TASKS["layernorm"])
    constructor = constructor_of(TASKS["layernorm"], needs_state=True)
    calls = Routes(program, ENTRY, ()).printed({**space_of(program).default()}).calls
    golden.check("synth/model.py.txt", model_source(program, constructor, calls=calls))
