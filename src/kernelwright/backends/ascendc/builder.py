"""Builds projects for the emulated chip in the sandbox, and keeps what was built."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kernelwright.backends.build_cache import BuildCache, Library
from kernelwright.backends.diagnostics import cleaned
from kernelwright.core.errors import ToolchainMissing
from kernelwright.core.execution import Failure
from kernelwright.core.fingerprint import Json, fingerprint
from kernelwright.core.verdict import Category
from kernelwright.emulator.build import BuildFault, Said, build
from kernelwright.emulator.chip_facts import host_facts
from kernelwright.emulator.library import Runtime, runtime
from kernelwright.emulator.project import Project
from kernelwright.emulator.suggest import suggestions
from kernelwright.emulator.targets import Chip
from kernelwright.sandbox import Cause, Limits, Sandbox

_LIMITS = Limits(wall_s=90.0, cpu_s=90.0, memory_bytes=3 << 30, file_bytes=256 << 20)
_FORMAT = 1
_TOOLS = (
    ("g++", "g++", "projects cannot be compiled"),
    ("addr2line", "binutils", "faults cannot be shown with their lines"),
)
_KEPT = (".so", ".py", ".json")
"""Files of a build folder that running needs; sources and headers stay behind."""


@dataclass
class Builder:
    """Compiles projects for one chip.

    Attributes:
        sandbox: Where compilers and the project's own code run.
        folder: Cache for the runtime library and for builds.
        chip: What tiling functions are told of.
        progress: Told in words what takes long: the first build of the runtime library.
    """

    sandbox: Sandbox
    folder: Path
    chip: Chip
    progress: Callable[[str], None] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def require_tools(self) -> str:
        """Return the compiler's path.

        Raises:
            ToolchainMissing: if it or addr2line is not installed.
        """
        for tool, package, use in _TOOLS:
            if shutil.which(tool) is None:
                raise ToolchainMissing(
                    f"{use}: there is no {tool}",
                    fix=f"install {package} (Debian, Ubuntu: `apt install {package}`)",
                )
        return str(shutil.which("g++"))

    @cached_property
    def runtime(self) -> Runtime:
        """The runtime library, built on first use.

        Raises:
            ToolchainMissing: if a tool is not installed.
        """
        self.require_tools()
        return runtime(self.folder, progress=self.progress)

    def built(self, project: Project) -> tuple[Library, float] | Failure:
        """Return the files that running a project needs, and the seconds the build took.

        Seconds are 0 where the build was there already.
        """
        content: list[Json] = [[path, text] for path, text in sorted(project.files.items())]
        # A build names the runtime library by its path: a cache that was moved must not answer.
        where = str(self.runtime.library)
        key = fingerprint(
            ["ascendc build", _FORMAT, where, self.chip.version, content],
            length=32,
        )
        cache = BuildCache(self.folder / "builds")
        known = cache.find(key)
        if known is not None:
            return known if isinstance(known, Failure) else (known, 0.0)
        started = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="kernelwright-build-") as name:
            found = self._compiled(project, Path(name))
        cache.keep(key, found)
        return found if isinstance(found, Failure) else (found, time.perf_counter() - started)

    def run(self, argv: Sequence[str], folder: Path) -> Said:
        """Run a command of a build in the sandbox.

        One at a time: each run owns its work folder under a user id of its own.
        """
        with self._lock:
            done = self.sandbox.run(
                list(argv),
                workdir=folder,
                limits=_LIMITS,
                env={"LC_ALL": "C", "TMPDIR": "."},
                readable=(self.runtime.library.parent.parent,),
            )
        said = done.stderr.decode(errors="replace")
        if done.cause in (Cause.TIMEOUT, Cause.CPU_TIME):
            said += f"\nerror: it took more than {_LIMITS.wall_s:g} s"
        code = 1 if done.returncode is None or done.cause is not None else done.returncode
        return Said(code, done.stdout.decode(errors="replace"), said)

    def ask(self, argv: Sequence[str], folder: Path) -> str:
        """Return what a command prints in the sandbox."""
        return self.run(argv, folder).stdout

    def _compiled(self, project: Project, folder: Path) -> Library | Failure:
        made = build(project, folder, self.runtime, self.run, platform=host_facts(self.chip))
        if isinstance(made, BuildFault):
            words = cleaned(made.log) or made.log.strip()
            words = "\n".join([words, *suggestions(made.log)])
            place = f"{made.part}:{made.line}: " if made.line and made.part not in words else ""
            return Failure(Category.COMPILE_ERROR, f"{place}{words}"[:4000])
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in _KEPT
        }
        notes = tuple((f"note_{number}", note) for number, note in enumerate(made.notes, start=1))
        return Library(files, notes)
