"""A strategy: draft until something is feasible, then refine a random start point."""

from __future__ import annotations

import random
from dataclasses import dataclass

from kernelwright.core.rollout import History, Proposal
from kernelwright.core.value import Stage, ValueView


@dataclass(frozen=True, slots=True)
class Wander:
    """Ignores all values: what any strategy that uses them has to be better than."""

    name: str = "wander"

    def propose(self, history: History, *, values: ValueView, rng: random.Random) -> Proposal:
        """Return the next proposal; pure: equal arguments give equal proposals."""
        start_points = history.start_points()
        if not start_points:
            return Proposal(Stage.DRAFT, why="nothing is feasible yet")
        chosen = rng.choice(start_points)
        return Proposal(Stage.REFINE, chosen.candidate.candidate_id, "any start point will do")
