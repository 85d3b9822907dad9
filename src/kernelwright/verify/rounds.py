"""What is held in both processes while they are timed: fresh content, in rounds.

A round sends argument sets that were never seen to the addresses that the last ones had, is good
for a few quads, and has one timed output checked, at a secret place, besides those that chance
picks.
"""

from __future__ import annotations

import random

from kernelwright.verify.content import FreshInputs
from kernelwright.verify.duel import Duel
from kernelwright.verify.policy import Stopwatch

SMALL_OUTPUT_BYTES = 1 << 20
"""Fetching a larger output takes longer than making it: only the sure checks look at those."""


class Rounds:
    """Keeps count of what was sent, seen and checked.

    Args:
        duel: Where content is sent.
        inputs: Where it comes from.
        held_bytes: Bytes of inputs to hold at once, if one set is smaller.
        check_probability: Chance that a timed output is checked, besides one in every round.
        source: Secret choices.
        stopwatch: Where the time goes.

    Attributes:
        sets: Argument sets that are held.
        sent: How often fresh content was sent.
        checked: How many timed outputs were checked.
    """

    def __init__(
        self,
        duel: Duel,
        inputs: FreshInputs,
        *,
        held_bytes: int,
        check_probability: float,
        source: random.Random,
        stopwatch: Stopwatch,
    ) -> None:
        self._duel = duel
        self._inputs = inputs
        self._held_bytes = held_bytes
        self._check_probability = check_probability
        self._source = source
        self._stopwatch = stopwatch
        self._order: list[int] = []
        self._seen: set[int] = set()
        self._until_check = 0
        self._is_check_due = False
        self.sets = set_count(inputs.set_bytes, held_bytes, calls=1)
        self.sent = 0
        self.checked = 0

    def resize(self, calls: int) -> None:
        """Hold as many sets as a tick makes calls, where they are small enough."""
        self.sets = set_count(self._inputs.set_bytes, self._held_bytes, calls=calls)

    def begin(self) -> None:
        """Send content that was never seen."""
        self._duel.hold([self._inputs.draw() for _ in range(self.sets)])
        self._order = []
        self._seen = set()
        self.sent += 1
        self._stopwatch.lap("content")

    def expect_check(self, pairs: int) -> None:
        """Have one of the next `pairs` pairs checked, or the first after it that can be."""
        self._until_check = self._source.randrange(pairs)
        self._is_check_due = True

    def choose(self, calls: int) -> tuple[int, bool]:
        """Return the set that the next pair begins with, and whether its content is fresh."""
        if not self._order:
            self._order = list(range(self.sets))
            self._source.shuffle(self._order)
        index = self._order.pop()
        is_fresh = index not in self._seen
        self.see(index, calls)
        return index, is_fresh

    def see(self, index: int, calls: int) -> None:
        """Count the sets that a tick walks through as seen."""
        self._seen.update((index + step) % self.sets for step in range(min(calls, self.sets)))

    def checked_call(self, calls: int) -> int | None:
        """Decide in secret which call of the pair that comes next is checked, if one is.

        Any call of a batch may be: a kernel that works only in the first and the last is found out.
        """
        self._until_check -= 1
        is_sure = self._is_check_due and self._until_check < 0
        if not (is_sure or self._source.random() < self._check_probability):
            return None
        self._is_check_due = self._is_check_due and not is_sure
        self.checked += 1
        return self._source.randrange(calls)


def set_count(set_bytes: int, held_bytes: int, *, calls: int) -> int:
    """Return how many argument sets to hold: enough to rotate, few enough to stay warm."""
    most = max(held_bytes // max(set_bytes, 1), 1)
    return min(max(calls, 4), most)
