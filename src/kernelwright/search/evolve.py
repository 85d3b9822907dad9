"""The strategy `evolve`: draft until something is feasible, then refine start points by value."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.core.rollout import History, Proposal, Rollout
from kernelwright.core.value import Stage, ValueView
from kernelwright.core.verdict import Feasible
from kernelwright.search.standing import log_speed


@dataclass(frozen=True, slots=True)
class Evolve:
    """EvoKernel's two stages; implements `core.ports.Strategy`.

    A start point is chosen by epsilon-greedy over its refine value Q2. One that was never refined
    has no value yet; it counts as `optimism + tanh(log(b / l))`, where b / l compares it with the
    best: near the best it is tried before start points that have disappointed, far behind it is not
    tried only because it is new. The paper says that Q2 chooses, not what an unseen start point
    counts as; that part is ours.

    Attributes:
        epsilon: Probability of a random start point.
        optimism: What an unseen start point as fast as the best counts as; values near 0 are
            average, because refine rewards are normalised.

    Source: EvoKernel (arXiv:2603.10846), sections 3.3 and 3.4.
    """

    epsilon: float = 0.1
    optimism: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.epsilon <= 1.0:
            raise ValueError(f"a probability must lie in [0, 1], not {self.epsilon}")

    @property
    def name(self) -> str:
        """Name in the registry."""
        return "evolve"

    def propose(self, history: History, *, values: ValueView, rng: random.Random) -> Proposal:
        """Return the next proposal; pure: equal arguments give equal proposals."""
        start_points = history.start_points()
        if not start_points:
            drafts = len(history.rollouts)
            return Proposal(Stage.DRAFT, why=f"nothing is feasible after {drafts} drafts")
        if rng.random() < self.epsilon:
            chosen = start_points[rng.randrange(len(start_points))]
            why = f"a random one of {len(start_points)} start points"
        else:
            chosen, why = self._most_valued(start_points, values)
        return Proposal(Stage.REFINE, chosen.candidate.candidate_id, why)

    def _most_valued(
        self, start_points: Sequence[Rollout], values: ValueView
    ) -> tuple[Rollout, str]:
        fastest = max(map(_speed, start_points))
        ranked = []
        for rollout in start_points:
            value = values.of(Stage.REFINE, rollout.candidate.candidate_id)
            speed = _speed(rollout)
            worth = value.mean if value.count else self.optimism + math.tanh(speed - fastest)
            # Of equals the faster, then the earlier one.
            ranked.append((worth, speed, -rollout.index, value.count, rollout))
        worth, _, _, count, chosen = max(ranked, key=lambda entry: entry[:3])
        seen = f"refined {count} times before" if count else "never refined before"
        return chosen, f"the most promising of {len(start_points)}: worth {worth:.2f}, {seen}"


def _speed(rollout: Rollout) -> float:
    assert isinstance(rollout.verdict, Feasible)
    return log_speed(rollout.verdict)
