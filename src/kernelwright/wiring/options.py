"""What a command asks for, as records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.budget import Budget
from kernelwright.core.task import Tolerance


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """Which task, and how small it must be.

    Attributes:
        path: The task file.
        max_bytes: Bound on inputs + parameters + activations, or None for the file's own sizes.
        max_flops: Bound on floating-point operations of one call, or None.
    """

    path: Path
    max_bytes: int | None = None
    max_flops: int | None = None


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """One candidate to be verified for a task on a backend."""

    task: TaskOptions
    candidate: Path
    backend: str
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """A run to be begun or resumed.

    Attributes:
        task: The task.
        backend: Name of the backend.
        generator: Name of the generator.
        strategy: Name of the strategy.
        tolerance: Rule by which outputs agree.
        budget: What the run may spend.
        seed: Seed of the run.
        out: Folder for the artifact; None is `kernelwright-out/<task>/`.
        store: Database; None is the settings' own.
        is_fresh: Begin a new run although one with the same options is there.
    """

    task: TaskOptions
    backend: str
    generator: str
    strategy: str
    tolerance: Tolerance
    budget: Budget
    seed: int
    out: Path | None = None
    store: Path | None = None
    is_fresh: bool = False
