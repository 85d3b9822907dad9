"""Kernels compiled from text and run on the emulated chip."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.core.fault import Fault
from kernelwright.emulator.launch import LaunchMode, Operand, launch, load_runtime
from kernelwright.emulator.library import Runtime, kernel_command, runtime
from kernelwright.emulator.report import Lines, faults_from

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Ran:
    """What came of a launch: the arrays after it, the faults, and the whole report."""

    arrays: tuple[Array, ...]
    faults: tuple[Fault, ...]
    report: Mapping[str, Any]

    @property
    def codes(self) -> list[str]:
        return [fault.code for fault in self.faults]

    @property
    def errors(self) -> list[str]:
        return [fault.text for fault in self.faults if fault.severity == "error"]

    def only(self, code: str) -> Fault:
        """The one fault there is, which has this code."""
        assert self.codes == [code], [fault.text for fault in self.faults]
        return self.faults[0]


def _aligned(array: Array) -> Array:
    """A copy that starts on 512 bytes, as device memory does."""
    room = np.zeros(array.nbytes + 512, np.uint8)
    start = -room.ctypes.data % 512
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel; `run` may be called again with other arrays."""

    entry: Any
    source: str
    chip: ctypes.CDLL
    lines: Lines

    def run(self, *arrays: Array, names: Sequence[str] = (), **mode: Any) -> Ran:
        """Run on copies of the arrays, in the order of the kernel's parameters."""
        kept = [_aligned(array) for array in arrays]
        labels = [*names, *(f"arg{i}" for i in range(len(names), len(kept)))]
        operands = [
            Operand(label, array.ctypes.data, array.nbytes)
            for label, array in zip(labels, kept, strict=True)
        ]
        report = launch(self.chip, self.entry, operands, LaunchMode(**mode), name="kernel")
        return Ran(tuple(kept), faults_from(report, self.lines), report)

    def line_of(self, mark: str) -> int:
        """1-based line of the only source line that holds `mark`."""
        found = [n for n, text in enumerate(self.source.splitlines(), 1) if mark in text]
        assert len(found) == 1, found
        return found[0]


@pytest.fixture(scope="session")
def made_runtime(pytestconfig: pytest.Config) -> Runtime:
    """The runtime library, built once and kept between sessions."""
    cache = pytestconfig.cache
    assert cache is not None
    return runtime(Path(cache.mkdir("kernelwright")))


@pytest.fixture(scope="session")
def chip(made_runtime: Runtime) -> ctypes.CDLL:
    return load_runtime(made_runtime.library)


@pytest.fixture(scope="session")
def compiled(
    made_runtime: Runtime, chip: ctypes.CDLL, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Kernel]:
    """Compile kernel text: `compiled(source, parameters=3)`.

    The source defines `extern "C" __global__ __aicore__ void kernel(GM_ADDR a, GM_ADDR b, ...)`.
    """
    folder = tmp_path_factory.mktemp("kernels")
    lines = Lines()
    known: dict[str, Kernel] = {}

    def make(source: str, *, parameters: int) -> Kernel:
        key = hashlib.sha256(f"{parameters}{source}".encode()).hexdigest()[:16]
        if key not in known:
            path = folder / f"{key}.cpp"
            call = ", ".join(f"static_cast<uint8_t*>(args[{i}])" for i in range(parameters))
            path.write_text(
                f'#line 1 "kernel.cpp"\n{source}\n'
                f'extern "C" void kw_entry(void** args) {{ kernel({call}); }}\n',
                encoding="utf-8",
            )
            output = path.with_suffix(".so")
            command = kernel_command(made_runtime, path, output)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            entry = ctypes.CDLL(str(output)).kw_entry
            known[key] = Kernel(entry, source, chip, lines)
        return known[key]

    return make


@pytest.fixture(scope="session")
def compiled_together(
    made_runtime: Runtime, chip: ctypes.CDLL, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., dict[str, Kernel]]:
    """Compile many kernels as one unit: `compiled_together({name: source}, parameters=3)`.

    Each source is as `compiled` takes it; lines are those of its own text.
    """
    folder = tmp_path_factory.mktemp("together")
    lines = Lines()

    def make(sources: Mapping[str, str], *, parameters: int) -> dict[str, Kernel]:
        call = ", ".join(f"static_cast<uint8_t*>(args[{i}])" for i in range(parameters))
        text = "".join(
            f'#define kernel kernel_{i}\n#line 1 "{name}.cpp"\n{source}\n#undef kernel\n'
            f'extern "C" void kw_entry_{i}(void** args) {{ kernel_{i}({call}); }}\n'
            for i, (name, source) in enumerate(sources.items())
        )
        path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.cpp"
        path.write_text(text, encoding="utf-8")
        output = path.with_suffix(".so")
        command = kernel_command(made_runtime, path, output)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        library = ctypes.CDLL(str(output))
        return {
            name: Kernel(getattr(library, f"kw_entry_{i}"), source, chip, lines)
            for i, (name, source) in enumerate(sources.items())
        }

    return make


@pytest.fixture(scope="session")
def complaint(
    made_runtime: Runtime, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], str]:
    """What the compiler says about kernel text; empty if it takes it."""
    folder = tmp_path_factory.mktemp("refused")

    def ask(source: str) -> str:
        path = folder / "kernel.cpp"
        path.write_text(source, encoding="utf-8")
        command = kernel_command(made_runtime, path, folder / "kernel.so", more=["-fsyntax-only"])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode != 0 else ""

    return ask
