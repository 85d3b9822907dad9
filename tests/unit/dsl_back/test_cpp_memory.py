"""How printed C++ uses memory never changes what it computes."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.dsl import check_file
from kernelwright.dsl.lower import lower_cpp, program_text
from support.dsl_cpp import build, call
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
