"""What the engine tells whoever watches; the engine itself prints and logs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kernelwright.core.execution import Admission
from kernelwright.core.rollout import History, Proposal, Rollout
from kernelwright.core.run import Run
from kernelwright.core.task import Task
from kernelwright.core.verdict import GateName


@dataclass(frozen=True, slots=True)
class Preparing:
    """Something that takes a while has begun before the first rollout."""

    step: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins or goes on; `history` holds what earlier invocations finished."""

    run: Run
    task: Task
    history: History


@dataclass(frozen=True, slots=True)
class TaskAdmitted:
    """The task's power to tell right from wrong is known."""

    admission: Admission


@dataclass(frozen=True, slots=True)
class Proposed:
    """A rollout begins with this proposal."""

    index: int
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class GateStarted:
    """A gate begins to judge the candidate of rollout `index`."""

    index: int
    gate: GateName


@dataclass(frozen=True, slots=True)
class RolloutRecorded:
    """A rollout is in the store; it will not be lost any more."""

    rollout: Rollout
    history: History


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run stops; `why` says which limit was reached or what else ended it."""

    run: Run
    history: History
    why: str


Event: TypeAlias = (
    Preparing | RunStarted | TaskAdmitted | Proposed | GateStarted | RolloutRecorded | RunEnded
)
Listener: TypeAlias = Callable[[Event], None]


def silent(event: Event) -> None:
    """Listen to nothing."""
