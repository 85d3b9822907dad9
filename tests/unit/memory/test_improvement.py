"""Retrieval gets better by use: an item that helps is found, and one that harms is left out."""

from __future__ import annotations

import random

import pytest

from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.rollout import Proposal, Rollout
from kernelwright.core.value import Moments, Stage, Value, ValueView
from kernelwright.memory.memory import MemorySettings, ValueDrivenMemory
from kernelwright.memory.retrieve import Retrieval
from kernelwright.testing.samples import a_rollout, a_run, a_task, an_item, feasible, infeasible

ITEMS = [an_item(f"advice {letter}", body="softmax rows") for letter in "abcdefghijkl"]
HELPFUL, HARMFUL = ITEMS[7], ITEMS[2]
MEMORY = ValueDrivenMemory(
    MemorySettings(
        retrieval=Retrieval(context_items=3, pool_factor=4.0, pool_growth=1.0, epsilon=0.15)
    )
)


def course(stage: Stage, count: int, *, seed: int, is_learning: bool = True) -> list[Rollout]:
    """Play `count` rollouts in which one item helps, one harms, and the others do nothing."""
    rng = random.Random(seed)
    rollouts: list[Rollout] = []
    proposal = Proposal(stage, "start" if stage is Stage.REFINE else None)
    learned: dict[tuple[Stage, str], Value] = {}
    rewards: dict[Stage, Moments] = {}
    for index in range(count):
        values = ValueView(learned, rewards) if is_learning else ValueView()
        context = MEMORY.retrieve(a_task(), proposal, items=ITEMS, values=values, rng=rng)
        shown = [item.item_id for item in context]
        chance = 0.4 + 0.5 * (HELPFUL.item_id in shown) - 0.4 * (HARMFUL.item_id in shown)
        is_good = rng.random() < chance
        gain = rng.uniform(0.1, 0.4) if stage is Stage.REFINE and is_good else None
        rollout = a_rollout(
            a_run(),
            index,
            verdict=feasible() if is_good else infeasible(),
            start_point=proposal.start_point,
            context=shown,
            reward=gain,
        )
        lesson = MEMORY.learn(rollout, values=values)
        learned.update({(u.stage, u.item_id): u.after for u in lesson.updates})
        rewards.update(lesson.rewards)
        rollouts.append(rollout)
    return rollouts


def share(rollouts: list[Rollout], item: MemoryItem) -> float:
    return sum(item.item_id in rollout.context for rollout in rollouts) / len(rollouts)


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("seed", range(3))
def test_what_helps_is_shown_more_and_more_and_what_harms_less(stage: Stage, seed: int) -> None:
    late = course(stage, 120, seed=seed)[60:]
    assert share(late, HELPFUL) > 0.6  # by chance: 0.25
    assert share(late, HARMFUL) < 0.2


@pytest.mark.parametrize("stage", list(Stage))
def test_without_values_nothing_improves(stage: Stage) -> None:
    late = course(stage, 120, seed=0, is_learning=False)[60:]
    assert share(late, HELPFUL) < 0.5


def test_more_rollouts_succeed_with_values_than_without() -> None:
    def successes(*, is_learning: bool) -> int:
        courses = (course(Stage.DRAFT, 80, seed=s, is_learning=is_learning) for s in range(4))
        return sum(rollout.reward == 1.0 for rollouts in courses for rollout in rollouts)

    assert successes(is_learning=True) > 1.3 * successes(is_learning=False)
