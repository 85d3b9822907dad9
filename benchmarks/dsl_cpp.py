"""Printed C++ of the example programs against PyTorch eager, as interleaved ratios.

    OMP_NUM_THREADS=1 MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184 \
        python benchmarks/dsl_cpp.py [--quick]

Each round runs eager, ours, ours, eager (ABBA) and gives one ratio of times; the table has the
median and quartiles. Both sides write into memory from the same allocator with the same policy:
PyTorch allocates its result in every call, and so does our side. The share of copy bandwidth is the
bytes that a kernel must move (each input once, each output once) over its time, against a copy of
the large input by PyTorch in the same round. The A/A column is eager against eager: the noise.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from kernelwright.backends.cpu.toolchain import BASE_FLAGS, OPENMP
from kernelwright.backends.cpu.vector_extensions import this_processor
from kernelwright.dsl import check_file
from kernelwright.dsl.lower import Role, lower_cpp

ROOT = Path(__file__).parents[1]
POLICY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(16 << 30)}


@dataclass(frozen=True)
class Case:
    """One program with the operator it is compared to."""

    name: str
    file: str
    host: str
    shapes: tuple[tuple[int, ...], ...]
    small: tuple[tuple[int, ...], ...]
    eager: Callable[..., torch.Tensor]
    schedule: dict[str, int]


CASES = (
    Case("gelu", "gelu", "gelu", ((4096, 8192),), ((64, 1024),), F.gelu, {}),
    Case(
        "softmax",
        "softmax",
        "softmax",
        ((4096, 8192),),
        ((64, 1024),),
        lambda x: torch.softmax(x, 1),
        {},
    ),
    Case(
        "layernorm",
        "layernorm",
        "layernorm",
        ((8192, 4096), (4096,), (4096,)),
        ((64, 1024), (1024,), (1024,)),
        lambda x, g, b: F.layer_norm(x, (x.shape[1],), g, b),
        {},
    ),
    Case(
        "maxpool",
        "maxpool",
        "maxpool2d",
        ((16, 32, 256, 256),),
        ((1, 4, 128, 128),),
        lambda x: F.max_pool2d(x, 3, 1, 1),
        {},
    ),
    Case(
        "sum",
        "sum_reduction",
        "sum_middle",
        ((16, 512, 4096),),
        ((4, 16, 1024),),
        lambda x: x.sum(1),
        {},
    ),
)


def built(case: Case, folder: Path) -> Callable[..., torch.Tensor]:
    """Lower and compile a program; the result takes tensors and gives a new one."""
    program = check_file(ROOT / "examples" / "dsl" / f"{case.file}.py").program
    assert program is not None
    lowered = lower_cpp(program, case.host, case.schedule)
    source, library = folder / f"{case.name}.cpp", folder / f"{case.name}.so"
    source.write_text(lowered.files["kernel.cpp"], encoding="utf-8")
    flags = [*BASE_FLAGS, OPENMP, *this_processor().flags]
    subprocess.run(["g++", *flags, str(source), "-o", str(library)], check=True)
    signature = lowered.signature
    function = getattr(ctypes.CDLL(str(library)), signature.name)
    (out,) = signature.of_role(Role.OUTPUT)

    @cache
    def prepared(*shapes: tuple[int, ...]) -> tuple[tuple[int, ...], list[Any]]:
        """Shape of the result and the numbers of a call; a model asks once a shape."""
        names: dict[str, Any] = {item.name: item.default for item in signature.of_role(Role.SCALAR)}
        names |= signature.dims([torch.empty(shape, device="meta") for shape in shapes])
        numbers: list[Any] = [ctypes.c_int64(names[i.name]) for i in signature.of_role(Role.DIM)]
        numbers += [ctypes.c_double(names[i.name]) for i in signature.of_role(Role.SCALAR)]
        return signature.shape(out, names), numbers

    def call(*tensors: torch.Tensor) -> torch.Tensor:
        shape, numbers = prepared(*(t.shape for t in tensors))
        result = torch.empty(shape)
        function(*(ctypes.c_void_p(t.data_ptr()) for t in (*tensors, result)), *numbers)
        return result

    return call


def seconds(function: Callable[..., Any], arguments: tuple[Any, ...], repeats: int) -> float:
    """Time of one call, the mean of `repeats`."""
    start = time.perf_counter()
    for _ in range(repeats):
        function(*arguments)
    return (time.perf_counter() - start) / repeats


def quartiles(values: list[float]) -> list[float]:
    """Lower quartile, median, upper quartile."""
    return [round(value, 3) for value in statistics.quantiles(values, n=4)]


def measured(case: Case, ours: Callable[..., Any], shapes: Any, rounds: int) -> dict[str, Any]:
    """Ratios of one case at one size."""
    torch.manual_seed(0)
    arguments = tuple(torch.randn(shape) for shape in shapes)
    got, want = ours(*arguments), case.eager(*arguments)
    error = float((got - want).abs().max())
    assert error < 1e-2, (case.name, error)
    moved = 4 * (sum(t.numel() for t in arguments) + want.numel())
    del got, want
    source = arguments[0]
    copied = 8 * source.numel()
    one = seconds(case.eager, arguments, 1)
    repeats = max(1, min(2000, int(0.02 / one)))
    ratios, noise, shares, speeds = [], [], [], []
    for _ in range(rounds):
        a1 = seconds(case.eager, arguments, repeats)
        b1 = seconds(ours, arguments, repeats)
        b2 = seconds(ours, arguments, repeats)
        a2 = seconds(case.eager, arguments, repeats)
        c = seconds(torch.clone, (source,), repeats)
        ratios.append((a1 + a2) / (b1 + b2))
        noise.append(a1 / a2)
        speeds.append(copied / c / 1e9)
        shares.append(2 * moved / (b1 + b2) / (copied / c))
    return {
        "case": case.name,
        "shapes": [list(shape) for shape in shapes],
        "speedup": quartiles(ratios),
        "noise_a_a": quartiles(noise),
        "copy_gb_per_s": quartiles(speeds),
        "share_of_copy": quartiles(shares),
        "largest_difference": error,
        "rounds": rounds,
    }


def main() -> int:
    """Measure, print a table, write the results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="3 rounds a case; writes nothing")
    options.add_argument("--only", default="", help="name of one case")
    given = options.parse_args()
    missing = [name for name, value in POLICY.items() if os.environ.get(name) != value]
    if missing:  # malloc reads them when the process starts
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **POLICY})
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    torch.set_num_threads(threads)
    rounds = 3 if given.quick else 9
    rows: list[dict[str, Any]] = []
    print("case       size    speedup [quartiles]      A/A    copy GB/s  share of copy")
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as name, torch.inference_mode():
        for case in CASES:
            if given.only not in ("", case.name):
                continue
            ours = built(case, Path(name))
            for size, shapes in (("large", case.shapes), ("small", case.small)):
                row = {"size": size, **measured(case, ours, shapes, rounds)}
                rows.append(row)
                low, middle, high = row["speedup"]
                print(
                    f"{case.name:10} {size:6} {middle:6.2f} [{low:.2f} {high:.2f}]"
                    f"      {row['noise_a_a'][1]:5.2f}  {row['copy_gb_per_s'][1]:8.1f}"
                    f"  {row['share_of_copy'][1]:8.2f}",
                    flush=True,
                )
    if not given.quick:
        result = {
            "machine": this_processor().model or platform.processor(),
            "torch": torch.__version__,
            "threads": threads,
            "policy": POLICY,
            "rows": rows,
            "cases": [asdict(case)["name"] for case in CASES],
        }
        target = ROOT / "benchmarks" / "results" / "dsl_cpp.json"
        target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
