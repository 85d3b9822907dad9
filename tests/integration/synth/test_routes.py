"""Which way each kernel is printed, and what a reader of the candidate sees of it."""

from __future__ import annotations

import pytest

from kernelwright.dsl import check_source
from kernelwright.synth.route import CPP, DSL, Routes, routes_of
from kernelwright.synth.schedule import space_of

from .reference_tasks import TASKS
from .running import ENTRY, program_of


def _routes(task: str) -> Routes:
    return routes_of(program_of(TASKS[task]), entry=ENTRY)


def _kernel(task: str, **chosen: str) -> str:
    routes = _routes(task)
    space = space_of(routes.program, routes.choices())
    return routes.printed(space.completed(chosen.items())).files["kernel.cpp"]


@pytest.mark.parametrize(
    ("task", "default"),
    [
        ("gelu", DSL),
        ("sum_0", DSL),
        ("sum_1", DSL),
        ("layernorm", DSL),
        ("l2_norm", DSL),
        ("rmsnorm", DSL),
        ("logsumexp", DSL),
        ("mse_loss", DSL),
        ("softmax", CPP),
        ("activations", CPP),
    ],
)
def test_the_default_route_is_the_one_that_was_measured_to_be_faster(
    task: str, default: str
) -> None:
    choices = _routes(task).choices()
    assert choices[0] == default
    assert set(choices) == {DSL, CPP}, "the other one stays a choice of the schedule"


@pytest.mark.parametrize("task", ["gelu", "softmax", "sum_0", "layernorm"])
def test_the_program_in_the_comment_is_a_program_that_the_checks_accept(task: str) -> None:
    comment = [
        line.removeprefix("//").removeprefix(" ")
        for line in _kernel(task, route=DSL).splitlines()
        if line.startswith("//")
    ]
    start = comment.index("import kernelwright.language as tl")
    end = next(n for n, line in enumerate(comment) if line.startswith("    return")) + 1
    checked = check_source("\n".join(comment[start:end]) + "\n")
    assert checked.is_ok, checked.to_text()


def test_the_direct_route_has_no_program_of_the_language() -> None:
    assert "import kernelwright.language" not in _kernel("gelu", route=CPP)


def test_a_choice_between_scalars_is_a_branch_of_the_program() -> None:
    assert "if v == tl.inf:" in _kernel("logsumexp", route=DSL)


def test_a_kernel_that_the_language_lacks_says_what_stops_it() -> None:
    stopped = {name: _routes(name).stopped for name in TASKS}
    lacking = {name: found for name, found in stopped.items() if found}
    assert lacking, "every task is a program of the language: find another example"
    name, found = next(iter(lacking.items()))
    text = "".join(
        _routes(name).printed({**space_of(_routes(name).program).default()}).files.values()
    )
    for place, why in found:
        assert (
            f"// Kernel {place} is written as C++ directly; the kernel language stops at: {why}"
            in text
        )
