"""One array under two names: refused where it is written, by the interpreter and by printed C++."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import pytest

from kernelwright.dsl import LaunchRefused, Program, check_source
from kernelwright.dsl.interpret import run
from kernelwright.dsl.lower import lower_cpp
from support.dsl_cpp import build

PROGRAM = """import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", g: "f32[N]", p: "f32[N] inout", TILE: tl.const = 256):
    x_ub = tl.ub(TILE, "f32")
    g_ub = tl.ub(TILE, "f32")
    p_ub = tl.ub(TILE, "f32")
    o_ub = tl.ub(TILE, "f32")
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
            tl.load(g_ub, g[i:i + n])
            tl.load(p_ub, p[i:i + n])
        with tl.compute():
            tl.mul(o_ub, x_ub, g_ub)
            tl.add(o_ub, o_ub, p_ub)
        with tl.copyout():
            tl.store(p[i:i + n], o_ub)


@tl.host
def f(
    x: "f32[N]",
    g: "f32[N]",
    p: "f32[N] inout",
) -> "f32[N]":
    y = tl.empty("f32[N]")
    k[tl.num_cores()](x, g, p)
    k[tl.num_cores()](x, g, p)
    return p
"""
LINE_OF_P = PROGRAM.split("\n").index('    p: "f32[N] inout",') + 1


@cache
def program() -> Program:
    result = check_source(PROGRAM)
    assert result.program is not None, result.to_text()
    return result.program


def ones(count: int) -> np.ndarray:
    return np.ones(count, np.float32)


@pytest.mark.parametrize("name", ["f", "k"])
def test_the_interpreter_refuses_one_array_that_is_read_and_written(name: str) -> None:
    x = ones(300)
    for arguments in ([x, ones(300), x], [ones(300), x, x]):
        with pytest.raises(LaunchRefused, match="E507 . and p are the same memory") as caught:
            run(program(), name, arguments)
        assert "give a copy" in caught.value.fix


def test_the_interpreter_refuses_arrays_that_overlap_in_part() -> None:
    memory = ones(305)
    with pytest.raises(LaunchRefused, match="E507"):
        run(program(), "f", [memory[:300], ones(300), memory[5:]])


def test_arrays_that_only_lie_between_each_other_are_apart() -> None:
    memory = ones(600)
    got = run(program(), "f", [memory[::2], ones(300), memory[1::2]])
    assert got.fault is None
    assert (got.outputs[0] == 3).all()


def test_one_array_that_is_only_read_may_have_two_names() -> None:
    x = ones(300)
    assert (run(program(), "f", [x, x, ones(300)]).outputs[0] == 3).all()


# --- printed C++ ---------------------------------------------------------------------------------


def pointer(array: np.ndarray) -> Any:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize(
    ("x", "p", "is_shared"), [(0, 0, True), (0, 5, True), (5, 0, True), (0, 300, False)]
)
def test_printed_code_does_nothing_and_says_where_tensors_share_memory(
    x: int, p: int, is_shared: bool
) -> None:
    library = build(lower_cpp(program(), "f").files["kernel.cpp"])
    memory, g = ones(600), ones(300)
    line = ctypes.c_int64(-1)
    given = [pointer(memory[x:]), pointer(g), pointer(memory[p:]), ctypes.c_int64(300)]
    library.f_host_apart(*given, ctypes.byref(line))
    assert line.value == (LINE_OF_P if is_shared else 0)
    library.f_host(*given)
    assert (memory[p : p + 300] == (1 if is_shared else 3)).all()


def test_printed_code_reads_one_tensor_under_two_names() -> None:
    library = build(lower_cpp(program(), "f").files["kernel.cpp"])
    x, p = ones(300), ones(300)
    library.f_host(pointer(x), pointer(x), pointer(p), ctypes.c_int64(300))
    assert (p == 3).all()


def test_an_empty_tensor_shares_nothing() -> None:
    library = build(lower_cpp(program(), "f").files["kernel.cpp"])
    memory = ones(4)
    line = ctypes.c_int64(-1)
    same = pointer(memory)
    library.f_host_apart(same, same, same, ctypes.c_int64(0), ctypes.byref(line))
    assert line.value == 0
