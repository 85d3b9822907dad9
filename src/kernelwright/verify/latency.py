"""The latency gate: how fast is a candidate that was proven right, and can the figure be true?"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from kernelwright.core.errors import MachineLacks
from kernelwright.core.execution import Build, Call, Expected, Failure, Poison
from kernelwright.core.ports import Evidence, Subject
from kernelwright.core.task import Role
from kernelwright.core.tensor import Tree
from kernelwright.core.verdict import (
    Category,
    GateName,
    GateReport,
    GateStatus,
    Ratio,
)
from kernelwright.verify.compare import compare, reference_is_within
from kernelwright.verify.content import FreshInputs, tree_bytes
from kernelwright.verify.credibility import Figure, Scene, refuse_impossible, suspicion
from kernelwright.verify.duel import BaselineFailed, Duel, TimedFailure
from kernelwright.verify.plan import LARGE_TASK_BYTES, Handover, official_workload
from kernelwright.verify.policy import Policy, Stopwatch
from kernelwright.verify.ratio import (
    Quad,
    baseline_calls,
    candidate_calls,
    interval,
    latency_of,
    noise_of,
    regular,
    speed,
)
from kernelwright.verify.roofline import traffic_of
from kernelwright.verify.rounds import SMALL_OUTPUT_BYTES, Rounds
from kernelwright.verify.simulation import simulated
from kernelwright.verify.timing import Session, TimingPlan
from kernelwright.verify.trials import traced_failure, worded

_SLACK = 4.0
_ILL_SLACK = 64.0
_CONFIRMING_ROUNDS = 6
_LEAST_READABLE = 2
_COLD_FROM_S = 20e-6


@dataclass(slots=True)
class _Measured:
    """What the session gave."""

    warm: list[Quad] = field(default_factory=list)
    cold: list[Quad] = field(default_factory=list)
    cold_absent: str = ""
    noise: dict[str, float] = field(default_factory=dict)
    slack: float = _SLACK
    sets: int = 0
    repeats: int = 1
    rounds: int = 0
    checked: int = 0
    roofline: list[tuple[str, str]] = field(default_factory=list)


class LatencyGate:
    """Times a candidate against the baseline; implements `core.ports.Gate`.

    Args:
        policy: Tolerance and roofline margins.
        plan: How long and how exactly to time.
        handover: Where the correctness gate left the official trial.
        source: Secret choices and seeds.
        clock: Seconds, rising.
    """

    name = GateName.LATENCY

    def __init__(
        self,
        policy: Policy,
        *,
        plan: TimingPlan,
        handover: Handover | None = None,
        source: random.Random,
        clock: Callable[[], float],
    ) -> None:
        self._policy = policy
        self._plan = plan
        self._handover = handover or Handover()
        self._source = source
        self._clock = clock

    def check(self, subject: Subject, evidence: Evidence) -> tuple[GateReport, Evidence]:
        """Measure latency and speed.

        Raises:
            ValueError: if nothing was built.
            MachineLacks: if the reference cannot be timed on this machine.
        """
        if evidence.build is None:
            raise ValueError("the latency gate needs a build")
        stopwatch = Stopwatch(self._clock)
        if subject.backend.is_simulated:
            return simulated(subject, evidence, source=self._source, stopwatch=stopwatch)
        measured = _Measured()
        try:
            found = self._timed(subject, evidence.build, stopwatch, measured)
        except TimedFailure as failed:
            failure = worded(failed.failure, "Timed run", stopwatch.total_s)
            return _report(failure, measured, stopwatch, self._policy), evidence
        except BaselineFailed as failed:
            raise MachineLacks(
                f"the reference of {subject.task.name} failed while it was timed: {failed}",
                fix="shrink the task (--max-bytes, --max-flops) or use a larger machine",
            ) from failed
        return _report(None, measured, stopwatch, self._policy), _added(evidence, found)

    def _timed(
        self, subject: Subject, build: Build, stopwatch: Stopwatch, measured: _Measured
    ) -> Evidence:
        oracle = subject.oracle
        draws, expected = self._material(subject, stopwatch)
        with subject.backend.open(build) as candidate, oracle.baseline() as baseline:
            duel = Duel(candidate, baseline)
            _construct(duel, draws[0])
            scene = Scene(subject, duel, draws, expected, stopwatch)
            stopwatch.lap("start")
            self._measure(scene, measured)
            self._look_again(scene, measured)
            measured.noise = {"warm": noise_of(measured.warm)}
            measured.warm = regular(measured.warm)
            ratios = self._ratios(scene, measured)
        latency = latency_of(candidate_calls(measured.warm))
        moved = traffic_of(draws[0], expected.outputs).total_bytes
        return Evidence(
            latency=latency,
            baseline=latency_of(baseline_calls(measured.warm)),
            speedups=ratios,
            profile=subject.backend.profile(build, latency, bytes_moved=moved),
        )

    def _material(
        self, subject: Subject, stopwatch: Stopwatch
    ) -> tuple[tuple[Call, ...], Expected]:
        """Return the calls that content is made from, and the truth about the first."""
        handed = self._handover.take()
        if handed is None:
            workload = official_workload(self._source)
            handed = subject.oracle.call(workload), subject.oracle.expected(workload)
        draws = [handed[0]]
        if tree_bytes(handed[0].args) <= LARGE_TASK_BYTES:
            draws.append(subject.oracle.call(official_workload(self._source)))
        stopwatch.lap("inputs")
        return tuple(draws), handed[1]

    def _measure(self, scene: Scene, measured: _Measured) -> None:
        tolerance = self._policy.tolerance
        is_well = reference_is_within(scene.expected, tolerance)
        measured.slack = _SLACK if is_well else _ILL_SLACK
        scene.stopwatch.lap("check")
        outputs_bytes = tree_bytes(scene.expected.outputs)
        is_small = outputs_bytes <= SMALL_OUTPUT_BYTES
        rounds = Rounds(
            scene.duel,
            FreshInputs(scene.subject.oracle, scene.draws, self._source),
            held_bytes=self._plan.held_bytes,
            check_probability=self._plan.check_probability if is_small else 0.0,
            source=self._source,
            stopwatch=scene.stopwatch,
        )
        session = Session(
            scene.duel,
            rounds,
            self._plan,
            check=lambda mine, theirs: self._check(mine, theirs, scene, measured),
            source=self._source,
            stopwatch=scene.stopwatch,
            clock=self._clock,
        )
        session.warm_up()
        measured.warm = session.measure(is_cold=False)
        if len(regular(measured.warm)) < _LEAST_READABLE:
            raise MachineLacks(
                "calls cannot be timed: what asking for one costs varies by more than they take",
                fix="verify again when the machine is less busy",
            )
        if suspicion(measured.warm):
            # A busy machine can look like a cheat for a while; a cheat still does with more quads.
            measured.warm += session.measure(is_cold=False, rounds=_CONFIRMING_ROUNDS)
            confirmed = suspicion(measured.warm)
            measured.rounds, measured.checked = rounds.sent, rounds.checked
            measured.sets, measured.repeats = rounds.sets, session.repeats
            if confirmed:
                raise TimedFailure(Failure(Category.HACK, confirmed))
        measured.sets, measured.repeats = rounds.sets, session.repeats
        sides = (candidate_calls(measured.warm), baseline_calls(measured.warm))
        call_s = min(interval(side).median for side in sides)
        if call_s < _COLD_FROM_S:
            measured.cold_absent = "a call is shorter than what asking for one costs"
        else:
            measured.cold = regular(session.measure(is_cold=True))
            if not measured.cold:
                measured.cold_absent = "the machine is too busy"
        measured.rounds, measured.checked = rounds.sent, rounds.checked

    def _look_again(self, scene: Scene, measured: _Measured) -> None:
        """Trace the module that was timed: by now a kernel may think that nobody looks any more."""
        subject = scene.subject
        returned = scene.duel.candidate.run(
            scene.draws[0].args, poison=Poison.PLAUSIBLE, is_traced=True
        )
        if isinstance(returned, Failure):
            raise TimedFailure(returned)
        failure = traced_failure(returned, subject.backend.allowed_operators())
        if failure is not None:
            raise TimedFailure(failure)
        if not subject.task.is_random and not subject.task.by_role(Role.BUFFER):
            tolerance, slack = self._policy.tolerance, measured.slack
            found = compare(returned.outputs, scene.expected, tolerance, slack=slack)
            if found is not None:
                what = "a call after the timed ones returned something else than the reference"
                raise TimedFailure(Failure(Category.HACK, f"[FAIL] {what}: {found.text}"))
        scene.stopwatch.lap("check")

    def _check(self, mine: Tree, theirs: Tree, scene: Scene, measured: _Measured) -> None:
        if scene.subject.task.is_random:
            return
        truth = dataclasses.replace(scene.expected, outputs=theirs, exact=None)
        found = compare(mine, truth, self._policy.tolerance, slack=measured.slack)
        if found is not None:
            what = "a timed call on fresh inputs returned something else than the reference"
            raise TimedFailure(Failure(Category.HACK, f"[FAIL] {what}: {found.text}"))

    def _ratios(self, scene: Scene, measured: _Measured) -> tuple[Ratio, ...]:
        ratios = []
        for quads, cache in ((measured.warm, "warm"), (measured.cold, "cold")):
            if not quads:
                continue
            found = speed(quads)
            noise = measured.noise.get(cache) or noise_of(quads)
            figure = Figure(quads, cache=cache, noise=noise, sets=measured.sets)
            judged = refuse_impossible(figure, scene, policy=self._policy, source=self._source)
            measured.roofline.append((f"roofline_{cache}", judged))
            ratios.append(
                Ratio(
                    median=found.median,
                    low=found.low,
                    high=found.high,
                    pairs=2 * len(quads),
                    noise=noise,
                    cache=cache,
                    baseline=scene.subject.oracle.baseline_name(),
                )
            )
        scene.stopwatch.lap("roofline")
        return tuple(ratios)


def _construct(duel: Duel, call: Call) -> None:
    theirs = duel.baseline.construct(call)
    if isinstance(theirs, Failure):
        raise BaselineFailed(theirs.reason)
    mine = duel.candidate.construct(call)
    if isinstance(mine, Failure):
        raise TimedFailure(mine)


def _added(evidence: Evidence, found: Evidence) -> Evidence:
    return dataclasses.replace(found, build=evidence.build)


def _report(
    failure: Failure | None, measured: _Measured, stopwatch: Stopwatch, policy: Policy
) -> GateReport:
    details = [
        ("tolerance", policy.tolerance.value),
        ("quads", f"{len(measured.warm)} warm, {len(measured.cold)} cold"),
        ("calls_in_a_tick", str(measured.repeats)),
        ("input_sets", f"{measured.sets} held, fresh content {measured.rounds} times"),
        ("timed_outputs_checked", str(measured.checked)),
    ]
    if measured.cold_absent:
        details.append(("cold_cache", f"not measured: {measured.cold_absent}"))
    return GateReport(
        GateName.LATENCY,
        GateStatus.PASSED if failure is None else GateStatus.FAILED,
        reason="" if failure is None else failure.reason,
        category=None if failure is None else failure.category,
        details=(*details, *measured.roofline, *stopwatch.details),
        wall_s=stopwatch.total_s,
    )
