"""The vector functions of printed C++: measured errors, and what they give for special values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from kernelwright.dsl import check_source
from kernelwright.dsl.lower import lower_cpp
from support.dsl_cpp import build_together, call

ULPS = {"exp": 1.2, "ln": 1.0, "erf": 2.5, "tanh": 1.5, "sigmoid": 2.5, "sqrt": 0.51, "rsqrt": 2.0}
"""Largest error of each, in units of the last place of the exact result (normal results only)."""

MEANING = {
    "exp": torch.exp,
    "ln": torch.log,
    "erf": torch.erf,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "sin": torch.sin,
    "cos": torch.cos,
}
PROGRAM = """import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", y: "f32[N]", TILE: tl.const = 4096):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.NAME(y_ub, x_ub)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)
"""


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    lowered = []
    for name in MEANING:
        program = check_source(PROGRAM.replace("NAME", name)).program
        assert program is not None
        lowered.append(lower_cpp(program, "k"))
    return dict(zip(MEANING, build_together(lowered), strict=True))


def result(built: dict[str, Any], name: str, x: Any) -> Any:
    library, lowered = built[name]
    (y,), line = call(library, lowered, [x, np.empty_like(x), 1])
    assert line == 0
    return y


def exact(name: str, x: Any) -> Any:
    return MEANING[name](torch.tensor(x, dtype=torch.float64)).numpy()


@pytest.mark.parametrize("name", ULPS)
def test_errors_stay_within_a_few_units_of_the_last_place(name: str, built: Any) -> None:
    rng = np.random.default_rng(0)
    wide = rng.uniform(-87, 88, 200_000)
    near = rng.standard_normal(200_000) * 10.0 ** rng.uniform(-6, 0.5, 200_000)
    x = np.concatenate([wide, near]).astype(np.float32)
    x = np.abs(x) if name in ("ln", "sqrt", "rsqrt") else x
    want = exact(name, x)
    got = result(built, name, x)
    is_normal = np.abs(want) >= 2.0**-126
    unit = np.spacing(np.abs(want[is_normal]).astype(np.float32)).astype(np.float64)
    error = np.abs(got[is_normal] - want[is_normal]) / unit
    assert error.max() <= ULPS[name]


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine_are_right_to_a_few_ten_millionths(name: str, built: Any) -> None:
    x = np.random.default_rng(0).uniform(-20000, 20000, 100_000).astype(np.float32)
    assert np.abs(result(built, name, x) - exact(name, x)).max() < 3e-7


@pytest.mark.parametrize("name", MEANING)
def test_special_values_give_what_torch_gives(name: str, built: Any) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, 3e38, -3e38, 200.0, -200.0], "f")
    with np.errstate(all="ignore"):
        want = exact(name, x).astype(np.float32)
    got = result(built, name, x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-7)
