"""Printed C++ of the example programs against PyTorch eager, as interleaved ratios.

    python benchmarks/dsl_cpp.py [--quick] [--only CASE]

Runs itself once with one thread and once with two, and writes `results/dsl_cpp.json` and a dated
page. Each round runs eager, ours, ours, eager (ABBA), a copy by PyTorch, by the C library and with
stores past the caches, and gives one ratio of times; the tables have the median and quartiles. Both
sides write into memory from the same allocator with the same policy: PyTorch allocates its result
in every call, and so does our side. With one thread a time is the processor time of the thread,
which other work on the machine disturbs least; with two it is wall time. The A/A column is eager
against eager: the noise.

Sizes: `large` is out of every cache of a core, `near` has rows of the same length but stays in the
second cache, so that it shows what arithmetic alone allows; `small` is in cache with short rows.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from dsl_cpp_page import page_text

from kernelwright.backends.cpu.toolchain import BASE_FLAGS, OPENMP
from kernelwright.backends.cpu.vector_extensions import this_processor
from kernelwright.dsl import Program, check_file, check_source
from kernelwright.dsl.lower import Role, lower_cpp

ROOT = Path(__file__).parents[1]
POLICY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(16 << 30)}


COPIES = ("torch", "memcpy", "streamed")
COPY_SOURCE = """
#include <immintrin.h>
#include <cstdint>
extern "C" void streamed(float* to, const float* from, int64_t n) {
  for (int64_t i = 0; i < n; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
  _mm_sfence();
}
"""
SYNC = """import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", y: "f32[N]", TILE: tl.const = 64):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.adds(y_ub, x_ub, 1.0)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)
SYNCS

@tl.host
def syncs(x: "f32[N]") -> "f32[N]":
    y = tl.empty("f32[N]")
    k[tl.num_cores()](x, y)
    return y
"""
Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Case:
    """One program with the operator it is compared to, and the shapes of each size."""

    name: str
    file: str
    host: str
    sizes: dict[str, Shapes]
    eager: Callable[..., torch.Tensor]


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Softmax of rows."""
    return torch.softmax(x, 1)


def layernorm(x: torch.Tensor, g: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Layer normalisation of rows."""
    return F.layer_norm(x, (x.shape[1],), g, b)


def maxpool(x: torch.Tensor) -> torch.Tensor:
    """Largest of 3 by 3, padded by 1."""
    return F.max_pool2d(x, 3, 1, 1)


def middle(x: torch.Tensor) -> torch.Tensor:
    """Sum over the middle dimension."""
    return x.sum(1)


def with_weights(rows: int, cols: int) -> Shapes:
    """Rows, and a weight and an offset for each column."""
    return ((rows, cols), (cols,), (cols,))


MAP = {"large": ((4096, 8192),), "near": ((16, 8192),), "small": ((64, 1024),)}
CASES = (
    Case("gelu", "gelu", "gelu", MAP, F.gelu),
    Case("softmax", "softmax", "softmax", MAP, softmax),
    Case(
        "layernorm",
        "layernorm",
        "layernorm",
        {
            "large": with_weights(8192, 4096),
            "near": with_weights(32, 4096),
            "small": with_weights(64, 1024),
        },
        layernorm,
    ),
    Case(
        "maxpool",
        "maxpool",
        "maxpool2d",
        {
            "large": ((16, 32, 256, 256),),
            "near": ((1, 2, 256, 256),),
            "small": ((1, 4, 128, 128),),
        },
        maxpool,
    ),
    Case(
        "sum",
        "sum_reduction",
        "sum_middle",
        {"large": ((16, 512, 4096),), "near": ((1, 32, 4096),), "small": ((4, 16, 1024),)},
        middle,
    ),
)


def program_file(case: Case) -> Path:
    """The example program of a case."""
    return ROOT / "examples" / "dsl" / f"{case.file}.py"


def compiled(text: str, name: str, folder: Path) -> ctypes.CDLL:
    """Compile a file with the CPU backend's flags and load it."""
    source, library = folder / f"{name}.cpp", folder / f"{name}.so"
    source.write_text(text, encoding="utf-8")
    flags = [*BASE_FLAGS, OPENMP, *this_processor().flags]
    subprocess.run(["g++", *flags, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def built(program: Program | None, host: str, name: str, folder: Path) -> Callable[..., Any]:
    """Lower and compile a program; the result takes tensors and gives a new one."""
    assert program is not None
    lowered = lower_cpp(program, host)
    library = compiled(lowered.files["kernel.cpp"], name, folder)
    signature = lowered.signature
    function = getattr(library, signature.name)
    (out,) = signature.of_role(Role.OUTPUT)
    types = {Role.TENSOR: ctypes.c_void_p, Role.OUTPUT: ctypes.c_void_p, Role.DIM: ctypes.c_int64}
    function.argtypes = [types.get(item.role, ctypes.c_double) for item in signature.arguments]
    function.restype = None

    @cache
    def prepared(*shapes: tuple[int, ...]) -> tuple[tuple[int, ...], list[Any]]:
        """Shape of the result and the numbers of a call; a model asks once a shape."""
        names: dict[str, Any] = {item.name: item.default for item in signature.of_role(Role.SCALAR)}
        names |= signature.dims([torch.empty(shape, device="meta") for shape in shapes])
        numbers: list[Any] = [names[item.name] for item in signature.of_role(Role.DIM)]
        numbers += [names[item.name] for item in signature.of_role(Role.SCALAR)]
        return signature.shape(out, names), numbers

    def call(*tensors: torch.Tensor) -> torch.Tensor:
        shape, numbers = prepared(*[t.shape for t in tensors])
        result = torch.empty(shape)
        function(*[t.data_ptr() for t in tensors], result.data_ptr(), *numbers)
        return result

    return call


def clock() -> Callable[[], float]:
    """Processor time of the thread where there is one, else wall time."""
    return time.thread_time if torch.get_num_threads() == 1 else time.perf_counter


def seconds(function: Callable[..., Any], arguments: tuple[Any, ...], repeats: int) -> float:
    """Time of one call, the mean of `repeats`."""
    now = clock()
    start = now()
    for _ in range(repeats):
        function(*arguments)
    return (now() - start) / repeats


def copies(folder: Path) -> dict[str, Callable[..., Any]]:
    """Three ways to copy a tensor into a new one."""
    memcpy = ctypes.CDLL(None).memcpy
    memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    stream = compiled(COPY_SOURCE, "copy", folder).streamed
    stream.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]

    def by_memcpy(source: torch.Tensor) -> None:
        result = torch.empty_like(source)
        memcpy(result.data_ptr(), source.data_ptr(), 4 * source.numel())

    def by_stream(source: torch.Tensor) -> None:
        result = torch.empty_like(source)
        stream(result.data_ptr(), source.data_ptr(), source.numel())

    return dict(zip(COPIES, (torch.clone, by_memcpy, by_stream), strict=True))


def quartiles(values: list[float]) -> list[float]:
    """Lower quartile, median, upper quartile."""
    return [round(value, 3) for value in statistics.quantiles(values, n=4)]


def measured(
    case: Case,
    ours: Callable[..., Any],
    shapes: Shapes,
    rounds: int,
    ways: dict[str, Callable[..., Any]],
) -> dict[str, Any]:
    """Ratios of one case at one size."""
    torch.manual_seed(0)
    arguments = tuple(torch.randn(shape) for shape in shapes)
    got, want = ours(*arguments), case.eager(*arguments)
    error = float((got - want).abs().max())
    assert error < 1e-2, (case.name, error)
    moved = 4 * (sum(t.numel() for t in arguments) + want.numel())
    elements = arguments[0].numel()
    del got, want
    repeats = max(1, min(2000, int(0.02 / seconds(case.eager, arguments, 1))))
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        a1 = seconds(case.eager, arguments, repeats)
        b1 = seconds(ours, arguments, repeats)
        b2 = seconds(ours, arguments, repeats)
        a2 = seconds(case.eager, arguments, repeats)
        rates = {
            name: 8 * elements / seconds(way, arguments[:1], repeats) / 1e9
            for name, way in ways.items()
        }
        rate = 2 * moved / (b1 + b2) / 1e9
        round_ = {
            "speedup": (a1 + a2) / (b1 + b2),
            "noise_a_a": a1 / a2,
            "gb_per_s": rate,
            "share_of_torch_copy": rate / rates["torch"],
            "share_of_best_copy": rate / max(rates.values()),
            **{f"copy_{name}_gb_per_s": value for name, value in rates.items()},
        }
        for name, value in round_.items():
            found.setdefault(name, []).append(value)
    return {
        "case": case.name,
        "shapes": [list(shape) for shape in shapes],
        **{name: quartiles(values) for name, values in found.items()},
        "largest_difference": error,
        "rounds": rounds,
    }


def sync_cost(folder: Path, rounds: int) -> list[float]:
    """Microseconds of one `sync_all` of all threads: a hundred more against one."""
    x = torch.randn(256)
    calls = []
    for count in (1, 101):
        text = SYNC.replace("SYNCS", "    tl.sync_all()\n" * count)
        call = built(check_source(text).program, "syncs", f"syncs{count}", folder)
        assert torch.equal(call(x), x + 1.0)
        calls.append(call)
    return quartiles(
        [
            (seconds(calls[1], (x,), 200) - seconds(calls[0], (x,), 200)) / 100 * 1e6
            for _ in range(rounds)
        ]
    )


def run(threads: int, rounds: int, only: str) -> dict[str, Any]:
    """Measure with a number of threads."""
    torch.set_num_threads(threads)
    rows: list[dict[str, Any]] = []
    print(f"threads {threads}: case, size, speedup [quartiles], A/A, share of copies", flush=True)
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as name, torch.inference_mode():
        folder = Path(name)
        ways = copies(folder)
        for case in CASES:
            if only not in ("", case.name):
                continue
            ours = built(check_file(program_file(case)).program, case.host, case.name, folder)
            for size, shapes in case.sizes.items():
                row = {"size": size, **measured(case, ours, shapes, rounds, ways)}
                rows.append(row)
                low, middle, high = row["speedup"]
                print(
                    f"{case.name:10} {size:6} {middle:6.2f} [{low:.2f} {high:.2f}]"
                    f"  {row['noise_a_a'][1]:5.2f}  {row['share_of_torch_copy'][1]:5.2f}"
                    f"  {row['share_of_best_copy'][1]:5.2f}",
                    flush=True,
                )
        sync = sync_cost(folder, rounds)
    return {"threads": threads, "load": os.getloadavg()[0], "sync_all_us": sync, "rows": rows}


def main() -> int:
    """Measure in a process for each number of threads, print tables, write the results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="3 rounds a case; writes nothing")
    options.add_argument("--only", default="", help="name of one case; writes nothing")
    options.add_argument("--threads", type=int, default=0, help=argparse.SUPPRESS)
    given = options.parse_args()
    rounds = 3 if given.quick else 15
    if given.threads:
        found = run(given.threads, rounds, given.only)
        Path(os.environ["KERNELWRIGHT_BENCH_OUT"]).write_text(json.dumps(found), encoding="utf-8")
        return 0
    runs = []
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as name:
        for threads in (1, 2):  # malloc and OpenMP read their settings when a process starts
            out = Path(name) / f"{threads}.json"
            own = {**POLICY, "OMP_NUM_THREADS": str(threads), "KERNELWRIGHT_BENCH_OUT": str(out)}
            argv = [sys.executable, *sys.argv, "--threads", str(threads)]
            subprocess.run(argv, env={**os.environ, **own}, check=True)
            runs.append(json.loads(out.read_text(encoding="utf-8")))
    result = {
        "machine": this_processor().model or platform.processor(),
        "compiler": subprocess.check_output(["g++", "-dumpfullversion"], text=True).strip(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "policy": POLICY,
        "programs": {
            case.name: hashlib.sha256(program_file(case).read_bytes()).hexdigest()[:16]
            for case in CASES
        },
        "runs": runs,
    }
    if not given.quick and not given.only:
        folder = ROOT / "benchmarks" / "results"
        (folder / "dsl_cpp.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        page = folder / f"{date.today().isoformat()}-printed-cpp.md"
        page.write_text(page_text(result), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
