"""The memory as one object: settings, and the functions of this package behind the port."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.ports import Lesson
from kernelwright.core.rollout import History, Proposal, Rollout
from kernelwright.core.task import Task
from kernelwright.core.value import Moments, Stage, Value, ValueView
from kernelwright.core.verdict import Feasible, Verdict
from kernelwright.memory.embed import Embed, hashed
from kernelwright.memory.learn import Learning, lesson_of
from kernelwright.memory.retrieve import Retrieval, context_for
from kernelwright.memory.reward import reward_for


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Everything that can be chosen about the memory; the defaults are the product's.

    Attributes:
        retrieval: How a context is chosen.
        learning: How values move.
    """

    retrieval: Retrieval = Retrieval()
    learning: Learning = Learning()


class ValueDrivenMemory:
    """EvoKernel's memory; implements `core.ports.Memory` without any state of its own.

    Values depend on the settings: after a change of `learning`, rebuild the store's values
    (`kernelwright memory rebuild`), or old and new updates are mixed.
    """

    def __init__(self, settings: MemorySettings | None = None, *, embed: Embed = hashed) -> None:
        self._settings = settings or MemorySettings()
        self._embed = embed

    def retrieve(
        self,
        task: Task,
        proposal: Proposal,
        *,
        items: Sequence[MemoryItem],
        values: ValueView,
        rng: random.Random,
    ) -> tuple[MemoryItem, ...]:
        """Choose the context: a pool by similarity, then epsilon-greedy by the stage's values."""
        return context_for(
            task,
            proposal,
            items=items,
            values=values,
            how=self._settings.retrieval,
            embed=self._embed,
            rng=rng,
        )

    def reward(self, proposal: Proposal, verdict: Verdict, history: History) -> float:
        """Return the reward of a verdict, in [-1, 1] (EvoKernel, eq. 5 and 6).

        Raises:
            ValueError: if a feasible refinement has no feasible candidate before it.
        """
        best = history.best()
        best_verdict = None if best is None else best.verdict
        assert best_verdict is None or isinstance(best_verdict, Feasible)
        return reward_for(proposal.stage, verdict, best=best_verdict)

    def learn(self, rollout: Rollout, *, values: ValueView) -> Lesson:
        """Return what the rollout teaches: credit for every item in its context, new items."""
        return lesson_of(rollout, values=values, how=self._settings.learning)

    def fold(self, rollouts: Iterable[Rollout]) -> ValueView:
        """Rebuild all values from the log; equals the live ones."""
        values: dict[tuple[Stage, str], Value] = {}
        rewards: dict[Stage, Moments] = {}
        view = ValueView(MappingProxyType(values), MappingProxyType(rewards))
        for rollout in rollouts:
            lesson = self.learn(rollout, values=view)
            values.update({(u.stage, u.item_id): u.after for u in lesson.updates})
            rewards.update(lesson.rewards)
        return view
