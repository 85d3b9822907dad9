"""What one rollout teaches: credit for everything that it was shown, and new items."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.core.ports import Lesson, ValueUpdate
from kernelwright.core.rollout import Rollout
from kernelwright.core.value import Moments, Stage, ValueView
from kernelwright.memory.distill import items_from
from kernelwright.memory.normalize import Safeguards, moved, normalised
from kernelwright.memory.values import StepSize, updated


@dataclass(frozen=True, slots=True)
class Learning:
    """How values move.

    Attributes:
        step: Step size of the update rule.
        safeguards: Bounds of normalised refine rewards.
    """

    step: StepSize = StepSize()
    safeguards: Safeguards = Safeguards()


def lesson_of(rollout: Rollout, *, values: ValueView, how: Learning) -> Lesson:
    """Return what a rollout teaches, given everything that was learned before it.

    Every item of the context gets the reward, at the stage of the rollout; when refining, the start
    point gets it too, and the reward is normalised first by the refine rewards before it.

    Source: EvoKernel (arXiv:2603.10846), eq. 4, sections 3.3 and 3.4.
    """
    stage, reward = rollout.proposal.stage, rollout.reward
    credited = list(rollout.context)
    rewards: tuple[tuple[Stage, Moments], ...] = ()
    if stage is Stage.REFINE:
        if rollout.proposal.start_point is not None:
            credited.append(rollout.proposal.start_point)
        before = values.rewards_at(stage)
        reward = normalised(rollout.reward, before, safeguards=how.safeguards)
        rewards = ((stage, moved(before, rollout.reward)),)
    updates = []
    for item_id in dict.fromkeys(credited):  # once each, however often it was shown
        value = values.of(stage, item_id)
        after = updated(value, reward, step=how.step)
        updates.append(ValueUpdate(stage, item_id, value, after, reward))
    return Lesson(items_from(rollout), tuple(updates), rewards)
