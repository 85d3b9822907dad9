"""Choose a context: a pool of similar items, then the most valuable of them, mostly.

Takes:   all items about the backend, the values, and what is to be done.
Gives:   the items to show, in order: children of the start point, valued items, API cards.
Leaves:  the choice of the start point to the strategy; the values to `learn`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.core.rollout import Proposal
from kernelwright.core.task import Task
from kernelwright.core.value import Stage, ValueView
from kernelwright.memory.embed import Embed

_VALUED = (MemoryKind.TRACE, MemoryKind.EXPERIENCE, MemoryKind.PRACTICE)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How a context is chosen.

    Attributes:
        context_items: N, how many items are chosen by value.
        pool_factor: lambda at the beginning: the pool holds K = lambda * N items.
        pool_growth: How many times larger lambda gets in the end; EvoKernel §4.6 went from 2 to 30.
        pool_growth_items: How many valued items the memory holds by then; it grows in proportion.
        epsilon: Probability that a place is given to a random item of the pool.
        child_items: How many refinements of the same start point are shown beside the N.
        api_items: How many API cards are shown beside the N; they are chosen by similarity, because
            their use depends on the task and not on luck (EvoKernel §3.2).
    """

    context_items: int = 4
    pool_factor: float = 2.0
    pool_growth: float = 15.0
    pool_growth_items: int = 2000
    epsilon: float = 0.1
    child_items: int = 2
    api_items: int = 2

    def __post_init__(self) -> None:
        if min(self.context_items, self.child_items, self.api_items) < 0:
            raise ValueError("a number of items cannot be negative")
        if self.pool_factor < 1.0 or self.pool_growth < 1.0 or self.pool_growth_items < 1:
            raise ValueError("a pool must be at least as large as the context, and may only grow")
        if not 0.0 <= self.epsilon <= 1.0:
            raise ValueError(f"a probability must lie in [0, 1], not {self.epsilon}")


def context_for(
    task: Task,
    proposal: Proposal,
    *,
    items: Sequence[MemoryItem],
    values: ValueView,
    how: Retrieval,
    embed: Embed,
    rng: random.Random,
) -> tuple[MemoryItem, ...]:
    """Return the items to show a generator, each at most once; pure but for drawing from `rng`."""
    start_point = proposal.start_point
    current = _one_trace_a_candidate(items)
    children = _children(current, start_point, values=values, count=how.child_items)
    # Neither a child again, nor the start point, which the generator is given anyway.
    shown = {start_point, *(child.candidate_id for child in children)}
    valued = [
        item
        for item in current
        if item.kind in _VALUED
        and not (item.kind is MemoryKind.TRACE and item.candidate_id in shown)
    ]
    size = math.ceil(pool_factor(how, memory_size=len(valued)) * how.context_items)
    pool = most_similar(task, valued, count=size, embed=embed)
    chosen = select(
        pool, proposal.stage, values=values, count=how.context_items, epsilon=how.epsilon, rng=rng
    )
    cards = [item for item in items if item.kind is MemoryKind.API]
    return (*children, *chosen, *most_similar(task, cards, count=how.api_items, embed=embed))


def pool_factor(how: Retrieval, *, memory_size: int) -> float:
    """Return lambda: it grows with the memory, because a small memory has nothing more to offer.

    A larger pool lets the values find entries that similarity overlooks, once there are values to
    go by. Source: EvoKernel (arXiv:2603.10846), section 4.6.
    """
    share = min(memory_size / how.pool_growth_items, 1.0)
    return how.pool_factor * (1.0 + share * (how.pool_growth - 1.0))


def most_similar(
    task: Task, items: Sequence[MemoryItem], *, count: int, embed: Embed
) -> list[MemoryItem]:
    """Return the `count` items nearest to a task by cosine, nearest first; exact, no index."""
    if not items or count <= 0:
        return []
    matrix = np.stack([embed(f"{item.title} {item.category}\n{item.body}") for item in items])
    query = embed(f"{task.name} {task.category}\n{task.source}")
    # Rounded, so that the last bit of a sum, which may depend on the processor, decides nothing.
    nearness = np.round((matrix @ query).astype(np.float64), 5)
    # Of equals by content, which is the same on every machine; identities cost too much for all.
    ranked = sorted(
        zip(-nearness, items, strict=True),
        key=lambda pair: (pair[0], pair[1].title, pair[1].body, pair[1].candidate_id),
    )
    return [item for _, item in ranked[:count]]


def select(
    pool: Sequence[MemoryItem],
    stage: Stage,
    *,
    values: ValueView,
    count: int,
    epsilon: float,
    rng: random.Random,
) -> list[MemoryItem]:
    """Return `count` items of the pool by epsilon-greedy over the stage's values.

    Each place goes to a random remaining item with probability `epsilon`, else to the most valued
    one; of equals the first in the pool, which is the most similar.
    """
    remaining = list(pool)
    chosen: list[MemoryItem] = []
    while remaining and len(chosen) < count:
        if rng.random() < epsilon:
            at = rng.randrange(len(remaining))
        else:
            means = [values.of(stage, item.item_id).mean for item in remaining]
            at = means.index(max(means))
        chosen.append(remaining.pop(at))
    return chosen


def _children(
    items: Sequence[MemoryItem], start_point: str | None, *, values: ValueView, count: int
) -> list[MemoryItem]:
    """Return traces of refinements of the start point, most valued first, then the latest."""
    if start_point is None:
        return []
    found = [
        (values.of(Stage.REFINE, item.item_id).mean, at, item)
        for at, item in enumerate(items)
        if item.kind is MemoryKind.TRACE
        and item.parent_id == start_point
        and item.candidate_id != start_point
    ]
    found.sort(key=lambda child: child[:2], reverse=True)
    return [item for _, _, item in found[:count]]


def _one_trace_a_candidate(items: Sequence[MemoryItem]) -> list[MemoryItem]:
    # The same candidate may have been verified more than once; the latest trace speaks for it.
    latest = {
        item.candidate_id: at for at, item in enumerate(items) if item.kind is MemoryKind.TRACE
    }
    return [
        item
        for at, item in enumerate(items)
        if item.kind is not MemoryKind.TRACE or latest[item.candidate_id] == at
    ]
