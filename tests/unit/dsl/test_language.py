"""What `import kernelwright.language as tl` gives to Python."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import kernelwright.language as tl
from kernelwright.core.errors import UnknownName, UsageMistake
from kernelwright.dsl import LaunchCall
from kernelwright.dsl.builtins import BUILTINS
from support.dsl_programs import EXAMPLES, MAP


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


def example(name: str) -> ModuleType:
    return imported(next(path for path in EXAMPLES if path.stem == name))


RNG = np.random.default_rng(3)


@pytest.mark.parametrize("shape", [(1, 1), (3, 65), (5, 2049)])
def test_the_examples_compute_what_their_names_say(shape: tuple[int, int]) -> None:
    x = RNG.normal(size=shape).astype(np.float32) * 3
    wide = x.astype(np.float64)
    rows, cols = shape
    schedule = {"TILE": 64}
    phi = np.array([math.erf(value / math.sqrt(2)) for value in wide.ravel()]).reshape(shape)
    gelu = example("gelu").gelu(x, cores=3, schedule=schedule)
    np.testing.assert_allclose(gelu, wide * 0.5 * (1 + phi), rtol=1e-5, atol=1e-6)
    softmax = example("softmax").softmax(x, cores=3, schedule=schedule)
    exp = np.exp(wide - wide.max(axis=1, keepdims=True))
    np.testing.assert_allclose(softmax, exp / exp.sum(axis=1, keepdims=True), rtol=1e-5)
    g, b = (RNG.normal(size=cols).astype(np.float32) for _ in range(2))
    norm = example("layernorm").layernorm(x, g, b, cores=2)
    centred = wide - wide.mean(axis=1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(norm, centred / scale * g + b, rtol=1e-4, atol=1e-5)
    total = example("sum_reduction").sum_middle(x.reshape(1, rows, cols), cores=2)
    np.testing.assert_allclose(total, wide.sum(axis=0)[None], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("k", "p"), [(3, 1), (2, 0), (5, 2)])
def test_the_pooling_example_takes_the_largest_of_each_window(k: int, p: int) -> None:
    x = RNG.normal(size=(1, 2, 7, 70)).astype(np.float32)
    padded = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (k, k), axis=(2, 3))
    found = example("maxpool").maxpool2d(x, k, p, cores=3, schedule={"TILE": 64})
    np.testing.assert_array_equal(found, windows.max(axis=(4, 5)))
