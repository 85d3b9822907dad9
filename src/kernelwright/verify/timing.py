"""Time a candidate against the baseline, both alive, in balanced neighbouring pairs.

Takes:   two constructed modules and a source of fresh inputs.
Gives:   quads of timings, each content checked as `check` asks.
Leaves:  what the figures mean to `ratio.py`, whether they can be true to `roofline.py`.

The order of a quad is ABBA or BAAB by a secret coin; which input set a pair uses, when fresh
content is sent, which timed outputs are checked and which ticks are longer are secret too, so
there is no phase that a kernel could recognise.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from kernelwright.core.execution import Failure
from kernelwright.core.ports import Module
from kernelwright.core.tensor import Tree
from kernelwright.verify.content import FreshInputs
from kernelwright.verify.policy import Stopwatch
from kernelwright.verify.ratio import Quad, regular, speed

LEAST_S = 1e-9
_WARM_UP_S = 0.1
_WARM_UP_TICKS = 12
_STEADY = 1.1
_MOST_CALLS = 1024
_ODD_EVERY = 3
_SLOW_QUAD_S = 0.5


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """How long and how exactly to time.

    Attributes:
        warm_s: Seconds after which no further warm quad begins.
        cold_s: Seconds after which no further cold quad begins.
        tick_s: Least time of one tick; faster calls are batched.
        min_quads: Quads that are measured whatever they take (3 when one takes over a second).
        max_quads: Quads after which measuring ends.
        precision: Relative half width of the ratio's interval at which measuring ends.
        held_bytes: Bytes of inputs held at once, where one set is small enough to choose.
        check_probability: Chance that a timed output is checked, besides one in every round.
    """

    warm_s: float = 0.5
    cold_s: float = 0.2
    tick_s: float = 1e-3
    min_quads: int = 9
    max_quads: int = 60
    precision: float = 0.01
    held_bytes: int = 8 << 20
    check_probability: float = 0.1


class TimedFailure(Exception):
    """The candidate failed while it was timed; carries the failure to the gate.

    Attributes:
        failure: What went wrong.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class BaselineFailed(Exception):
    """The reference failed while it was timed, which is no candidate's fault."""


@dataclass(frozen=True, slots=True)
class Duel:
    """The two modules that are timed against each other.

    Attributes:
        candidate: The candidate's module.
        baseline: The reference's module.
    """

    candidate: Module
    baseline: Module

    def hold(self, sets: list[tuple[Tree, ...]]) -> None:
        """Give both sides the same argument sets."""
        for module in (self.candidate, self.baseline):
            failure = module.hold(sets)
            if failure is not None:
                self._fail(module, failure)

    def tick(self, module: Module, index: int, *, repeats: int, is_cold: bool = False) -> float:
        """Return the seconds of one call."""
        spent = module.tick(index, repeats=repeats, is_cold=is_cold)
        if isinstance(spent, Failure):
            self._fail(module, spent)
            return 0.0
        return max(spent, LEAST_S) / repeats

    def outputs(self, module: Module) -> Tree:
        """Return what the last timed call of a module returned."""
        outputs = module.last_outputs()
        if isinstance(outputs, Failure):
            self._fail(module, outputs)
            return None
        return outputs

    def _fail(self, module: Module, failure: Failure) -> None:
        if module is self.baseline:
            raise BaselineFailed(failure.reason)
        raise TimedFailure(failure)


