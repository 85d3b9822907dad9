"""Runs: one `solve` or `suite` invocation, resumable, with an id."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kernelwright.core.budget import Budget


class RunStatus(StrEnum):
    """Where a run stands."""

    ACTIVE = "active"
    """Started and neither finished nor known to be dead: it can be resumed."""
    FINISHED = "finished"
    """Its budget is spent; a larger budget continues it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One resumable run on one task.

    Attributes:
        run_id: Short identity, also a folder name.
        key: Fingerprint of task, backend and options: equal keys resume one another.
        task_id: Task it is about.
        task_name: Task's name, for lists.
        backend: Backend it works on.
        options: (name, value) of what was asked for, and of what resuming it needs.
        budget: What it may spend.
        seed: Seed of the run.
        status: Where it stands.
        started_at: Seconds since 1970-01-01 UTC.
    """

    run_id: str
    key: str
    task_id: str
    task_name: str
    backend: str
    options: tuple[tuple[str, str], ...]
    budget: Budget
    seed: int
    status: RunStatus = RunStatus.ACTIVE
    started_at: float = 0.0
