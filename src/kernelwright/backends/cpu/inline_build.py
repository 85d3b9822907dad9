"""KernelBench-style candidates: one file whose C++ is built by PyTorch's `load_inline`.

A build takes most of a minute and 1.5 GB, because it includes all of PyTorch's headers; it has its
own limits and its own cache. The candidate's file runs in the builder and in the worker, both
sandboxed; only the libraries go from one to the other.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.backends.cpu.shim import RUNTIME
from kernelwright.backends.cpu.static_facts import inline_symbols
from kernelwright.backends.diagnostics import cleaned
from kernelwright.core.errors import ToolchainMissing
from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category
from kernelwright.sandbox import Cause, Finished, Limits, Sandbox

LIMITS = Limits(wall_s=180.0, cpu_s=240.0, memory_bytes=6 << 30, processes=64, file_bytes=256 << 20)
"""Of one build; the compiler alone needs about 45 s of processor time."""

_INSTALL = "import kernel_ops as _built; _built.install()\n"
_LARGEST_LIBRARY = 64 << 20


@dataclass(frozen=True, slots=True)
class InlineBuilder:
    """Builds `load_inline` candidates.

    Attributes:
        sandbox: Where they are built.
        compiler: Path of the C++ compiler.
        flags: Flags that the candidate's own come after.
    """

    sandbox: Sandbox
    compiler: Path
    flags: tuple[str, ...] = ()

    def build(self, source: str) -> Mapping[str, bytes] | Failure:
        """Return the built libraries by path, or what is wrong with the candidate.

        Raises:
            ToolchainMissing: if there is no ninja, which PyTorch builds with.
        """
        home = os.path.dirname(sys.executable)
        path = f"{home}:{self.compiler.parent}:/usr/local/bin:/usr/bin:/bin"
        if shutil.which("ninja", path=path) is None:
            raise ToolchainMissing(
                "PyTorch builds `load_inline` candidates with ninja, which is not installed",
                fix="pip install 'kernelwright[inline]'",
            )
        with tempfile.TemporaryDirectory(prefix="kernelwright-inline-") as name:
            folder = Path(name)
            (folder / "model.py").write_text(source, encoding="utf-8")
            shutil.copy(RUNTIME / "inline_builder.py", folder / "inline_builder.py")
            done = self.sandbox.run(
                [sys.executable, "inline_builder.py"],
                workdir=folder,
                limits=LIMITS,
                env={
                    "CXX": str(self.compiler),
                    "LC_ALL": "C",
                    "MAX_JOBS": "2",
                    "PATH": path,
                    "PYTHONUTF8": "1",
                    "TMPDIR": ".",
                },
            )
            if done.cause is not None or done.returncode != 0:
                return _failure(done)
            libraries = {
                f"inline/{file.name}": file.read_bytes()
                for file in sorted((folder / "inline").glob("*.so"))
                if file.is_file()
                and not file.is_symlink()
                and file.stat().st_size <= _LARGEST_LIBRARY
            }
            if not libraries:
                return Failure(Category.FORMAT, "model.py never calls load_inline at import")
            return self._forbidden(folder, sorted(libraries)) or libraries

    def _forbidden(self, folder: Path, libraries: Sequence[str]) -> Failure | None:
        tool = shutil.which("nm")
        if tool is None:
            raise ToolchainMissing(
                "the symbols of built kernels cannot be checked: there is no nm",
                fix="install binutils (Debian, Ubuntu: `apt install binutils`)",
            )
        done = self.sandbox.run(
            [tool, "-D", "--undefined-only", *libraries], workdir=folder, limits=LIMITS
        )
        if done.cause is not None or done.returncode != 0:
            return Failure(Category.COMPILE_ERROR, "nm cannot read the library's symbols")
        return inline_symbols(done.stdout.decode(errors="replace"))


def runnable(source: str) -> Mapping[str, bytes]:
    """Return `model.py` and `kernel_ops.py` for the process that runs the candidate."""
    shim = (RUNTIME / "inline_ops.py").read_bytes()
    lines = source.splitlines(keepends=True)
    # After the `__future__` imports; the line stays one line, so that tracebacks are one off only.
    first = max(
        (i + 1 for i, line in enumerate(lines) if line.startswith("from __future__ import")),
        default=0,
    )
    if first == 0:
        return {"model.py": (_INSTALL + source).encode(), "kernel_ops.py": shim}
    text = "".join([*lines[:first], _INSTALL, *lines[first:]])
    return {"model.py": text.encode(), "kernel_ops.py": shim}


def _failure(done: Finished) -> Failure:
    if done.cause in (Cause.TIMEOUT, Cause.CPU_TIME):
        return Failure(Category.TIMEOUT, f"the build timed out after {LIMITS.wall_s:g}s")
    if done.cause is Cause.MEMORY:
        return Failure(Category.MEMORY, "the build ran out of memory")
    said = done.stderr.decode(errors="replace")
    return Failure(Category.COMPILE_ERROR, cleaned(said) or f"the build ended: {done.cause}")