class Session:
    """One timing session: holds content, warms up, measures.

    Args:
        duel: The two modules, constructed alike.
        inputs: Where argument sets come from.
        plan: How long and how exactly to time.
        check: Judges a timed output; raises `TimedFailure` when it is wrong.
        source: Secret choices.
        stopwatch: Where the time of each phase goes.
        clock: Seconds, rising.
    """

    def __init__(
        self,
        duel: Duel,
        inputs: FreshInputs,
        plan: TimingPlan,
        *,
        check: Callable[[Tree, Tree], None],
        source: random.Random,
        stopwatch: Stopwatch,
        clock: Callable[[], float],
    ) -> None:
        self._duel = duel
        self._inputs = inputs
        self._plan = plan
        self._check = check
        self._source = source
        self._stopwatch = stopwatch
        self._clock = clock
        self._order: list[int] = []
        self._seen: set[int] = set()
        self._must_check = 0
        self._odd_place = 0
        self.sets = set_count(inputs.set_bytes, plan.held_bytes, calls=1)
        self.repeats = 1
        self.checked = 0
        self.rounds = 0

    def warm_up(self) -> None:
        """Run both sides until they are steady and find out how many calls make a tick."""
        self.refresh()
        started, ticks = self._clock(), [self._both(0)]
        while not _is_steady(ticks) and self._clock() - started < _WARM_UP_S:
            ticks.append(self._both(len(ticks) % self.sets))
        needed = self._calls_in_a_tick(min(min(pair) for pair in ticks))
        self._stopwatch.lap("warm_up")
        if needed == 1:
            return
        self.sets = set_count(self._inputs.set_bytes, self._plan.held_bytes, calls=needed)
        # One more than whole laps: whether a tick walks through the sets or stays on the first,
        # its last call is on the set that it began with, whose output is known.
        self.repeats = self.sets * max(1, round(needed / self.sets)) + 1

    def _calls_in_a_tick(self, fastest_s: float) -> int:
        # One short call drowns in the cost of asking for it, so the batch grows step by step.
        calls = 1
        while fastest_s * calls < self._plan.tick_s and calls < _MOST_CALLS:
            calls *= 4
            fastest_s = min(self._both(0, repeats=calls))
        return min(calls, math.ceil(self._plan.tick_s / fastest_s)) if calls > 1 else 1

    def refresh(self) -> None:
        """Send content that was never seen, to the addresses that the last one had."""
        self._duel.hold([self._inputs.draw() for _ in range(self.sets)])
        self._order = []
        self._seen = set()
        self.rounds += 1
        self._stopwatch.lap("content")

    def measure(self, *, is_cold: bool) -> list[Quad]:
        """Return quads in one state of the caches, until they are precise or time is up."""
        plan, quads = self._plan, list[Quad]()
        limit_s = plan.cold_s if is_cold else plan.warm_s
        started = self._clock()
        left_in_round, self._must_check = 0, 0
        while not self._is_done(quads, self._clock() - started, limit_s):
            if left_in_round == 0:
                before = self._clock()
                self.refresh()
                sending_s = self._clock() - before
            is_odd = self._is_odd(len(quads), (self._clock() - started) / max(len(quads), 1))
            calls = self._calls(is_cold=is_cold, is_odd=is_odd)
            quads.append(
                self._quad(
                    calls, is_cold=is_cold, is_odd=is_odd and not is_cold, place=left_in_round
                )
            )
            if left_in_round == 0:
                left_in_round = _round_length(sending_s, self._clock() - before - sending_s)
                self._must_check = self._source.randrange(left_in_round)
            left_in_round -= 1
            self._stopwatch.lap("cold" if is_cold else "warm")
        return quads

    def _is_done(self, quads: list[Quad], elapsed_s: float, limit_s: float) -> bool:
        count = len(quads)
        least = self._plan.min_quads
        if count and elapsed_s / count > _SLOW_QUAD_S:
            least = min(least, 3)
        if count < least:
            return False
        if count >= self._plan.max_quads or elapsed_s > limit_s:
            return True
        return count % _ODD_EVERY == 0 and speed(regular(quads)).spread < self._plan.precision

    def _is_odd(self, place: int, quad_s: float) -> bool:
        """Choose one quad of every three in secret to make another number of calls."""
        if place % _ODD_EVERY == 0:
            self._odd_place = place + self._source.randrange(_ODD_EVERY)
        return place == self._odd_place and quad_s < _SLOW_QUAD_S

    def _calls(self, *, is_cold: bool, is_odd: bool) -> int:
        if is_cold:
            return 1
        if is_odd:
            return 1 if self.repeats > 1 else 2
        return self.repeats

    def _quad(self, repeats: int, *, is_cold: bool, is_odd: bool, place: int) -> Quad:
        is_baseline_first = self._source.random() < 0.5
        pairs, fresh = [], []
        for order in (is_baseline_first, not is_baseline_first):
            index = self._next_set()
            fresh.append(index not in self._seen)
            self._see(index, repeats)
            is_checked = place == self._must_check or (
                self._source.random() < self._plan.check_probability
            )
            pairs.append(
                self._pair(
                    index,
                    repeats=repeats,
                    is_cold=is_cold,
                    is_baseline_first=order,
                    is_checked=is_checked and (repeats == 1 or not is_odd),
                )
            )
        return Quad(
            baseline_s=(pairs[0][0], pairs[1][0]),
            candidate_s=(pairs[0][1], pairs[1][1]),
            is_fresh=(fresh[0], fresh[1]),
            is_odd=is_odd,
        )

    def _pair(
        self,
        index: int,
        *,
        repeats: int,
        is_cold: bool,
        is_baseline_first: bool,
        is_checked: bool,
    ) -> tuple[float, float]:
        duel = self._duel
        order = [duel.baseline, duel.candidate]
        spent = {}
        for module in order if is_baseline_first else reversed(order):
            is_mine = module is duel.candidate
            spent[is_mine] = duel.tick(module, index, repeats=repeats, is_cold=is_cold)
        if is_checked:
            lap = "cold" if is_cold else "warm"
            self._stopwatch.lap(lap)
            self._check(duel.outputs(duel.candidate), duel.outputs(duel.baseline))
            self.checked += 1
            self._stopwatch.lap("check")
        return spent[False], spent[True]

    def _both(self, index: int, *, repeats: int = 1) -> tuple[float, float]:
        duel = self._duel
        self._see(index, repeats)
        theirs = duel.tick(duel.baseline, index, repeats=repeats)
        return theirs, duel.tick(duel.candidate, index, repeats=repeats)

    def _next_set(self) -> int:
        if not self._order:
            self._order = list(range(self.sets))
            self._source.shuffle(self._order)
        return self._order.pop()

    def _see(self, index: int, repeats: int) -> None:
        self._seen.update((index + step) % self.sets for step in range(min(repeats, self.sets)))


def set_count(set_bytes: int, held_bytes: int, *, calls: int) -> int:
    """Return how many argument sets to hold: enough to rotate, few enough to stay warm."""
    most = max(held_bytes // max(set_bytes, 1), 2)
    if set_bytes > 256 << 20:
        return 1
    return min(max(calls, 4), most)


def _round_length(sending_s: float, quad_s: float) -> int:
    # Fresh content costs at most about a third of the session, and comes often enough to matter.
    return min(max(math.ceil(2 * sending_s / max(quad_s, LEAST_S)), 1), 8)


def _is_steady(ticks: list[tuple[float, float]]) -> bool:
    if len(ticks) < 3:
        return False
    if len(ticks) >= _WARM_UP_TICKS:
        return True
    sides = zip(*ticks[-3:], strict=True)
    return all(max(side) <= _STEADY * min(side) for side in sides)
