"""Can a measured figure be true? Refuses kernels that remember, skip work, or outrun memory."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.core.execution import Call, Expected, Failure
from kernelwright.core.ports import Subject
from kernelwright.core.verdict import Category
from kernelwright.verify.content import tree_bytes
from kernelwright.verify.duel import Duel, TimedFailure
from kernelwright.verify.policy import Policy, Stopwatch
from kernelwright.verify.ratio import (
    Quad,
    baseline_calls,
    candidate_calls,
    interval,
    is_above,
    noise_of,
    regular,
)
from kernelwright.verify.roofline import counted_traffic, floor_for, traffic_of

SEEN_FACTOR = 1.5
"""A kernel this much slower on content it has not seen keeps results between calls."""

ODD_SHARE = 0.3
"""Part of its usual time by which a call may differ when a batch has another size."""

CLOCK_DOUBT_S = 90e-6
"""Seconds by which the time of one tick may be off: waking a process, the first cold lines. Twice
what the baseline's own single calls take more than its batched ones is added. On a busy machine an
honest kernel of 57 us was seen to take 71 us more in a tick of its own. Kernels that short have
inputs of which many are held, so one that skips calls of a batch also fails by its outputs."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What is timed: the modules, the calls that material comes from, the truth about the first.

    Attributes:
        subject: Candidate, backend, oracle and task.
        duel: The two modules, constructed from the first call.
        draws: Calls whose arguments are the material of the timed content.
        expected: What the reference returns for the first call.
        stopwatch: Where the time of each phase goes.
    """

    subject: Subject
    duel: Duel
    draws: tuple[Call, ...]
    expected: Expected
    stopwatch: Stopwatch


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure that is to be believed or not.

    Attributes:
        quads: What it comes from.
        cache: `warm` or `cold`.
        noise: A/A noise, relative.
        sets: Argument sets that were held.
    """

    quads: Sequence[Quad]
    cache: str
    noise: float
    sets: int


def suspicion(quads: Sequence[Quad]) -> str:
    """Say why the times look dishonest: they depend on what was seen, or on the batch; or nothing.

    Both are judged against the baseline in the same pair, so that what happens to every program
    (cold pages, a busy neighbour) cancels. A busy machine can still look like a cheat once: ask
    again with other quads before acting on it.
    """
    # A single short call is mostly the cost of asking for it: no ratio to set beside a batch's.
    usual = regular(quads)
    is_single = bool(usual) and usual[0].calls == 1
    like = [quad for quad in quads if quad.is_readable] if is_single else usual
    fresh = [1 / r for q in like for r, new in zip(q.ratios, q.is_fresh, strict=True) if new]
    seen = [1 / r for q in like for r, new in zip(q.ratios, q.is_fresh, strict=True) if not new]
    if is_above(fresh, seen, factor=SEEN_FACTOR):
        times = interval(fresh).median / interval(seen).median
        what = f"the kernel is {times:.1f}x slower on inputs that it has not seen before"
        return f"[FAIL] {what}; keep nothing between calls"
    return _skipped_work(quads)


def _skipped_work(quads: Sequence[Quad]) -> str:
    """Say whether single calls take another time than the calls of a batch.

    What a tick costs besides its calls (waking a process, an overhead subtracted too much) comes
    once a tick on both sides, so the candidate's difference is held against the baseline's.
    """
    odd, usual = [quad for quad in quads if quad.is_odd], regular(quads)
    if min(len(odd), len(usual)) < 3:
        return ""
    # Whatever disturbs a tick makes it longer, so the shortest ones are the least disturbed.
    mine_s, theirs_s = min(candidate_calls(usual)), min(baseline_calls(usual))
    mine_more_s = min(candidate_calls(odd)) - mine_s
    theirs_more_s = min(baseline_calls(odd)) - theirs_s
    share = ODD_SHARE + noise_of(usual)
    limit_s = max(CLOCK_DOUBT_S, share * max(mine_s, theirs_s)) + 2 * abs(theirs_more_s)
    if abs(mine_more_s - theirs_more_s) <= limit_s:
        return ""
    what = f"a call takes {mine_more_s * 1e6:+.1f} us when a batch has another size"
    return f"[FAIL] {what} ({mine_s * 1e6:.1f} us usually); every call must do its own work"


def refuse_impossible(
    figure: Figure, scene: Scene, *, policy: Policy, source: random.Random
) -> str:
    """Refuse a time below what moving the bytes takes; return how it was judged, for details.

    Raises:
        TimedFailure: with the category `implausible_latency`.
    """
    call, outputs = scene.draws[0], scene.expected.outputs
    state_bytes = sum(tensor.size_bytes for tensor in call.state.values())
    working_set = figure.sets * tree_bytes(call.args) + state_bytes + tree_bytes(outputs)
    if working_set < policy.meaningful_bytes:
        return f"not applied: {working_set} bytes fit a private cache"
    ceiling_gbps = scene.subject.backend.copy_ceiling_gbps(
        working_set, is_cold=figure.cache == "cold"
    )
    median_us = interval(candidate_calls(figure.quads)).median * 1e6
    baseline_us = interval(baseline_calls(figure.quads)).median * 1e6
    traffic = traffic_of(call, outputs)
    for is_counted in (False, True):
        if is_counted:
            traffic = counted_traffic(call, outputs, scene.duel.baseline, source)
        floor = floor_for(
            traffic,
            ceiling_gbps=ceiling_gbps,
            margin=policy.roofline_margin,
            noise=figure.noise,
            baseline_us=baseline_us,
        )
        if median_us >= floor.least_us:
            return f"{median_us:.3f} us, at least {floor.least_us:.3f} us is possible"
    raise TimedFailure(
        Failure(
            Category.IMPLAUSIBLE_LATENCY,
            f"[FAIL] {median_us:.3f} us a call ({figure.cache} cache) is not possible: it must "
            f"move {traffic.total_bytes} bytes, which takes {floor.least_us:.3f} us at least "
            f"(copy ceiling {floor.ceiling_gbps:.1f} GB/s)",
        )
    )
