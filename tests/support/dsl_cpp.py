"""Programs of the kernel language, lowered to C++, built and called from NumPy."""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.backends.cpu.toolchain import BASE_FLAGS, OPENMP
from kernelwright.backends.cpu.vector_extensions import this_processor
from kernelwright.dsl.evaluate import evaluate
from kernelwright.dsl.host_nodes import Program
from kernelwright.dsl.interpret import NUMPY, to_bf16
from kernelwright.dsl.lower import CppFiles, Role, lower_cpp, program_text
from kernelwright.dsl.nodes import Param, ScalarParam, TensorParam
from kernelwright.dsl.types import DType

_FOLDER = Path(tempfile.mkdtemp(prefix="kernelwright-dsl-"))


def build(text: str, *extra: str) -> ctypes.CDLL:
    """Compile `kernel.cpp` with the CPU backend's flags and load it.

    Raises:
        AssertionError: with what the compiler says.
    """
    name = hashlib.sha256("\0".join((text, *extra)).encode()).hexdigest()[:24]
    library, source = _FOLDER / f"{name}.so", _FOLDER / f"{name}.cpp"
    if not library.exists():
        source.write_text(text, encoding="utf-8")
        flags = [*BASE_FLAGS, OPENMP, *this_processor().flags, *extra]
        argv = ["g++", *flags, str(source), "-o", str(library)]
        done = subprocess.run(argv, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:300_000]
    return ctypes.CDLL(str(library))


class Overrun(AssertionError):
    """A printed program wrote outside its tensors."""


GUARD = 256
"""Bytes of 0xFF (NaN, or -1) before and after every tensor of a call."""

FENCE_AFTER, FENCE_BEFORE = -1, -2
"""Shifts that put a tensor directly before or after a page that must not be touched."""


def _guarded(array: Any, shift: int) -> tuple[Any, Any]:
    """A copy of an array between guards, `shift` elements off a cache line; and all the bytes."""
    if shift < 0:
        return _fenced(array, is_after=shift == FENCE_AFTER)
    before = GUARD + shift * array.itemsize
    memory = np.full(before + array.nbytes + GUARD + 64, 0xFF, np.uint8)
    start = before + -(memory.ctypes.data + GUARD) % 64
    inside = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    inside[...] = array
    return inside, memory


