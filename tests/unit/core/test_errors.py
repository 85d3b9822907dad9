"""Errors say what happened and what to do about it, in two lines."""

from __future__ import annotations

import inspect

from kernelwright.core import errors
from kernelwright.core.errors import (
    KernelwrightError,
    MachineLacks,
    TaskInvalid,
    UsageMistake,
)

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, KernelwrightError)
]


def test_an_error_prints_what_and_fix_on_two_lines() -> None:
    assert str(UsageMistake("x is missing", fix="make x")) == "x is missing\nfix: make x"


def test_a_fault_in_a_task_points_at_its_line() -> None:
    error = TaskInvalid("no Model", path="a.py", line=3, fix="define one")
    assert str(error) == "a.py:3: no Model\nfix: define one"
    assert str(TaskInvalid("empty", path="a.py", fix="fill it")).startswith("a.py: empty")


def test_exit_codes_tell_users_mistakes_from_what_the_machine_lacks() -> None:
    assert UsageMistake("", fix="").exit_code == 2
    assert MachineLacks("", fix="").exit_code == 3
    assert {kind.exit_code for kind in KINDS} <= {1, 2, 3}


def test_every_kind_of_error_has_a_description_of_its_own() -> None:
    assert len({kind.__doc__ for kind in KINDS}) == len(KINDS)
