"""Time a candidate against the baseline, both alive, in balanced neighbouring pairs.

Takes:   two constructed modules, and the rounds that keep content in them.
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

from kernelwright.core.tensor import Tree
from kernelwright.verify.duel import Duel
from kernelwright.verify.policy import Stopwatch
from kernelwright.verify.ratio import LEAST_S, Quad, regular, speed
from kernelwright.verify.rounds import Rounds

_WARM_UP_S = 0.1
_WARM_UP_TICKS = 12
_STEADY = 1.1
_MOST_CALLS = 1024
_LONGEST_TICK_S = 10e-3
_ODD_EVERY = 3
_SURE_ROUNDS = 3
_SLOW_QUAD_S = 0.5
_COARSE = 0.05


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """How long and how exactly to time.

    Attributes:
        warm_s: Seconds of ticks after which no further warm quad begins.
        cold_s: Seconds of ticks after which no further cold quad begins.
        tick_s: Least time of one tick; faster calls are batched.
        min_quads: Quads that are measured whatever they take (3 when one takes over half a second).
        min_cold_quads: The same for cold caches.
        max_quads: Quads after which measuring ends.
        precision: Relative half width of the ratio's interval at which measuring ends.
        patience: Factor on `warm_s` where that half width is above 5 %: on a busy machine.
        held_bytes: Bytes of inputs held at once, where one set is small enough to choose.
        check_probability: Chance that a timed output is checked, besides one in every round.
    """

    warm_s: float = 0.5
    cold_s: float = 0.2
    tick_s: float = 1e-3
    min_quads: int = 9
    min_cold_quads: int = 5
    max_quads: int = 60
    precision: float = 0.01
    patience: float = 2.5
    held_bytes: int = 8 << 20
    check_probability: float = 0.2


class Session:
    """One timing session: warms up, then measures in each state of the caches.

    Args:
        duel: The two modules, constructed alike.
        rounds: What content both hold, and which outputs are checked.
        plan: How long and how exactly to time.
        check: Judges a timed output; raises `TimedFailure` when it is wrong.
        source: Secret choices.
        stopwatch: Where the time of each phase goes.
        clock: Seconds, rising.

    Attributes:
        repeats: Calls in a tick.
    """

    def __init__(
        self,
        duel: Duel,
        rounds: Rounds,
        plan: TimingPlan,
        *,
        check: Callable[[Tree, Tree], None],
        source: random.Random,
        stopwatch: Stopwatch,
        clock: Callable[[], float],
    ) -> None:
        self._duel = duel
        self._rounds = rounds
        self._plan = plan
        self._check = check
        self._source = source
        self._stopwatch = stopwatch
        self._clock = clock
        self._odd_place = 0
        self._ticking_s = self._fastest_s = 0.0
        self.repeats = 1

    def warm_up(self) -> None:
        """Run both sides until they are steady and find out how many calls make a tick."""
        rounds = self._rounds
        rounds.begin()
        started, ticks = self._clock(), [self._both(0)]
        while not _is_steady(ticks) and self._clock() - started < _WARM_UP_S:
            ticks.append(self._both(len(ticks) % rounds.sets))
        self._fastest_s = min(min(pair) for pair in ticks)
        self._choose_batch(self._calls_in_a_tick())
        while not self._is_repeatable() and self._fastest_s * self.repeats < _LONGEST_TICK_S:
            self._choose_batch(3 * self.repeats)
        self._stopwatch.lap("warm_up")

    def _choose_batch(self, calls: int) -> None:
        """Make ticks of about `calls` calls, each call on another input where those are small."""
        if calls == 1:
            return
        rounds = self._rounds
        rounds.resize(calls)
        self.repeats = rounds.sets * max(1, round(calls / rounds.sets)) + 1

    def _is_repeatable(self) -> bool:
        """Whether ticks are long against what asking for one costs, which varies with the load."""
        if self._fastest_s >= _LONGEST_TICK_S:
            return True
        ticks = [self._both(0, repeats=min(self.repeats, _MOST_CALLS)) for _ in range(5)]
        for side in zip(*ticks, strict=True):
            least, low, middle, high, _ = sorted(side)
            if high - low > 0.25 * middle or least < 0.5 * middle:
                return False
        return True

    def measure(self, *, is_cold: bool, rounds: int = 3) -> list[Quad]:
        """Return quads in one state of the caches, until they are precise or time is up.

        Warm quads get fresh content in at least `rounds` rounds; cold ones go on with what is
        held, since a kernel that remembers was found out before.
        """
        quads: list[Quad] = []
        started, self._ticking_s = self._clock(), 0.0
        left, to_come = (self._plan.max_quads, 0) if is_cold else (0, rounds)
        if is_cold:
            self._rounds.expect_check(2 * self._plan.min_cold_quads)
        while to_come or not self._is_done(quads, self._clock() - started, is_cold=is_cold):
            is_first = left == 0
            if is_first:
                left = self._begin_round(len(quads), is_sure=to_come > 0)
            is_odd = not is_cold and self._is_odd(len(quads), is_first=is_first)
            quads.append(self._quad(is_cold=is_cold, is_odd=is_odd))
            left -= 1
            to_come -= left == 0 and to_come > 0
            self._stopwatch.lap("cold" if is_cold else "warm")
        return quads

    def _begin_round(self, done: int, *, is_sure: bool) -> int:
        """Send fresh content; return how many quads it is good for."""
        before = self._clock()
        self._rounds.begin()
        sending_s = self._clock() - before
        tick_s = self._fastest_s * self.repeats
        quad_s = max(self._ticking_s / done if done else 4 * tick_s, LEAST_S)
        # Fresh content costs a third of the session at most, but comes some times for sure.
        length = math.ceil(2 * sending_s / quad_s)
        if is_sure:
            length = min(length, self._least_quads(quad_s, is_cold=False) // _SURE_ROUNDS)
        length = max(length, 2 if self.repeats > 1 else 1)
        self._rounds.expect_check(2 * length)
        return length

    def _is_done(self, quads: list[Quad], elapsed_s: float, *, is_cold: bool) -> bool:
        plan, count = self._plan, len(quads)
        if count < self._least_quads(self._ticking_s / max(count, 1), is_cold=is_cold):
            return False
        if count >= plan.max_quads:
            return True
        usual = regular(quads)
        spread = speed(usual).spread if usual else math.inf
        limit_s = plan.cold_s if is_cold else plan.warm_s
        if not is_cold and spread > _COARSE:
            limit_s *= plan.patience
        if self._ticking_s > limit_s or elapsed_s > 4 * limit_s:
            return True
        return count % _ODD_EVERY == 0 and spread < plan.precision

    def _least_quads(self, quad_s: float, *, is_cold: bool) -> int:
        least = self._plan.min_cold_quads if is_cold else self._plan.min_quads
        return min(least, 3) if quad_s > _SLOW_QUAD_S else least

    def _is_odd(self, place: int, *, is_first: bool) -> bool:
        """Choose the quads that make another number of calls.

        Where ticks are batches it is the first of a round: its single calls meet content that
        was never seen, which the calls of a batch may have. Else it is one of three, in secret.
        """
        if self.repeats > 1:
            return is_first
        if place % _ODD_EVERY == 0:
            self._odd_place = place + self._source.randrange(_ODD_EVERY)
        is_slow = place > 0 and self._ticking_s / place > _SLOW_QUAD_S
        return place == self._odd_place and not is_slow

    def _quad(self, *, is_cold: bool, is_odd: bool) -> Quad:
        calls = 1 if is_cold else self.repeats
        if is_odd:
            calls = 1 if self.repeats > 1 else 2
        is_baseline_first = self._source.random() < 0.5
        first = self._pair(calls, is_cold=is_cold, is_baseline_first=is_baseline_first)
        second = self._pair(calls, is_cold=is_cold, is_baseline_first=not is_baseline_first)
        return Quad(
            baseline_s=(first.baseline_s, second.baseline_s),
            candidate_s=(first.candidate_s, second.candidate_s),
            is_fresh=(first.is_fresh, second.is_fresh),
            is_odd=is_odd,
            calls=calls,
        )

    def _pair(self, calls: int, *, is_cold: bool, is_baseline_first: bool) -> _Pair:
        duel, rounds = self._duel, self._rounds
        index, is_fresh = rounds.choose(calls)
        keep = rounds.checked_call(calls)
        order = [duel.baseline, duel.candidate]
        spent = {}
        began = self._clock()
        for module in order if is_baseline_first else reversed(order):
            is_mine = module is duel.candidate
            spent[is_mine] = duel.tick(module, index, repeats=calls, is_cold=is_cold, keep=keep)
        self._ticking_s += self._clock() - began
        if keep is not None:
            self._stopwatch.lap("cold" if is_cold else "warm")
            self._check(*duel.outputs())
            self._stopwatch.lap("check")
        return _Pair(spent[False], spent[True], is_fresh)

    def _calls_in_a_tick(self) -> int:
        # One short call drowns in the cost of asking for it, so the batch grows step by step.
        calls, least_s = 1, self._plan.tick_s
        while self._fastest_s * calls < least_s and calls < _MOST_CALLS:
            calls *= 4
            self._fastest_s = min(self._both(0, repeats=calls))
        return min(calls, math.ceil(least_s / self._fastest_s)) if calls > 1 else 1

    def _both(self, index: int, *, repeats: int = 1) -> tuple[float, float]:
        duel = self._duel
        self._rounds.see(index, repeats)
        theirs = duel.tick(duel.baseline, index, repeats=repeats)
        return theirs, duel.tick(duel.candidate, index, repeats=repeats)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two neighbouring ticks on the same content."""

    baseline_s: float
    candidate_s: float
    is_fresh: bool


def _is_steady(ticks: list[tuple[float, float]]) -> bool:
    if len(ticks) < 3:
        return False
    if len(ticks) >= _WARM_UP_TICKS:
        return True
    sides = zip(*ticks[-3:], strict=True)
    return all(max(side) <= _STEADY * min(side) for side in sides)
