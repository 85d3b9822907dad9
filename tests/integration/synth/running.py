"""Builds what the generator prints with g++ alone and calls it, without the product's backend."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from kernelwright.synth.canonical import canonical
from kernelwright.synth.constructor import constructor_of
from kernelwright.synth.graph import Source, graph_from_json
from kernelwright.synth.model_source import model_source
from kernelwright.synth.partition import partition
from kernelwright.synth.program import Program
from kernelwright.synth.route import routes_of
from kernelwright.synth.schedule import space_of
from kernelwright.synth.trace_host import traced

# g++ 12 says that its own _mm512_undefined_ps may be used uninitialised (GCC bug 105593).
FLAGS = (
    "-std=c++17 -O1 -march=native -fopenmp -shared -fPIC -fno-math-errno -fno-trapping-math"
    " -ffp-contract=fast -Wall -Wextra -Werror -Wno-unused"
    " -Wno-uninitialized -Wno-maybe-uninitialized"
).split()  # fmt: skip
ENTRY = "solve_kernel"


def program_of(source: str) -> Program:
    """Trace a task in this process and partition it."""
    return partition(canonical(graph_from_json(traced(source, "task"))))


def model_of(source: str, folder: Path, schedule: Mapping[str, str] | None = None) -> Any:
    """Return the class `ModelNew` for a task, with its kernel built and loaded."""
    program = program_of(source)
    sources = {p.source for p in program.canonical.placeholders.values()}
    has_state = bool(sources & {Source.PARAMETER, Source.BUFFER})
    routes = routes_of(program, entry=ENTRY)
    chosen = space_of(program, routes.choices()).completed((schedule or {}).items())
    printed = routes.printed(chosen)
    for path, text in printed.files.items():
        (folder / path).write_text(text)
    library = folder / "kernel.so"
    command = ["g++", *FLAGS, *(str(folder / path) for path in printed.files), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    module = types.ModuleType("kernel_ops")
    for name, _ in printed.calls:
        setattr(module, name, _called(ctypes.CDLL(str(library))[name]))
    constructor = constructor_of(source, needs_state=has_state)
    python = model_source(program, constructor, calls=printed.calls)
    (folder / "model.py").write_text(python)
    sys.modules["kernel_ops"] = module
    namespace: dict[str, Any] = {"__name__": "candidate"}
    exec(compile(python, str(folder / "model.py"), "exec"), namespace)
    return namespace["ModelNew"]


def _called(function: Any) -> Callable[..., None]:
    function.restype = None
    return lambda *given: function(*map(_passed, given))


def _passed(value: object) -> object:
    if isinstance(value, torch.Tensor):
        assert value.is_contiguous()
        return ctypes.c_void_p(value.data_ptr())
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(int(value))


def loaded(source: str) -> dict[str, Any]:
    """Run a task's file and return what it defines."""
    namespace: dict[str, Any] = {"__name__": "task"}
    exec(compile(source, "task.py", "exec"), namespace)
    return namespace


def leaves(value: Any) -> list[Any]:
    """Return the tensors of a nested result, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def widened(value: Any) -> Any:
    """Return floating-point tensors in float64."""
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if is_float else value


TOLERANCE = {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 1e-2}


def assert_close(got: torch.Tensor, want: torch.Tensor, eager: torch.Tensor) -> None:
    """Compare with float64 relative to the output's scale; whole numbers and flags exactly."""
    assert got.shape == eager.shape and got.dtype == eager.dtype
    if not got.is_floating_point():
        assert torch.equal(got, eager)
        return
    # Where float32 overflows or a library function gives NaN, the reference disagrees with itself.
    single = eager.double()
    same = (torch.isnan(single) == torch.isnan(want)) & (torch.isinf(single) == torch.isinf(want))
    got, want = got.double()[same], want[same]
    assert same.float().mean() > 0.9
    assert torch.equal(torch.isnan(got), torch.isnan(want))
    assert torch.equal(got[torch.isinf(want)], want[torch.isinf(want)])
    plain = torch.isfinite(want)
    if plain.any():
        got, want = got[plain], want[plain]
        worst = (got - want).abs().max()
        noise = (single[same][plain] - want).abs().max()
        allowed = TOLERANCE[eager.dtype] * want.pow(2).mean().sqrt()
        assert worst <= max(float(allowed), 4 * float(noise)), (worst, allowed, noise)
