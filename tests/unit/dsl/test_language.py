"""What `import kernelwright.language as tl` gives to Python."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.dsl_programs import EXAMPLES, MAP

import kernelwright.language as tl
from kernelwright.core.errors import UnknownName, UsageMistake
from kernelwright.dsl import LaunchCall
from kernelwright.dsl.builtins import BUILTINS


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_host_arithmetic_works_in_python() -> None:
    assert (tl.cdiv(10, 4), tl.align_up(10, 4), tl.align_down(10, 4)) == (3, 12, 8)
    assert (tl.min(1, 2), tl.max(1, 2), tl.abs(-1)) == (1, 2, 1)


def test_every_primitive_has_a_name_and_says_that_python_does_not_execute_it() -> None:
    for name in BUILTINS.keys() - {"min", "max", "abs", "exp", "sqrt"}:
        with pytest.raises(UsageMistake, match="parsed, not executed"):
            getattr(tl, name)()


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    with pytest.raises(UnknownName):
        _ = tl.frobnicate


def test_a_program_file_can_be_imported_and_its_host_function_launched() -> None:
    module = imported(next(path for path in EXAMPLES if path.stem == "softmax"))
    calls: list[LaunchCall] = []
    x = np.zeros((4, 10), np.float32)
    (y,) = module.softmax.run(
        x, launch=calls.append, allocate=lambda dtype, shape, is_zero: np.zeros(shape, np.float32)
    )
    assert y.shape == x.shape
    assert [call.kernel.name.text for call in calls] == ["softmax_k"]
    assert module.softmax_k.program == module.softmax.program


def test_a_program_that_is_not_accepted_is_refused_with_its_diagnostics(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(MAP.replace("c:c + n", "c:c + TILE"))
    with pytest.raises(UsageMistake, match="E303"):
        _ = imported(path).k.program
