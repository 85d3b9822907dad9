"""g++ or clang++ in the sandbox: C++ text to a shared library, or feedback for its author."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.backends.cpu.vector_extensions import Processor, this_processor
from kernelwright.backends.diagnostics import cleaned
from kernelwright.core.errors import ToolchainMissing
from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category
from kernelwright.sandbox import Cause, Finished, Limits, Sandbox

COMPILERS = ("g++", "clang++")
"""Compilers that are tried when none is chosen, in order."""

BASE_FLAGS = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-shared",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-Wl,-z,defs",
    "-w",
)
"""Flags of every build. Values stay IEEE: NaN, infinities and signed zeros work as written."""

OPENMP = "-fopenmp"
"""How OpenMP is switched on, also in artifacts."""

OPENMP_SIMD = "-fopenmp-simd"
"""What is used where OpenMP's run time cannot start in the sandbox: vectors, but no threads. Old
versions of clang's run time insist on shared memory, which untrusted code does not get."""

LIBRARY = "kernel.so"
_LIMITS = Limits(wall_s=60.0, cpu_s=60.0, memory_bytes=3 << 30, file_bytes=64 << 20)
_LARGEST_LIBRARY = 64 << 20
_PROBE = """
#include <cmath>
extern "C" void probe(float* x) {
#pragma omp parallel for
    for (int i = 0; i < 4; i++) x[i] = std::sqrt(x[i]);
}
"""
_RUN_PROBE = "import ctypes; x = (ctypes.c_float * 4)(); ctypes.CDLL('./probe.so').probe(x)"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A shared library, and what the binary tools said about it.

    Attributes:
        library: The file's bytes.
        symbols: Output of `nm -D --undefined-only`.
        disassembly: Output of `objdump -d`, empty where there is no objdump.
    """

    library: bytes
    symbols: str
    disassembly: str


@dataclass(slots=True)
class Toolchain:
    """One compiler with the flags it gets on this machine.

    Attributes:
        sandbox: Where it runs.
        compiler: Name or path, None for the first of `COMPILERS` that is installed.
        extra_flags: Flags of the user, after all others.
        cache_file: Where what was found out is kept between processes, None for nowhere.
        processor: What the code is built for.
    """

    sandbox: Sandbox
    compiler: str | None = None
    extra_flags: tuple[str, ...] = ()
    cache_file: Path | None = None
    processor: Processor = field(default_factory=this_processor)
    _known: tuple[str, tuple[str, ...]] | None = None

    def path(self) -> Path:
        """Return the compiler's path.

        Raises:
            ToolchainMissing: if it is not installed.
        """
        names = COMPILERS if self.compiler is None else (self.compiler,)
        for name in names:
            found = shutil.which(name)
            if found is not None:
                return Path(found)
        raise ToolchainMissing(
            f"there is no C++ compiler: {' or '.join(names)} is not on PATH",
            fix="install g++ (Debian, Ubuntu: `apt install g++`) or clang++; `kernelwright doctor`"
            " shows what is found",
        )

    def version(self) -> str:
        """Return the compiler's name and version, such as `g++ 12.2.0`."""
        return self._probed()[0]

    def flags(self) -> tuple[str, ...]:
        """Return all flags of a build on this machine."""
        return self._probed()[1]

    def compile(self, parts: Sequence[tuple[str, str]]) -> Compiled | Failure:
        """Build the `.cpp` parts, given with their headers as (path, content), to one library.

        Raises:
            ToolchainMissing: if there is no compiler, or no nm to check what it made.
        """
        with tempfile.TemporaryDirectory(prefix="kernelwright-build-") as name:
            folder = Path(name)
            for path, content in parts:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(content, encoding="utf-8")
            sources = [path for path, _ in parts if path.endswith(".cpp")]
            argv = [str(self.path()), *self.flags(), "-I.", *sources, "-o", LIBRARY]
            done = self._run(argv, folder)
            if done.cause is not None or done.returncode != 0:
                return _failure(done)
            library = (folder / LIBRARY).read_bytes()
            if len(library) > _LARGEST_LIBRARY:
                return Failure(Category.COMPILE_ERROR, "the library is larger than 64 MiB")
            nm, objdump = shutil.which("nm"), shutil.which("objdump")
            if nm is None:
                raise ToolchainMissing(
                    "the symbols of built kernels cannot be checked: there is no nm",
                    fix="install binutils (Debian, Ubuntu: `apt install binutils`)",
                )
            listed = self._run([nm, "-D", "--undefined-only", LIBRARY], folder)
            if listed.cause is not None or listed.returncode != 0:
                return Failure(Category.COMPILE_ERROR, "nm cannot read the library's symbols")
            disassembly = ""
            if objdump is not None:
                shown = self._run([objdump, "-d", "--no-show-raw-insn", LIBRARY], folder)
                disassembly = shown.stdout.decode(errors="replace")
            return Compiled(library, listed.stdout.decode(errors="replace"), disassembly)

    def _run(self, argv: Sequence[str], folder: Path, stdin: bytes = b"") -> Finished:
        home = self.path().resolve().parent.parent
        readable = () if str(home) in {"/", "/usr", "/usr/local"} else (home,)
        return self.sandbox.run(
            argv,
            workdir=folder,
            limits=_LIMITS,
            env={"LC_ALL": "C", "TMPDIR": "."},
            readable=readable,
            stdin=stdin,
        )

    def _probed(self) -> tuple[str, tuple[str, ...]]:
        """Return version and flags, found out once for each compiler and processor."""
        if self._known is None:
            path = self.path()
            key = f"{path} {path.resolve().stat().st_mtime_ns} {' '.join(self.processor.flags)}"
            found = self._remembered(key)
            if found is None:
                found = self._asked(path)
                self._remember(key, found)
            version, chosen = found
            self._known = version, (*BASE_FLAGS, *chosen, *self.extra_flags)
        return self._known

    def _asked(self, path: Path) -> tuple[str, list[str]]:
        """Ask for the version, and find out by trying which flags work with this compiler."""
        with tempfile.TemporaryDirectory(prefix="kernelwright-probe-") as name:
            folder = Path(name)
            done = self._run([str(path), "-dumpfullversion", "-dumpversion"], folder)
            if done.returncode != 0:  # clang knows the short form only, which for it is complete
                done = self._run([str(path), "-dumpversion"], folder)
            number = done.stdout.decode(errors="replace").strip() or "of unknown version"
            vectors = list(self.processor.flags)
            self._try(vectors, folder)
            ran = self._run([sys.executable, "-S", "-c", _RUN_PROBE], folder)
            openmp = OPENMP if ran.returncode == 0 else OPENMP_SIMD
            return f"{path.name} {number}", [openmp, *vectors]

    def _remembered(self, key: str) -> tuple[str, list[str]] | None:
        if self.cache_file is None:
            return None
        try:
            record = json.loads(self.cache_file.read_text(encoding="utf-8"))
            return (str(record["version"]), list(record["flags"])) if record["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError):
            # Missing or damaged: it is a cache, asking again makes it whole.
            return None

    def _remember(self, key: str, found: tuple[str, list[str]]) -> None:
        if self.cache_file is not None:
            self.cache_file.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.cache_file.with_suffix(f".{os.getpid()}")
            record = {"key": key, "version": found[0], "flags": found[1]}
            fresh.write_text(json.dumps(record), encoding="utf-8")
            os.replace(fresh, self.cache_file)

    def _try(self, vectors: list[str], folder: Path) -> None:
        for _ in range(len(vectors) + 1):
            argv = [str(self.path()), *BASE_FLAGS, OPENMP, *vectors, "-x", "c++", "-"]
            argv += ["-o", "probe.so"]
            done = self._run(argv, folder, stdin=_PROBE.encode())
            if done.returncode == 0:
                return
            said = done.stderr.decode(errors="replace")
            unknown = [flag for flag in vectors if f"'{flag}'" in said or f"‘{flag}’" in said]
            if not unknown:
                raise ToolchainMissing(
                    f"{self.path()} cannot build a library with OpenMP: {cleaned(said)[:300]}",
                    fix="install the compiler's standard library and OpenMP (Debian, Ubuntu:"
                    " `apt install g++`, or `libomp-dev` for clang++)",
                )
            for flag in unknown:
                vectors.remove(flag)


def _failure(done: Finished) -> Failure:
    if done.cause in (Cause.TIMEOUT, Cause.CPU_TIME):
        return Failure(Category.TIMEOUT, f"the compiler timed out after {_LIMITS.wall_s:g}s")
    if done.cause is Cause.MEMORY:
        return Failure(Category.MEMORY, "the compiler ran out of memory: simplify the templates")
    said = cleaned(done.stderr.decode(errors="replace"))
    return Failure(Category.COMPILE_ERROR, said or f"the compiler ended: {done.cause}")
