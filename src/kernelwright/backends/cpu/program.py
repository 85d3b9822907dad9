"""Run a lowered program of the kernel language: built by the toolchain, called in the sandbox.

Takes:   printed C++ with its signature, and arrays.
Gives:   the arrays after the call and its time, or what stopped it: a value, for the program and
         its numbers are the user's.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwright.backends.cpu.toolchain import LIBRARY, Toolchain
from kernelwright.core.execution import Failure
from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer
from kernelwright.core.verdict import Category
from kernelwright.dsl.interpret import NUMPY
from kernelwright.dsl.lower import CppFiles, Role
from kernelwright.dsl.types import DType
from kernelwright.sandbox import Cause, Child, ChildFailed, Limits, Sandbox

ENTRY = "kernelwright.backends.cpu.program_host:serve"

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Called:
    """A call that came back.

    Attributes:
        tensors: Every tensor argument after the call, by name in the signature.
        wall_s: Seconds of the one call, by the trusted side's clock.
    """

    tensors: Mapping[str, Array]
    wall_s: float


@dataclass(frozen=True, slots=True)
class Refused:
    """The program's own conditions do not hold.

    Attributes:
        line: Line of the condition in the program.
    """

    line: int


def call_lowered(
    lowered: CppFiles,
    arguments: Sequence[Any],
    *,
    sandbox: Sandbox,
    toolchain: Toolchain,
    limits: Limits,
) -> Called | Refused | Failure:
    """Build a lowered host function and call it once.

    Args:
        arguments: The host function's run-time arguments in order; they are not changed. Tensors
            that it makes start as bytes 0xFF, which are NaN in every float type.
        sandbox: Its number of threads is the number of cores.
        limits: Of the process that calls it.

    Raises:
        LaunchRefused: where shapes disagree.
        ToolchainMissing: if there is no compiler.
    """
    tensors, numbers = _laid_out(lowered, arguments)
    built = toolchain.compile(sorted(lowered.files.items()))
    if isinstance(built, Failure):
        return built
    with tempfile.TemporaryDirectory(prefix="kernelwright-run-") as name:
        folder = Path(name)
        os.chmod(folder, 0o755)
        (folder / LIBRARY).write_bytes(built.library)
        os.chmod(folder / LIBRARY, 0o755)
        try:
            with sandbox.start(ENTRY, workdir=folder, limits=limits) as child:
                return _called(child, lowered, tensors, numbers, limits.wall_s)
        except ChildFailed as failed:
            return _failure(failed)


def _called(
    child: Child,
    lowered: CppFiles,
    tensors: Mapping[str, Array],
    numbers: list[tuple[str, str]],
    timeout_s: float,
) -> Called | Refused:
    blobs: list[Buffer] = [np.ascontiguousarray(array).tobytes() for array in tensors.values()]
    function = lowered.signature.name
    texts: list[Json] = [list(number) for number in numbers]
    header: dict[str, Json] = {"op": "load", "library": f"./{LIBRARY}", "numbers": texts}
    child.call(header, blobs, timeout_s=timeout_s)
    _, said = child.call({"op": "check", "function": f"{function}_check"}, timeout_s=timeout_s)
    line = int.from_bytes(bytes(said[0]), "little", signed=True) if said else 0
    if line:
        return Refused(line)
    wall_s = child.pulse({"op": "call", "function": function}, timeout_s=timeout_s)
    names = list(tensors)
    which: list[Json] = list(range(len(names)))
    _, out = child.call({"op": "tensors", "which": which}, timeout_s=timeout_s)
    after = {}
    for place, text in enumerate(names):
        array = tensors[text]
        data = bytes(out[place]) if place < len(out) else b""
        if len(data) != array.nbytes:
            raise ChildFailed(Cause.PROTOCOL, f"{text} came back with {len(data)} bytes")
        after[text] = np.frombuffer(data, array.dtype).reshape(array.shape)
    return Called(after, wall_s)


def _laid_out(
    lowered: CppFiles, arguments: Sequence[Any]
) -> tuple[dict[str, Array], list[tuple[str, str]]]:
    """Tensors by name and numbers as text, both in the order of the C function."""
    signature = lowered.signature
    given = signature.given(arguments)
    names: dict[str, Any] = dict(signature.dims(arguments))
    names |= {key: value for key, value in given.items() if not isinstance(value, np.ndarray)}
    tensors: dict[str, Array] = {}
    numbers: list[tuple[str, str]] = []
    for item in signature.arguments:
        if item.role is Role.TENSOR:
            tensors[item.name] = np.ascontiguousarray(given[item.name])
        elif item.role is Role.OUTPUT:
            kind = NUMPY[item.dtype]
            shape = signature.shape(item, names)
            count = math.prod(max(size, 0) for size in shape)
            data = np.full(count * kind.itemsize, 0xFF, np.uint8)
            tensors[item.name] = data.view(kind).reshape(tuple(max(size, 0) for size in shape))
        elif item.dtype is DType.F32:
            numbers.append(("f64", float(names[item.name]).hex()))
        else:
            numbers.append(("i64", str(int(names[item.name]))))
    return tensors, numbers


def _failure(failed: ChildFailed) -> Failure:
    if failed.cause in (Cause.TIMEOUT, Cause.CPU_TIME):
        return Failure(Category.TIMEOUT, f"the compiled program was stopped: {failed.detail}")
    if failed.cause is Cause.MEMORY:
        return Failure(Category.MEMORY, f"the compiled program was stopped: {failed.detail}")
    tail = failed.stderr_tail.strip().splitlines()[-1:]
    said = f" ({tail[0][:300]})" if tail else ""
    return Failure(Category.CRASH, f"the compiled program ended early: {failed.detail}{said}")
