"""Printed C++ computes what the interpreter says, for every program that is accepted."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kernelwright.core.errors import UsageMistake
from kernelwright.dsl import LaunchRefused, Program, check_file, check_source
from kernelwright.dsl.interpret import from_bf16, run
from kernelwright.dsl.lower import CppFiles, Role, lower_cpp, program_text
from kernelwright.dsl.types import DType
from support.dsl_cpp import (
    SIZES_OF,
    build,
    build_together,
    call,
    drawn,
    drawn_arguments,
    run_cpp,
)
from support.dsl_programs import EXAMPLES, WELL_FORMED

FILES = {path.stem: path for path in (*EXAMPLES, *WELL_FORMED)}


@dataclass(frozen=True)
class Entry:
    """A host function or a kernel of one file."""

    file: str
    name: str
    program: Program
    is_host: bool


def entries() -> list[Entry]:
    found: list[Entry] = []
    for stem, path in FILES.items():
        program = check_file(path).program
        assert program is not None, path
        launched = bool(program.hosts)
        found += [Entry(stem, item.name.text, program, True) for item in program.hosts]
        if not launched:
            found += [Entry(stem, item.name.text, program, False) for item in program.kernels]
    return found


ENTRIES = {f"{item.file}-{item.name}": item for item in entries()}


@pytest.fixture(scope="module")
def built() -> dict[str, tuple[ctypes.CDLL, CppFiles]]:
    lowered = [lower_cpp(item.program, item.name) for item in ENTRIES.values()]
    return dict(zip(ENTRIES, build_together(lowered), strict=True))


@pytest.fixture(scope="module", autouse=True)
def two_threads() -> Iterator[None]:
    """A kernel whose cores meet at a sync needs as many threads as cores."""
    threads = ctypes.CDLL("libgomp.so.1")
    before = threads.omp_get_max_threads()
    threads.omp_set_num_threads(2)
    yield
    threads.omp_set_num_threads(before)


def widened(array: Any, dtype: DType) -> Any:
    values = from_bf16(array) if dtype is DType.BF16 else array
    return values.astype(np.float64)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_accepted_program_computes_the_same_in_cpp(name: str, built: Any) -> None:
    entry = ENTRIES[name]
    library, lowered = built[name]
    rng = np.random.default_rng(1)
    params = (
        entry.program.host(entry.name) if entry.is_host else entry.program.kernel(entry.name)
    ).params
    given = drawn_arguments(params, rng, SIZES_OF.get(entry.file, {}))
    cores = 1 if entry.is_host else 2
    want = run(entry.program, entry.name, given, cores=cores)
    assert want.fault is None, want.fault.to_text()
    tensors = [given[item.name] for item in lowered.signature.of_role(Role.TENSOR)]
    scalars = [item.name for item in lowered.signature.of_role(Role.SCALAR)]
    values = [*tensors, *(given.get(text, cores) for text in scalars)]
    if entry.is_host:
        values = list(given.values())
    got, line = call(library, lowered, values)
    assert line == 0
    assert len(got) == len(want.outputs)
    written = [item for item in lowered.signature.arguments if item.is_written]
    for one, other, item in zip(got, want.outputs, written, strict=True):
        np.testing.assert_allclose(
            widened(one, item.dtype), widened(other, item.dtype), rtol=3e-5, atol=2e-5
        )


def test_the_signature_says_how_to_call() -> None:
    program = check_file(FILES["maxpool"]).program
    assert program is not None
    signature = lower_cpp(program, "maxpool2d", consts={"K": 2, "P": 0}).signature
    assert signature.name == "maxpool2d_host"
    assert [(item.name, item.role.value) for item in signature.arguments] == [
        ("x", "tensor"),
        ("out0", "output"),
        ("N", "dim"),
        ("C", "dim"),
        ("H", "dim"),
        ("W", "dim"),
    ]
    (out,) = signature.of_role(Role.OUTPUT)
    x = np.zeros((1, 2, 5, 7), "f")
    assert signature.shape(out, signature.dims([x])) == (1, 2, 4, 6)
    assert signature.returns == ("out0",)


def test_a_false_condition_is_found_before_anything_runs() -> None:
    program = check_file(FILES["layernorm"]).program
    assert program is not None
    lowered = lower_cpp(program, "layernorm", {"TILE": 64})
    library = build(lowered.files["kernel.cpp"])
    x, g = np.zeros((2, 65), "f"), np.ones(65, "f")
    outputs, line = call(library, lowered, [x, g, g])
    text = FILES["layernorm"].read_text().splitlines()[line - 1]
    assert "tl.check" in text
    assert np.isnan(outputs[0]).all()


def test_one_loop_serves_a_whole_tile_where_nothing_stands_between() -> None:
    program = check_file(FILES["gelu"]).program
    assert program is not None
    text = program_text(lower_cpp(program, "gelu"))
    assert text.count("sweep<") == 1
    assert "alignas" not in text  # no buffer needs memory


def test_a_schedule_that_breaks_a_kernel_is_refused() -> None:
    program = check_file(FILES["softmax"]).program
    assert program is not None
    with pytest.raises(UsageMistake, match="E301"):
        lower_cpp(program, "softmax", {"TILE": 1 << 20})
    with pytest.raises(LaunchRefused, match="E702"):
        lower_cpp(program, "softmax", {"TILE": 100})


BRANCHES = """import kernelwright.language as tl


@tl.kernel
def scale_k(x: "f32[N]", y: "f32[N]", s: tl.f32, TILE: tl.const):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.muls(y_ub, x_ub, s)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)


@tl.host
def f(x: "f32[N]", s: tl.f32 = 2.0) -> ("f32[N]", "f32[N]"):
    w = tl.workspace("f32[N]")
    y = tl.empty("f32[N]")
    z = tl.empty("f32[N]")
    if N > 100:
        scale_k[tl.num_cores()](x, w, s=s, TILE=256)
        scale_k[tl.num_cores()](w, y, s=s, TILE=128)
    else:
        scale_k[1](x, y, s=3.0, TILE=64)
    scale_k[1](y, z, s=10.0, TILE=64)
    return z, y
"""


def test_host_functions_branch_use_scratch_and_launch_kernels_of_several_tiles() -> None:
    result = check_source(BRANCHES)
    program = result.program
    assert program is not None, result.to_text()
    for size, factor in ((99, 3.0), (1000, 6.25)):
        x = drawn(DType.F32, (size,), np.random.default_rng(0))
        z, y = run_cpp(program, "f", [x, 2.5])
        np.testing.assert_allclose(y, x * np.float32(factor), rtol=1e-6)
        np.testing.assert_allclose(z, y * 10, rtol=1e-6)
        want = run(program, "f", [x, 2.5])
        np.testing.assert_array_equal(want.outputs[1], y)
