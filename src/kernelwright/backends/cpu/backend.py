"""The CPU backend behind the port: screen, build, open, profile, export."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from kernelwright.backends.build_cache import BuildCache, Library
from kernelwright.backends.cpu.copy_ceiling import CopyCeilings
from kernelwright.backends.cpu.declarations import Kernel, kernels_in
from kernelwright.backends.cpu.export import exported
from kernelwright.backends.cpu.inline_build import InlineBuilder, runnable
from kernelwright.backends.cpu.parts import MODEL, complaint_about, cpp_parts, is_inline
from kernelwright.backends.cpu.profiling import profile_of
from kernelwright.backends.cpu.restore import restored
from kernelwright.backends.cpu.screening import screened
from kernelwright.backends.cpu.shim import shim_source
from kernelwright.backends.cpu.static_facts import facts_of, forbidden_symbols
from kernelwright.backends.cpu.toolchain import BASE_FLAGS, LIBRARY, OPENMP, Toolchain
from kernelwright.backends.model_rules.torch_names import DISPATCHED
from kernelwright.backends.seed_knowledge import seed_items
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Build, Failure, Finding
from kernelwright.core.fingerprint import Json, fingerprint
from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.ports import Module
from kernelwright.core.profile import Profile
from kernelwright.core.task import Task
from kernelwright.core.verdict import Category, Latency
from kernelwright.sandbox import Limits, Sandbox
from kernelwright.sandbox.module_client import HOST_ENTRY, ModuleClient, Timeouts

_BUILD_FORMAT = 2


class CpuBackend:
    """C++ kernels with a plain C ABI on this machine's processor.

    Args:
        sandbox: Where compilers and candidates run.
        cache_folder: Where builds and measured ceilings are kept between runs.
        compiler: Name or path; None takes g++, or clang++ where there is none.
        flags: Compiler flags after all others, such as `-ffast-math`.
        threads: Threads that a candidate may use while it is verified: what its baseline has.
        limits: Of a process that runs a candidate, for its whole life.
        timeouts: Of each request to it.
    """

    name = "cpu"
    is_simulated = False

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        cache_folder: Path,
        compiler: str | None = None,
        flags: tuple[str, ...] = (),
        threads: int = 1,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._toolchain = Toolchain(sandbox, compiler, flags, cache_folder / "toolchain.json")
        self._cache = BuildCache(cache_folder / "builds")
        self._limits = limits or Limits(
            wall_s=900.0, cpu_s=900.0 * threads, memory_bytes=8 << 30, processes=threads
        )
        self._timeouts = timeouts or Timeouts()
        self._ceilings = CopyCeilings(
            cache_folder / "ceilings.json",
            self._toolchain.processor.model,
            self.build,
            self.open,
        )

    def versions(self) -> Mapping[str, str]:
        """Return compiler, flags and processor.

        Raises:
            ToolchainMissing: if there is no compiler.
        """
        return {
            "compiler": f"{self._toolchain.version()} ({self._toolchain.path()})",
            "flags": " ".join(self._toolchain.flags()),
            "processor": self._toolchain.processor.model,
            "vector_bits": str(self._toolchain.processor.vector_bits),
        }

    def screen(self, candidate: Candidate, task: Task) -> tuple[Finding, ...]:
        """Return what the static rules find; empty means that the candidate passes."""
        return screened(candidate, task)

    def allowed_operators(self) -> frozenset[str]:
        """Return the PyTorch operators a candidate may dispatch: allocation, views, copies."""
        return DISPATCHED

    def build(self, candidate: Candidate) -> Build | Failure:
        """Compile the candidate's C++ and put the generated shim beside it.

        Raises:
            ToolchainMissing: if there is no compiler.
        """
        wrong = complaint_about(candidate)
        if wrong is not None:
            return wrong
        return (
            self._build_inline(candidate) if is_inline(candidate) else self._build_parts(candidate)
        )

    def _build_parts(self, candidate: Candidate) -> Build | Failure:
        parts = cpp_parts(candidate)
        kernels = kernels_in(parts)
        complaint = _complaint_about(kernels)
        if complaint is not None:
            return complaint

        def compiled() -> Library | Failure:
            made = self._toolchain.compile(parts)
            if isinstance(made, Failure):
                return made
            return forbidden_symbols(made) or Library({LIBRARY: made.library}, facts_of(made))

        shim = {"kernel_ops.py": shim_source(kernels).encode()}
        texts = {path: text.encode() for path, text in candidate.parts}
        return self._finished(candidate, list(parts), {**texts, **shim}, compiled)

    def _build_inline(self, candidate: Candidate) -> Build | Failure:
        source = candidate.files[MODEL]

        def compiled() -> Library | Failure:
            made = InlineBuilder(self._sandbox, self._toolchain.path()).build(source)
            return made if isinstance(made, Failure) else Library(made, (("inline", "yes"),))

        return self._finished(candidate, [(MODEL, source)], runnable(source), compiled)

    def _finished(
        self,
        candidate: Candidate,
        sources: Sequence[tuple[str, str]],
        texts: Mapping[str, bytes],
        compiled: Callable[[], Library | Failure],
    ) -> Build | Failure:
        """Take the build of these sources from the cache, or make and keep it."""
        started = time.perf_counter()
        version, flags = self._toolchain.version(), self._toolchain.flags()
        content: list[Json] = [list(part) for part in sources]
        key = fingerprint(["cpu build", _BUILD_FORMAT, version, list(flags), content], length=32)
        known = self._cache.find(key)
        built = compiled() if known is None else known
        if known is None:
            self._cache.keep(key, built)
        if isinstance(built, Failure):
            return built
        return Build(
            candidate=candidate,
            files=tuple(sorted({**texts, **built.files}.items())),
            facts=built.facts,
            toolchain=tuple(self.versions().items()),
            wall_s=0.0 if known is not None else time.perf_counter() - started,
            is_cached=known is not None,
        )

    def open(self, build: Build) -> AbstractContextManager[Module]:
        """Start a sandboxed process that holds the candidate's `ModelNew`."""
        return self._opened(build)

    def copy_ceiling_gbps(self, working_set_bytes: int, *, is_cold: bool) -> float:
        """Return the most bytes a second that moving or only reading memory reaches, in GB/s.

        Reading counts too: a reduction that hardly writes is honestly faster than any copy.

        Raises:
            MachineLacks: if it cannot be measured.
        """
        return self._ceilings.at(working_set_bytes, is_cold=is_cold).bound_gbps

    def profile(self, build: Build, latency: Latency, *, bytes_moved: int) -> Profile:
        """Describe a measured execution against the copy bandwidth with a warm cache."""
        ceiling = self._ceilings.at(bytes_moved, is_cold=False)
        return profile_of(
            build,
            latency,
            bytes_moved=bytes_moved,
            ceiling_gbps=ceiling.copy_gbps,
            machine_bits=self._toolchain.processor.vector_bits,
        )

    def export(self, candidate: Candidate, task: Task) -> Mapping[str, str]:
        """Return the C++ parts and a `model.py` that builds and calls them on any machine."""
        flags = (*BASE_FLAGS, OPENMP, *self._toolchain.extra_flags)
        return exported(candidate, task, flags=flags)

    def candidate(self, files: Mapping[str, str]) -> Candidate:
        """Return files that a user has as a candidate; an export's loader is taken out again."""
        model = restored(files[MODEL]) if MODEL in files else None
        return Candidate.of(self.name, {**files, **({} if model is None else {MODEL: model})})

    def knowledge(self) -> tuple[MemoryItem, ...]:
        """Return what is known about writing for this backend before any rollout."""
        return seed_items(self.name)

    @contextmanager
    def _opened(self, build: Build) -> Iterator[Module]:
        with tempfile.TemporaryDirectory(prefix="kernelwright-run-") as name:
            folder = Path(name)
            for path, content in build.files:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
            child = self._sandbox.start(HOST_ENTRY, workdir=folder, limits=self._limits)
            with ModuleClient(child, timeouts=self._timeouts) as module:
                yield module


def _complaint_about(kernels: tuple[Kernel, ...]) -> Failure | None:
    if not kernels:
        return Failure(
            Category.FORMAT,
            'no part declares a kernel: write `extern "C" void NAME(...)` in kernel.cpp and call'
            f" it as `kernel_ops.NAME(...)` in {MODEL}",
        )
    wrong = [kernel for kernel in kernels if kernel.complaint]
    if wrong:
        return Failure(
            Category.COMPILE_ERROR,
            "\n".join(f"{kernel.path}:{kernel.line}: {kernel.complaint}" for kernel in wrong[:5]),
        )
    return None
