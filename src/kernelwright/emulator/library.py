"""Builds and caches the emulator's runtime library and the precompiled kernel header.

The key of everything is content: compiler, flags, sources. Objects are cached one by one, so that a
change rebuilds what depends on it; finished files appear by an atomic rename, and a lock keeps two
processes from building the same thing.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.errors import MachineLacks, ToolchainMissing

INCLUDE = Path(__file__).parent / "include"
SOURCES = Path(__file__).parent / "runtime"
STANDARD = ("-std=c++17", "-fPIC", "-w")
KERNEL_FLAGS = (
    *STANDARD, "-O2", "-g1", "-fno-optimize-sibling-calls", "-fno-ipa-icf", "-fno-crossjumping",
    "-fno-tree-tail-merge", "-DKW_KERNEL_SIDE",
)  # fmt: skip
"""How a kernel is compiled. Faults find their line by return addresses: each call keeps its own."""
RUNTIME_FLAGS = (*STANDARD, "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-g1")
HOST_FLAGS = (*STANDARD, "-O0", "-DTORCH_EXTENSION_NAME=custom_ops_lib")
"""How op_host sources and bindings are compiled: each runs for microseconds."""
PRECOMPILED = {
    "kernel": ("kernel_operator.h", KERNEL_FLAGS),
    "host": ("kw/first_host.h", HOST_FLAGS),
    "binding": ("kw/first_binding.h", HOST_FLAGS),
}
"""Header to precompile, and with which flags, by what is compiled."""
_LIBRARY = "libkw_runtime.so"

Progress = Callable[[str], None]
"""Told what is being built, in words; a first build takes a while."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What kernels are compiled against and run by.

    Attributes:
        compiler: The C++ compiler's command.
        include: Folder of the device headers.
        library: The runtime library; load it with `RTLD_GLOBAL` before a kernel.
        precompiled: Header to `-include` first, by what is compiled (keys of `PRECOMPILED`).
    """

    compiler: str
    include: Path
    library: Path
    precompiled: Mapping[str, Path]


def runtime(
    cache: Path, *, compiler: str = "g++", progress: Progress | None = None, workers: int = 2
) -> Runtime:
    """Return the runtime, built in `cache` unless it is there.

    Raises:
        ToolchainMissing: if the compiler is not installed.
        MachineLacks: if the compiler cannot build the runtime.
    """
    path = shutil.which(compiler)
    if path is None:
        raise ToolchainMissing(
            f"{compiler!r} is not on PATH", fix="install g++ 11 or newer (Debian: apt install g++)"
        )
    builder = _Builder(path, cache / "emulator", progress or _quiet)
    builder.folder.mkdir(parents=True, exist_ok=True)
    with _locked(builder.folder / "lock"):
        with ThreadPoolExecutor(max_workers=workers) as pool:
            headers = {kind: pool.submit(builder.precompile, kind) for kind in PRECOMPILED}
            objects = list(pool.map(builder.compile, sorted(SOURCES.glob("*.cpp"))))
            precompiled = {kind: header.result() for kind, header in headers.items()}
        library = builder.link(objects)
    return Runtime(path, INCLUDE, library, precompiled)


@functools.cache
def source_version() -> str:
    """Return the fingerprint of the runtime's sources and headers; nothing is built for it."""
    files = sorted(
        path for root in (INCLUDE, SOURCES) for path in root.rglob("*") if path.is_file()
    )
    return _hash([part for path in files for part in (path.name.encode(), path.read_bytes())])[:12]


def kernel_command(
    made: Runtime, source: Path, output: Path, *, more: Sequence[str] = ()
) -> list[str]:
    """Return the command that compiles one kernel source to a shared library."""
    first = ["-include", str(made.precompiled["kernel"])]
    return [
        made.compiler, *KERNEL_FLAGS, *first, f"-I{made.include}", *more, "-shared", str(source),
        "-o", str(output),
    ]  # fmt: skip


def _quiet(_: str) -> None:
    return


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _hash(parts: Sequence[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class _Builder:
    compiler: str
    folder: Path
    progress: Progress

    def compile(self, source: Path) -> Path:
        """Return the object of one source, compiled unless nothing it depends on has changed."""
        folder = self.folder / "objects"
        folder.mkdir(exist_ok=True)
        flags = (*RUNTIME_FLAGS, f"-I{INCLUDE}", f"-I{SOURCES}")
        return self._built(source, folder, ".o", (*flags, "-c"))

    def precompile(self, kind: str) -> Path:
        """Return the copy of a header that stands beside its precompiled form."""
        name, base = PRECOMPILED[kind]
        header = INCLUDE / name
        flags = (*base, f"-I{INCLUDE}", "-x", "c++-header")
        made = self._built(header, self.folder, ".gch", flags)
        home = made.with_suffix("")
        home.mkdir(exist_ok=True)
        beside = home / f"{header.name}.gch"
        if not beside.exists():
            (home / header.name).write_text(f'#include "{header}"\n', encoding="utf-8")
            os.link(made, home / "new")
            os.replace(home / "new", beside)
        return home / header.name

    def link(self, objects: Sequence[Path]) -> Path:
        """Return the library of all objects."""
        key = _hash([self.compiler.encode(), *(path.name.encode() for path in objects)])
        library = self.folder / key / _LIBRARY
        if library.exists():
            return library
        self.progress("linking the emulator's runtime")
        library.parent.mkdir(exist_ok=True)
        fresh = library.with_suffix(".new")
        self._run(["-shared", "-o", str(fresh), *map(str, objects), "-ldl", "-lpthread"])
        os.replace(fresh, library)
        return library

    def _built(self, source: Path, folder: Path, suffix: str, flags: Sequence[str]) -> Path:
        notes = folder / f"{source.stem}.d"
        base = [self.compiler.encode(), "\n".join(flags).encode()]
        if notes.exists():
            key = self._key(base, notes, source)
            found = folder / f"{source.stem}-{key}{suffix}"
            if key and found.exists():
                return found
        self.progress(f"compiling {source.name}")
        fresh = folder / f"{source.stem}.new{suffix}"
        depends = folder / f"{source.stem}.new.d"
        self._run([*flags, "-MD", "-MF", str(depends), str(source), "-o", str(fresh)])
        os.replace(depends, notes)
        target = folder / f"{source.stem}-{self._key(base, notes, source)}{suffix}"
        for old in folder.glob(f"{source.stem}-*{suffix}"):
            if _is_version_of(old, source.stem):
                old.unlink()
        os.replace(fresh, target)
        return target

    def _key(self, base: Sequence[bytes], notes: Path, source: Path) -> str:
        """Return the key of a source by everything it includes of ours; empty if that is gone."""
        words = notes.read_text(encoding="utf-8").replace("\\\n", " ").split()
        ours = sorted({Path(word) for word in words if word.startswith(str(SOURCES.parent))})
        if source not in ours or not all(path.exists() for path in ours):
            return ""
        return _hash([*base, *(str(path).encode() + b"\0" + path.read_bytes() for path in ours)])

    def _run(self, arguments: Sequence[str]) -> None:
        done = subprocess.run(
            [self.compiler, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise MachineLacks(
                f"{self.compiler} cannot build the emulator's runtime: {done.stderr[-3000:]}",
                fix="use g++ 11 or newer; if it is, report this as a bug",
            )


def _is_version_of(path: Path, stem: str) -> bool:
    return path.stem.rsplit("-", 1)[0] == stem
