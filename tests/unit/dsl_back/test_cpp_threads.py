"""Cores of printed C++ that are threads: they meet at every sync and see each other's stores."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from kernelwright.dsl import check_source
from kernelwright.dsl.lower import lower_cpp, program_text
from support.dsl_cpp import build, call
from support.dsl_programs import HEAD

PHASES, CORES, CALLS = 12, 2, 50
PHASE = """
    with tl.copyin():
        tl.load(all_ub, w[0:NC, 0:8])
    with tl.compute():
        s = tl.reduce_sum(all_ub)
        tl.fill(own_ub, s + tl.core_id() + 1, 8)
        tl.muls(own_ub, own_ub, 0.0625)
    tl.sync_all()
    with tl.copyout():
        tl.store(w[tl.core_id(), 0:8], own_ub)
    tl.sync_all()
"""
PROGRAM = (
    HEAD
    + """@tl.kernel
def k(w: "f32[NC, 8] inout", CORES: tl.const = 8):
    tl.require(NC <= CORES)
    tl.require(tl.num_cores() == NC)
    all_ub = tl.ub((CORES, 8), "f32")
    own_ub = tl.ub(8, "f32", buf=2)
"""
    + PHASE * PHASES
)


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    threads = ctypes.CDLL("libgomp.so.1")
    before = threads.omp_get_max_threads()
    threads.omp_set_num_threads(CORES)
    yield
    threads.omp_set_num_threads(before)


def test_what_one_core_stores_before_a_sync_the_other_reads_after_it() -> None:
    result = check_source(PROGRAM)
    assert result.program is not None, [item.to_text() for item in result.diagnostics]
    lowered = lower_cpp(result.program, "k")
    assert program_text(lowered).count("#pragma omp barrier") == 2 * PHASES
    library = build(lowered.files["kernel.cpp"])
    first = np.arange(CORES * 8, dtype=np.float32).reshape(CORES, 8)
    want = first.copy()
    for _ in range(PHASES):
        want = (np.repeat(want.sum() + np.arange(CORES)[:, None] + 1, 8, 1) / 16).astype("f")
    for _ in range(CALLS):
        (got,), line = call(library, lowered, [first, CORES])
        assert line == 0
        np.testing.assert_allclose(got, want, rtol=1e-6)
