"""Values: running estimates of how much a memory item helps, a stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Stage(StrEnum):
    """The two stages of EvoKernel: cold-start drafting, then continual refining."""

    DRAFT = "draft"
    REFINE = "refine"


@dataclass(frozen=True, slots=True)
class Value:
    """Estimate Q(stage, item) and how often it was updated.

    Attributes:
        mean: The estimate; rewards lie in [-1, 1] before normalisation.
        count: Number of updates behind it; 0 means unseen.
    """

    mean: float = 0.0
    count: int = 0


UNSEEN = Value()


@dataclass(frozen=True, slots=True)
class Moments:
    """Running mean and spread of the raw rewards of a stage, by which rewards are normalised.

    Attributes:
        count: Number of rewards behind it.
        mean: Their mean.
        square_sum: Sum of their squared deviations from the mean.
    """

    count: int = 0
    mean: float = 0.0
    square_sum: float = 0.0


NO_REWARDS = Moments()


@dataclass(frozen=True, slots=True)
class ValueView:
    """A frozen fold of the rollout log: everything that was learned from rewards.

    Start points are valued under the identity of their candidate.

    Attributes:
        values: (stage, item id) to value.
        rewards: Stage to the moments of the raw rewards seen so far.
    """

    values: Mapping[tuple[Stage, str], Value] = field(default_factory=lambda: MappingProxyType({}))
    rewards: Mapping[Stage, Moments] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, stage: Stage, item_id: str) -> Value:
        """Return the value of an item at a stage; unseen items have mean 0 and count 0."""
        return self.values.get((stage, item_id), UNSEEN)

    def rewards_at(self, stage: Stage) -> Moments:
        """Return the moments of the raw rewards of a stage; count 0 if there were none."""
        return self.rewards.get(stage, NO_REWARDS)
