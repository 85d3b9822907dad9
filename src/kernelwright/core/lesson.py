"""What a rollout teaches: new memory items and moved values."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.value import Moments, Stage, Value


@dataclass(frozen=True, slots=True)
class ValueUpdate:
    """One application of the update rule (EvoKernel, eq. 4) to one item."""

    stage: Stage
    item_id: str
    before: Value
    after: Value
    reward: float


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one rollout teaches; written in the same transaction as the rollout.

    Attributes:
        items: New memory items.
        updates: Moved values, at most one for each (stage, item id).
        rewards: Moved moments of the raw rewards, by stage.
    """

    items: tuple[MemoryItem, ...] = ()
    updates: tuple[ValueUpdate, ...] = ()
    rewards: tuple[tuple[Stage, Moments], ...] = ()
