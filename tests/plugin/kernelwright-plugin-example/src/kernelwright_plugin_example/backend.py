"""A backend whose candidates are PyTorch modules: its kernels are expressions, nothing is compiled.

Useful to see what a rewrite at the level of PyTorch gains, and as the smallest backend to copy.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np

from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Build, Failure, Finding
from kernelwright.core.ports import Module
from kernelwright.core.profile import Profile
from kernelwright.core.task import Task
from kernelwright.core.verdict import Category, Latency
from kernelwright.sandbox import Limits, Sandbox
from kernelwright.sandbox.module_client import HOST_ENTRY, ModuleClient

PART = "model.py"
FORBIDDEN = ("numpy", "ctypes", "subprocess")
"""What a PyTorch expression does not need: a candidate that imports it computes elsewhere."""

ARITHMETIC = frozenset(
    f"aten::{name}"
    for name in "abs add div exp log max mean mul neg pow relu sqrt sub sum tanh".split()
)


class EagerBackend:
    """Runs `ModelNew` of `model.py` as it is."""

    name = "eager"
    is_simulated = False

    def __init__(self, sandbox: Sandbox, *, cache_folder: Path) -> None:
        self._sandbox = sandbox
        del cache_folder  # Every backend is given one; without a compiler there is nothing to keep.

    def versions(self) -> Mapping[str, str]:
        """Return the versions of everything that can change a build or a latency."""
        return {"torch": version("torch"), "python": sys.version.split()[0]}

    def screen(self, candidate: Candidate, task: Task) -> tuple[Finding, ...]:
        """Return every import of something that computes outside PyTorch."""
        return tuple(
            Finding("foreign-compute", PART, line, f"do not import {name}; write it in PyTorch")
            for name, line in _imports(candidate.files.get(PART, ""))
            if name in FORBIDDEN
        )

    def build(self, candidate: Candidate) -> Build | Failure:
        """Check the syntax; there is nothing to compile."""
        started = time.perf_counter()
        if PART not in candidate.files:
            return Failure(Category.FORMAT, f"there is no {PART}")
        try:
            ast.parse(candidate.files[PART], PART)
        except SyntaxError as fault:
            return Failure(Category.COMPILE_ERROR, f"{PART}:{fault.lineno}: {fault.msg}")
        return Build(
            candidate=candidate,
            files=tuple((path, text.encode()) for path, text in candidate.parts),
            toolchain=tuple(self.versions().items()),
            wall_s=time.perf_counter() - started,
        )

    def open(self, build: Build) -> AbstractContextManager[Module]:
        """Start a sandboxed process that holds the candidate's `ModelNew`."""
        return self._opened(build)

    def allowed_operators(self) -> frozenset[str]:
        """Return the operators that this backend is made of."""
        return ARITHMETIC

    def profile(self, build: Build, latency: Latency, *, bytes_moved: int) -> Profile:
        """Describe a measured execution by its bandwidth."""
        return Profile(
            backend=self.name,
            tool="none",
            simulated=False,
            duration_us=latency.median_us,
            bytes_moved=bytes_moved,
            achieved_gbps=bytes_moved / latency.median_us / 1e3,
            ceiling_gbps=self.copy_ceiling_gbps(bytes_moved, is_cold=False),
        )

    def copy_ceiling_gbps(self, working_set_bytes: int, *, is_cold: bool) -> float:
        """Return the best of five copies; cold ones go to memory that was not touched before."""
        half = max(working_set_bytes // 2, 1 << 12)
        source, target = np.ones(half, np.uint8), np.ones(half, np.uint8)
        best = float("inf")
        for _ in range(5):
            if is_cold:
                source, target = np.ones(half, np.uint8), np.ones(half, np.uint8)
            started = time.perf_counter()
            np.copyto(target, source)
            best = min(best, time.perf_counter() - started)
        return 2 * half / best / 1e9

    def export(self, candidate: Candidate, task: Task) -> Mapping[str, str]:
        """Return the parts: they need nothing but PyTorch."""
        return candidate.files

    @contextmanager
    def _opened(self, build: Build) -> Iterator[Module]:
        with tempfile.TemporaryDirectory(prefix="kernelwright-eager-") as name:
            folder = Path(name)
            for path, content in build.files:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
            child = self._sandbox.start(HOST_ENTRY, workdir=folder, limits=Limits())
            with ModuleClient(child) as module:
                yield module


def _imports(source: str) -> Iterator[tuple[str, int]]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return  # The compile gate says so, with the place.
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0], node.lineno