def _fenced(array: Any, *, is_after: bool) -> tuple[Any, Any]:
    """A copy of an array that ends where forbidden memory begins, or begins where such ends."""
    page = mmap.PAGESIZE
    pages = -(-array.nbytes // page)
    block = mmap.mmap(-1, (pages + 1) * page)
    memory = np.frombuffer(block, np.uint8)
    forbidden = memory.ctypes.data + (pages * page if is_after else 0)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(page), 0) == 0
    usable = memory[: pages * page] if is_after else memory[page:]
    usable[:] = 0xFF
    start = usable.size - array.nbytes if is_after else 0
    inside = usable[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    inside[...] = array
    return inside, usable


def _check_guards(name: str, array: Any, memory: Any) -> None:
    start = array.ctypes.data - memory.ctypes.data
    if not (memory[:start] == 0xFF).all() or not (memory[start + array.nbytes :] == 0xFF).all():
        raise Overrun(f"memory around {name} was written")


def call(
    library: ctypes.CDLL, lowered: CppFiles, arguments: Sequence[Any], *, shift: int = 0
) -> tuple[tuple[Any, ...], int]:
    """Call a built host function.

    Args:
        arguments: The host function's arguments in order; arrays that it writes are copied first.
        shift: Elements that every tensor starts after the beginning of a cache line, or a fence.

    Returns:
        What it returned, and the line that its check gives (0 for none). Outputs start as NaN.

    Raises:
        Overrun: where memory around a tensor was written.
    """
    signature = lowered.signature
    given = signature.given(arguments)
    names: dict[str, Any] = dict(signature.dims(arguments))
    names |= {k: v for k, v in given.items() if not isinstance(v, np.ndarray)}
    held: dict[str, Any] = {}
    around: dict[str, Any] = {}
    values: list[Any] = []
    numbers: list[Any] = []
    for item in signature.arguments:
        if item.role is Role.TENSOR:
            held[item.name] = np.ascontiguousarray(given[item.name])
        elif item.role is Role.OUTPUT:
            kind = NUMPY[item.dtype]
            shape = signature.shape(item, names)
            held[item.name] = np.frombuffer(
                b"\xff" * (int(np.prod(shape)) * kind.itemsize), kind
            ).reshape(shape)
        if item.name in held:
            held[item.name], around[item.name] = _guarded(held[item.name], shift)
            values.append(ctypes.c_void_p(held[item.name].ctypes.data))
            continue
        kind_of = ctypes.c_double if item.dtype is DType.F32 else ctypes.c_int64
        numbers.append(kind_of(names[item.name]))
    check = getattr(library, f"{signature.name}_check")
    check.restype = None
    refused = ctypes.c_int64()
    check(*numbers, ctypes.byref(refused))
    function = getattr(library, signature.name)
    function.restype = None
    function(*values, *numbers)
    written = [item.name for item in signature.arguments if item.is_written]
    for name, memory in around.items():
        _check_guards(name, held[name], memory)
        if name not in written and held[name].tobytes() != np.asarray(given[name]).tobytes():
            raise Overrun(f"{name} was written, which is only read")
    names_out = signature.returns or tuple(name for name in written if name in held)
    return tuple(held[name] for name in names_out), refused.value


def run_cpp(
    program: Program,
    name: str,
    arguments: Sequence[Any],
    schedule: Mapping[str, Any] | None = None,
) -> tuple[Any, ...]:
    """Lower, build and call; of a kernel, the last argument is the number of cores."""
    lowered = lower_cpp(program, name, schedule)
    outputs, line = call(build(lowered.files["kernel.cpp"]), lowered, arguments)
    assert line == 0, f"line {line} refuses the call"
    return outputs


def build_together(several: Sequence[CppFiles], *extra: str) -> list[tuple[ctypes.CDLL, CppFiles]]:
    """Build programs in one file, which takes a fraction of the time; each with its library."""
    if not several:
        return []
    text, renamed = merged(several)
    library = build(text, *extra)
    return [(library, lowered) for lowered in renamed]


def merged(several: Sequence[CppFiles]) -> tuple[str, list[CppFiles]]:
    """Programs as one file, and each as it is called there."""
    whole = several[0].files["kernel.cpp"]
    texts = [whole.removesuffix(program_text(several[0]))]
    renamed: list[CppFiles] = []
    for number, lowered in enumerate(several):
        name = lowered.signature.name
        own = re.sub(rf"\b(run_)?{name}", rf"\g<1>p{number}_{name}", program_text(lowered))
        texts.append(f"namespace program{number} {{\n{own}\n}}\n")
        signature = replace(lowered.signature, name=f"p{number}_{name}")
        renamed.append(CppFiles(lowered.files, signature))
    return "\n".join(texts), renamed


# --- arguments -----------------------------------------------------------------------------------

SIZES = {
    "A": 2,
    "R": 5,
    "C": 60,
    "B": 60,
    "N": 4100,
    "NC": 2,
    "S": 130,
    "M": 70,
    "L": 1200,
    "H": 9,
    "W": 70,
}
"""Sizes of dimension names in drawn arguments."""

SIZES_OF: dict[str, dict[str, int]] = {
    "average_pool_with_a_stride": {"NC": 3, "OL": 600},
    "average_pool_2d": {"NC": 2, "H": 35, "W": 70, "OH": 3, "OW": 6},
    "batch_norm": {"N": 3, "C": 4, "S": 130},
    "channel_of_a_row": {"N": 2, "C": 3},
    "column_tiles": {"R": 20, "B": 600},
    "exclusive_running_sum": {"C": 1100},
    "group_norm_rows": {"N": 2, "G": 3, "D": 2},
    "hinge_rows": {"R": 11, "C": 600},
    "masked_running_sum": {"C": 1100},
    "maxpool": {"N": 2, "C": 3},
    "online_softmax": {"C": 4100},
    "reversed_tiles": {"C": 2100},
    "split_rows_over_cores": {"P": 4, "C": 500},
    "transposed_tiles": {"N": 130},
}
"""Sizes where a program needs others, by file."""


def drawn(dtype: DType, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """A tensor of small numbers, of any element type."""
    if dtype.is_float:
        values = rng.standard_normal(shape).astype(np.float32)
        return to_bf16(values) if dtype is DType.BF16 else values.astype(NUMPY[dtype])
    return rng.integers(0, 2 if dtype is DType.BOOL else 5, shape).astype(NUMPY[dtype])


def drawn_arguments(
    params: Sequence[Param], rng: np.random.Generator, sizes: Mapping[str, int]
) -> dict[str, Any]:
    """A value for each tensor and each scalar parameter."""
    names: dict[str, Any] = {**SIZES, **sizes}
    scalars = {"R": 5, "C": 12}  # flat_rows: N is R * C
    given: dict[str, Any] = {}
    for param in params:
        if isinstance(param, ScalarParam):
            is_real = param.type is DType.F32
            value = 0.5 if is_real else scalars.get(param.name.text, 3)
            given[param.name.text] = value
            names[param.name.text] = value
    for param in params:
        if isinstance(param, TensorParam):
            shape = tuple(int(evaluate(dim, names)) for dim in param.type.dims)
            given[param.name.text] = drawn(param.type.dtype, shape, rng)
    return {p.name.text: given[p.name.text] for p in params if p.name.text in given}
