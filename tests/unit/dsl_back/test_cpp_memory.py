"""How printed C++ uses memory never changes what it computes."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.dsl import check_file
from kernelwright.dsl.lower import lower_cpp, program_text
from support.dsl_cpp import build, call, run_cpp
from support.dsl_programs import EXAMPLES, WELL_FORMED

PROGRAMS = {path.stem: path for path in (*EXAMPLES, *WELL_FORMED)}
ROWS = {"softmax": "softmax", "maxpool": "maxpool2d", "gelu": "gelu", "sum_reduction": "sum_middle"}
SHAPES = {
    "softmax": (7, 1003),
    "maxpool": (1, 3, 9, 301),
    "gelu": (5, 999),
    "sum_reduction": (3, 9, 333),
}


@pytest.mark.parametrize("name", ROWS)
def test_stores_past_the_caches_write_the_same_bits(name: str) -> None:
    program = check_file(PROGRAMS[name]).program
    assert program is not None
    lowered = lower_cpp(program, ROWS[name])
    x = np.random.default_rng(0).standard_normal(SHAPES[name], dtype=np.float32)
    text = lowered.files["kernel.cpp"]
    results = []
    for size in ("0", "1000000000"):
        (y,), line = call(build(text, f"-DFAR_BYTES={size}"), lowered, [x])
        assert line == 0
        results.append(y)
    np.testing.assert_array_equal(results[0], results[1])
    assert "put_far" in program_text(lowered)


def test_a_tensor_that_is_read_too_is_stored_through_the_caches() -> None:
    path = PROGRAMS["parameters_updated_in_place"]
    program = check_file(path).program
    assert program is not None
    text = program_text(lower_cpp(program, (program.hosts or program.kernels)[0].name.text))
    assert "put(" in text
    assert "put_far" not in text


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 8, 11])
def test_four_steps_at_a_time_leave_none_out(rows: int) -> None:
    program = check_file(PROGRAMS["sum_reduction"]).program
    assert program is not None
    x = np.random.default_rng(rows).integers(-9, 9, (2, rows, 37)).astype(np.float32)
    (got,) = run_cpp(program, "sum_middle", [x])
    np.testing.assert_array_equal(got, x.sum(1))


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (3, 16), (4, 17), (9, 33)])
def test_windows_that_are_cut_off_are_computed_too(shape: tuple[int, int]) -> None:
    program = check_file(PROGRAMS["maxpool"]).program
    assert program is not None
    x = np.random.default_rng(0).standard_normal((1, 2, *shape), dtype=np.float32)
    (got,) = run_cpp(program, "maxpool2d", [x])
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    want = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3)).max((4, 5))
    np.testing.assert_array_equal(got, want)


def test_a_whole_window_is_one_loop_without_memory_between() -> None:
    program = check_file(PROGRAMS["maxpool"]).program
    assert program is not None
    text = program_text(lower_cpp(program, "maxpool2d"))
    whole = text[text.index("if (") : text.index("} else {")]
    assert whole.count("sweep<") == 1
    assert whole.count("v_max(") == 9
    assert "u_y_ub" not in whole
