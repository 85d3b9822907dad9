"""Mistakes that program fuzzing found, each as the smallest program that shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelwright.dsl import check_source
from kernelwright.dsl.interpret import run
from kernelwright.dsl.lower import lower_cpp
from support.dsl_cpp import build, build_together, call

MAP = """import kernelwright.language as tl


@tl.kernel
def k(x: "TYPE[N]", y: "TYPE[N]", s: tl.f32, p: tl.i64, TILE: tl.const = 64):
    x_ub = tl.ub(TILE, "TYPE")
    y_ub = tl.ub(TILE, "TYPE")
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            BODY
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)


@tl.host
def f(x: "TYPE[N]", s: tl.f32, p: tl.i64) -> "TYPE[N]":
    y = tl.empty("TYPE[N]")
    k[1](x, y, s, p)
    return y
"""


def source(dtype: str, *body: str) -> str:
    return MAP.replace("TYPE", dtype).replace("BODY", "\n            ".join(body))


def both(text: str, x: Any, s: float = 0.0, p: int = 0) -> tuple[Any, Any]:
    """What the interpreter and the printed C++ give."""
    result = check_source(text)
    assert result.program is not None, result.to_text()
    outcome = run(result.program, "f", [x, s, p])
    assert outcome.fault is None, outcome.fault.to_text()
    lowered = lower_cpp(result.program, "f")
    (got,), _ = call(build(lowered.files["kernel.cpp"], "-O0"), lowered, [x, s, p])
    return outcome.outputs[0], got


@pytest.mark.parametrize("body", ["tl.axpy(y_ub, x_ub, s)", "tl.rsqrt(y_ub, x_ub)"])
def test_a_half_precision_operation_of_two_steps_rounds_once(body: str) -> None:
    x = np.linspace(0.1, 9, 500, dtype=np.float16)
    want, got = both(source("f16", "tl.copy(y_ub, x_ub)", body), x, 0.37)
    np.testing.assert_array_equal(got, want)
    exact = x.astype(np.float64)
    exact = exact + np.float16(0.37).astype(np.float64) * exact if "axpy" in body else exact**-0.5
    np.testing.assert_array_equal(want, exact.astype(np.float16))


@pytest.mark.parametrize("flags", [("-O1",), ("-O1", "-mno-avx")], ids=["native", "sse"])
def test_shifts_by_any_amount_agree(flags: tuple[str, ...]) -> None:
    # Some vector units have no shift of each lane; what stands in for it takes the amount mod 32.
    kinds = [(name, dtype) for name in ("shl", "shr") for dtype in ("i16", "i32")]
    programs = [check_source(source(d, f"tl.{n}(y_ub, x_ub, p)")).program for n, d in kinds]
    lowered = [lower_cpp(program, "f") for program in programs if program is not None]
    assert len(lowered) == 4
    for (name, dtype), program, (library, own) in zip(
        kinds, programs, build_together(lowered, *flags), strict=True
    ):
        assert program is not None
        kind = np.int16 if dtype == "i16" else np.int32
        least, most, bits = np.iinfo(kind).min, np.iinfo(kind).max, np.iinfo(kind).bits
        x = np.array([-9, -1, 0, 1, 7, least, most], kind)
        for amount in (-1, 0, 15, 16, 31, 32, 40):
            wide = [0 if name == "shl" else -int(value < 0) for value in x]
            if 0 <= amount < bits:
                wide = [int(v) << amount if name == "shl" else int(v) >> amount for v in x]
            exact = np.array(wide, np.int64).astype(kind)
            want = run(program, "f", [x, 0.0, amount]).outputs[0]
            (got,), _ = call(library, own, [x, 0.0, amount])
            np.testing.assert_array_equal(want, exact)
            np.testing.assert_array_equal(got, exact)


def test_a_scalar_that_leaves_its_element_type_wraps() -> None:
    x = np.arange(-5, 5, dtype=np.int16)
    want, got = both(source("i16", "tl.maxs(y_ub, x_ub, p)", "tl.rsubs(y_ub, p, y_ub)"), x, p=70000)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(want, np.zeros_like(x))


@pytest.mark.parametrize(
    ("dtype", "number"), [("i16", "70000"), ("i16", "-32769"), ("i32", "2147483648")]
)
def test_a_constant_that_does_not_fit_its_element_type_is_refused(dtype: str, number: str) -> None:
    for body in (f"tl.adds(y_ub, x_ub, {number})", f"tl.fill(y_ub, {number}, n)"):
        found = check_source(source(dtype, "tl.copy(y_ub, x_ub)", body)).diagnostics
        assert [item.code for item in found] == ["E401"]
    least = source("i32", "tl.adds(y_ub, x_ub, -2147483648)")
    assert check_source(least).is_ok


@pytest.mark.parametrize("kind", ["f16[N]", "f32[N, N]", "i32[N]"])
def test_a_result_of_another_type_than_declared_is_refused(kind: str) -> None:
    text = source("f32", "tl.copy(y_ub, x_ub)").replace('-> "f32[N]"', f'-> "{kind}"')
    found = check_source(text).diagnostics
    assert [item.code for item in found] == ["E701"]
    assert found[0].at.line == len(text.splitlines())


def many_stores(count: int) -> str:
    loads = "tl.load(b, x[i:i + n])"
    # A copy takes one name less than an addition, so both parities occur.
    calls = ["tl.copy(o0, b)", *(f"tl.adds(o{k}, b, {k})" for k in range(1, count))]
    calls[0] = calls[0] if count % 2 else "tl.adds(o0, b, 0)"
    ops = "\n            ".join(calls)
    stores = "\n            ".join(f"tl.store(y{k}[i:i + n], o{k})" for k in range(count))
    allocations = "\n    ".join(f'o{k} = tl.ub(64, "f16")' for k in range(count))
    outputs = ", ".join(f'y{k}: "f16[N]"' for k in range(count))
    return f"""import kernelwright.language as tl


@tl.kernel
def k(x: "f16[N]", {outputs}):
    b = tl.ub(64, "f16")
    {allocations}
    for i, n in tl.core_tiles(N, 64):
        with tl.copyin():
            {loads}
        with tl.compute():
            {ops}
        with tl.copyout():
            {stores}
"""


def test_kernels_of_many_stores_compile_when_they_go_past_the_caches() -> None:
    """Names of a loop are numbered through: one of them was `f16`, which is a type."""
    programs = [check_source(many_stores(count)).program for count in range(3, 12)]
    lowered = [lower_cpp(program, "k") for program in programs if program is not None]
    x = np.arange(100, dtype=np.float16)
    for number, (library, own) in enumerate(build_together(lowered, "-O0", "-DFAR_BYTES=64")):
        count = number + 3
        outputs, _ = call(library, own, [x, *(np.empty_like(x) for _ in range(count)), 1])
        for k, output in enumerate(outputs):
            np.testing.assert_array_equal(output, x + k)
