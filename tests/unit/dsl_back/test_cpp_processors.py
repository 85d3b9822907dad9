"""Printed C++ of every vector width and compiler computes the same, within the same errors.

Where a compiler is missing these tests fail and say so: what they show would be unknown. Where the
processor lacks a vector width the code for it is compiled, and skipped with that reason.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from kernelwright.backends.cpu.toolchain import BASE_FLAGS, OPENMP
from kernelwright.backends.cpu.vector_extensions import this_processor
from kernelwright.dsl import Program, check_file, check_source
from kernelwright.dsl.interpret import from_bf16, run
from kernelwright.dsl.lower import CppFiles, Role, lower_cpp, program_text
from kernelwright.dsl.types import DType
from support.dsl_cpp import SIZES_OF, call, drawn_arguments, merged
from support.dsl_programs import ACCEPTED, HEAD

pytestmark = pytest.mark.long

WIDTHS: dict[str, tuple[str, ...]] = {
    "512": ("-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mfma", "-mf16c"),
    "256": ("-mavx2", "-mfma", "-mf16c", "-mno-avx512f"),
    "256 without fma": ("-mavx2", "-mno-avx512f"),
    "128": ("-march=x86-64-v2",),
}
NEEDS = {"512": "-mavx512vl", "256": "-mfma", "256 without fma": "-mavx2", "128": "-msse4.2"}
CASES = [*(("g++", width) for width in WIDTHS), *(("clang++", w) for w in ("512", "256", "128"))]

CORES = 2
ULPS = {"exp": 1.3, "ln": 1.0, "erf": 2.6, "tanh": 1.5, "sigmoid": 2.6}
MEANING = {
    "exp": torch.exp,
    "ln": torch.log,
    "erf": torch.erf,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}
FUNCTION = (
    HEAD
    + """@tl.kernel
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
)
HALF = FUNCTION.replace("f32", "f16").replace("NAME", "relu")


@dataclass(frozen=True)
class Entry:
    """A host function, or a kernel that no host function launches."""

    file: str
    name: str
    program: Program
    is_host: bool


def entries() -> Iterator[Entry]:
    for path in ACCEPTED:
        program = check_file(path).program
        assert program is not None, path
        for item in program.hosts or program.kernels:
            yield Entry(path.stem, item.name.text, program, bool(program.hosts))
    for name, text in (("half", HALF), *((n, FUNCTION.replace("NAME", n)) for n in MEANING)):
        program = check_source(text).program
        assert program is not None
        yield Entry(name, "k", program, is_host=False)


ENTRIES = list(entries())


@dataclass(frozen=True)
class Built:
    """All programs for one compiler and vector width."""

    library: ctypes.CDLL
    lowered: list[CppFiles]
    entries: list[Entry]

    def by_file(self, name: str) -> CppFiles:
        """The only program of a file."""
        (place,) = [at for at, item in enumerate(self.entries) if item.file == name]
        return self.lowered[place]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(case))
def built(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    compiler, width = request.param
    if shutil.which(compiler) is None:
        pytest.fail(f"{compiler} is not installed, so nothing is known about it")
    folder: Path = tmp_path_factory.mktemp("processor")
    # clang 14 leaves conversions of f16 to its own library where the processor has none.
    is_without = (compiler, width) == ("clang++", "128")
    printed = [(item, lower_cpp(item.program, item.name)) for item in ENTRIES]
    printed = [pair for pair in printed if not is_without or not uses_f16(pair[1])]
    own = [item for item, _ in printed]
    text, lowered = merged([files for _, files in printed])
    source, library = folder / "kernel.cpp", folder / "kernel.so"
    source.write_text(text, encoding="utf-8")
    # Stores past the caches are made for every size: they have their own code at each width.
    argv = [compiler, *BASE_FLAGS, OPENMP, *WIDTHS[width], "-DFAR_BYTES=0", str(source)]
    done = subprocess.run([*argv, "-o", str(library)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    if NEEDS[width] not in this_processor().flags:
        pytest.skip(f"compiled, but this processor has no {width} to run it: {NEEDS[width]}")
    loaded = ctypes.CDLL(str(library))
    # A kernel whose cores meet at a sync needs as many threads as cores, of its own run time.
    before = loaded.omp_get_max_threads()
    loaded.omp_set_num_threads(CORES)
    yield Built(loaded, lowered, own)
    loaded.omp_set_num_threads(before)


def uses_f16(lowered: CppFiles) -> bool:
    return re.search(r"\b(f16|_Float16)\b", program_text(lowered)) is not None


def widened(array: Any, dtype: DType) -> Any:
    return (from_bf16(array) if dtype is DType.BF16 else array).astype(np.float64)


def test_every_accepted_program_computes_the_same(built: Built) -> None:
    for entry, lowered in zip(built.entries, built.lowered, strict=True):
        rng = np.random.default_rng(1)
        program = entry.program
        params = (program.host if entry.is_host else program.kernel)(entry.name).params
        given = drawn_arguments(params, rng, SIZES_OF.get(entry.file, {}))
        cores = 1 if entry.is_host else CORES
        want = run(program, entry.name, given, cores=cores)
        assert want.fault is None, want.fault.to_text()
        tensors = [given[item.name] for item in lowered.signature.of_role(Role.TENSOR)]
        scalars = [item.name for item in lowered.signature.of_role(Role.SCALAR)]
        values = [*tensors, *(given.get(text, cores) for text in scalars)]
        got, line = call(built.library, lowered, [*given.values()] if entry.is_host else values)
        assert line == 0
        written = [item for item in lowered.signature.arguments if item.is_written]
        for one, other, item in zip(got, want.outputs, written, strict=True):
            np.testing.assert_allclose(
                widened(one, item.dtype),
                widened(other, item.dtype),
                rtol=3e-5,
                atol=2e-5,
                err_msg=f"{entry.file} {entry.name}",
            )


@pytest.mark.parametrize("name", MEANING)
def test_errors_stay_within_a_few_units_of_the_last_place(name: str, built: Built) -> None:
    rng = np.random.default_rng(0)
    wide = rng.uniform(-87, 88, 200_000)
    near = rng.standard_normal(200_000) * 10.0 ** rng.uniform(-6, 0.5, 200_000)
    x = np.concatenate([wide, near]).astype(np.float32)
    x = np.abs(x) if name == "ln" else x
    (got,), line = call(built.library, built.by_file(name), [x, np.empty_like(x), 1])
    assert line == 0
    want = MEANING[name](torch.tensor(x, dtype=torch.float64)).numpy()
    is_normal = np.abs(want) >= 2.0**-126
    unit = np.spacing(np.abs(want[is_normal]).astype(np.float32)).astype(np.float64)
    assert (np.abs(got[is_normal] - want[is_normal]) / unit).max() <= ULPS[name]


@pytest.mark.parametrize("name", MEANING)
def test_special_values_give_what_torch_gives(name: str, built: Built) -> None:
    x = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, -3e38, 1, -1] * 4, np.float32)
    (got,), _ = call(built.library, built.by_file(name), [x, np.empty_like(x), 1])
    want = MEANING[name](torch.tensor(x)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-37)
