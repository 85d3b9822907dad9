"""The Ascend C backend behind the port, on the emulated chip."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from kernelwright.backends.ascendc.builder import Builder
from kernelwright.backends.ascendc.device_module import DeviceClient, DeviceModule
from kernelwright.backends.ascendc.export import exported, restored
from kernelwright.backends.ascendc.parts import MODEL, complaint_about
from kernelwright.backends.ascendc.screening import screened
from kernelwright.backends.model_rules.torch_names import DISPATCHED
from kernelwright.backends.seed_knowledge import seed_items
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Build, Failure, Finding
from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.ports import Module
from kernelwright.core.profile import Profile
from kernelwright.core.task import Task
from kernelwright.core.verdict import Category, Latency
from kernelwright.emulator.library import source_version
from kernelwright.emulator.project import Project, ProjectFault, project_from_parts
from kernelwright.emulator.report import Lines
from kernelwright.emulator.targets import DEFAULT_CHIP, load_chip
from kernelwright.sandbox import Limits, Sandbox
from kernelwright.sandbox.module_client import ModuleFile, Timeouts

HOST_ENTRY = "kernelwright.backends.ascendc.device_host:serve"
EMULATED_S = 300.0
"""Seconds that one call may take at least: an emulated chip is slower than any real one."""


class AscendBackend:
    """Ascend C projects on an emulated Atlas A2 chip.

    Args:
        sandbox: Where compilers and candidates run.
        cache_folder: Where the runtime library and builds are kept between runs.
        chip: Name of the chip, such as `910B2`.
        limits: Of a process that runs a candidate, for its whole life.
        timeouts: Of each request to it.
        options: How launches run: `strict_sync`, `timing_only`, `keep_events`.
        progress: Told in words what takes long.

    Raises:
        UnknownName: if there is no such chip.
    """

    name = "ascendc"
    is_simulated = True

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        cache_folder: Path,
        chip: str = DEFAULT_CHIP,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
        options: Mapping[str, bool] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._chip = load_chip(chip)
        self._builder = Builder(sandbox, cache_folder, self._chip, progress)
        self._limits = limits or Limits(
            wall_s=3600.0, cpu_s=3600.0, memory_bytes=8 << 30, processes=1
        )
        self._timeouts = timeouts or Timeouts(*(EMULATED_S for _ in range(4)))
        self._options = dict(options or {})

    def versions(self) -> Mapping[str, str]:
        """Return the emulated chip, the timing model and the runtime library.

        Raises:
            ToolchainMissing: if there is no C++ compiler.
        """
        return {
            "device": f"emulated {self._chip.name}",
            "timing_model": self._chip.version,
            "runtime": source_version(),
            "compiler": self._builder.require_tools(),
        }

    def screen(self, candidate: Candidate, task: Task) -> tuple[Finding, ...]:
        """Return what the static rules find; empty means that the candidate passes."""
        wrong = complaint_about(candidate)
        if wrong is not None:
            return (Finding("format:parts", MODEL, 1, wrong.reason),)
        return screened(candidate, task)

    def allowed_operators(self) -> frozenset[str]:
        """Return the PyTorch operators a candidate may dispatch: allocation, views, copies."""
        return DISPATCHED

    def build(self, candidate: Candidate) -> Build | Failure:
        """Compile host part, kernels and binding, and run the host part's registration.

        Raises:
            ToolchainMissing: if there is no C++ compiler.
        """
        wrong = complaint_about(candidate)
        if wrong is not None:
            return wrong
        project = project_from_parts(candidate.files)
        if isinstance(project, ProjectFault):
            place = f"{project.part}:{project.line}" if project.line else project.part
            return Failure(Category.FORMAT, f"{place}: {project.reason}")
        return self.build_project(candidate, project)

    def build_project(self, candidate: Candidate, project: Project) -> Build | Failure:
        """Compile a project of either form.

        Raises:
            ToolchainMissing: if there is no C++ compiler.
        """
        found = self._builder.built(project)
        if isinstance(found, Failure):
            return found
        library, wall_s = found
        return Build(
            candidate=candidate,
            files=tuple(sorted(library.files.items())),
            facts=library.facts,
            toolchain=tuple(self.versions().items()),
            wall_s=wall_s,
            is_cached=wall_s == 0.0,
        )

    def open(self, build: Build) -> AbstractContextManager[Module]:
        """Start a sandboxed process that holds the candidate's `ModelNew`."""
        return self.opened(build)

    @contextmanager
    def opened(
        self, build: Build, *, model: str = MODEL, options: Mapping[str, bool] | None = None
    ) -> Iterator[DeviceModule]:
        """Start the process.

        Args:
            build: What to run.
            model: The Python part that defines `ModelNew`.
            options: How launches run, besides what the backend was made with.
        """
        with tempfile.TemporaryDirectory(prefix="kernelwright-run-") as name:
            folder = Path(name)
            for path, content in build.files:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
            child = self._sandbox.start(
                HOST_ENTRY,
                workdir=folder,
                limits=self._limits,
                readable=(self._builder.runtime.library.parent,),
            )
            lines = Lines(ask=lambda argv: self._builder.ask(argv, folder))
            with DeviceClient(child, ModuleFile(model), timeouts=self._timeouts) as client:
                options = {**self._options, **(options or {})}
                names = tuple(build.candidate.files)
                yield DeviceModule(client, self._chip.name, lines, options, names)

    def profile(self, build: Build, latency: Latency, *, bytes_moved: int) -> Profile:
        """Describe a simulated latency against the chip's memory bandwidth."""
        return Profile(
            backend=self.name,
            tool=f"emulator {self._chip.version}",
            simulated=True,
            duration_us=latency.median_us,
            bytes_moved=bytes_moved,
            achieved_gbps=bytes_moved / latency.median_us / 1e3 if latency.median_us else 0.0,
            ceiling_gbps=self.copy_ceiling_gbps(bytes_moved, is_cold=True),
        )

    def copy_ceiling_gbps(self, working_set_bytes: int, *, is_cold: bool) -> float:
        """Return the chip's stated memory bandwidth in GB/s; it is not measured here."""
        constants = self._chip.constants
        cores = int(constants["vector_cores"])
        curve = self._chip.read_gbps
        return curve[min(cores, len(curve)) - 1] * cores

    def knowledge(self) -> tuple[MemoryItem, ...]:
        """Return what is known about writing for this backend before any rollout."""
        return seed_items(self.name)

    def candidate(self, files: Mapping[str, str]) -> Candidate:
        """Return files that a user has as a candidate: six parts, or one file of six strings."""
        return Candidate.of(self.name, restored(files))

    def export(self, candidate: Candidate, task: Task) -> Mapping[str, str]:
        """Return the project as it goes to a machine with CANN."""
        return exported(candidate, task)
