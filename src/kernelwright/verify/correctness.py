"""The correctness gate: several trials on secret inputs, judged in the trusted process."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kernelwright.core.errors import TaskInvalid
from kernelwright.core.execution import (
    Build,
    Failure,
    ParameterDraw,
    Poison,
    StateTransfer,
    Workload,
)
from kernelwright.core.fault import Fault, distinct
from kernelwright.core.ports import Evidence, Module, Subject
from kernelwright.core.task import Role, Task
from kernelwright.core.verdict import Category, GateName, GateReport, GateStatus
from kernelwright.verify.plan import (
    LARGE_TASK_BYTES,
    Handover,
    at_full_size,
    is_derived,
    planned,
)
from kernelwright.verify.policy import Policy, Stopwatch, joined
from kernelwright.verify.trials import Bench, KeptOutputs, Outcome, Trial, run_trial

_STRUCTURAL = frozenset(
    {
        Category.TYPE_MISMATCH,
        Category.LENGTH_MISMATCH,
        Category.SHAPE_MISMATCH,
        Category.DTYPE_MISMATCH,
        Category.CRASH,
    }
)


@dataclass(slots=True)
class _Tally:
    """What the trials have shown so far."""

    outcomes: list[tuple[Workload, Outcome]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    transfer: StateTransfer | None = None

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Warnings of an emulated device, of all trials."""
        return tuple(fault for _, outcome in self.outcomes for fault in outcome.faults)

    @property
    def has_repeated(self) -> bool:
        """Whether a module was called twice on the same inputs."""
        return any(outcome.is_repeated for _, outcome in self.outcomes)

    @property
    def is_edge_refused(self) -> bool:
        """Whether the candidate has said that it takes no edge shape."""
        return any(outcome.refused for _, outcome in self.outcomes)

    @property
    def mismatches(self) -> list[tuple[int, Workload, Outcome]]:
        """Trials whose numbers disagree, with their numbers from 1."""
        numbered = enumerate(self.outcomes, start=1)
        return [(number, w, o) for number, (w, o) in numbered if o.mismatch is not None]

    @property
    def is_idle(self) -> bool:
        """Whether every traced run returned the same without the candidate's kernels.

        On some inputs an honest kernel changes nothing (a ReLU in place, of positive numbers), so
        one such run is no proof.
        """
        traced = [outcome for _, outcome in self.outcomes if outcome.is_traced]
        return all(outcome.is_idle for outcome in traced)


class CorrectnessGate:
    """Runs the trials; implements `core.ports.Gate`.

    Args:
        policy: Tolerance and other choices.
        workloads: The plan that admission chose; empty to ask the oracle for one.
        handover: Where the official trial is left for the latency gate.
        source: Where seeds and secret choices come from; the operating system by default.
        clock: Seconds, rising.
    """

    name = GateName.CORRECTNESS

    def __init__(
        self,
        policy: Policy,
        *,
        workloads: Sequence[Workload] = (),
        handover: Handover | None = None,
        source: random.Random,
        clock: Callable[[], float],
    ) -> None:
        self._policy = policy
        self._workloads = tuple(workloads)
        self._handover = handover or Handover()
        self._source = source
        self._clock = clock

    def check(self, subject: Subject, evidence: Evidence) -> tuple[GateReport, Evidence]:
        """Run the candidate against the reference.

        Raises:
            ValueError: if nothing was built.
        """
        if evidence.build is None:
            raise ValueError("the correctness gate needs a build")
        stopwatch = Stopwatch(self._clock)
        self._handover.clear()
        plan = planned(subject.oracle, self._workloads, self._source)
        bench = self._bench(subject, stopwatch)
        tally = _Tally()
        self._run(subject, evidence.build, plan, bench, tally)
        failure = self._verdict(tally, bench.kept)
        details = self._details(plan, tally, stopwatch)
        report = GateReport(
            GateName.CORRECTNESS,
            GateStatus.PASSED if failure is None else GateStatus.FAILED,
            reason="" if failure is None else failure.reason,
            category=None if failure is None else failure.category,
            details=details,
            wall_s=stopwatch.total_s,
            faults=distinct((*tally.faults, *(() if failure is None else failure.faults))),
        )
        return report, evidence

    def _bench(self, subject: Subject, stopwatch: Stopwatch) -> Bench:
        return Bench(
            oracle=subject.oracle,
            tolerance=self._policy.tolerance,
            allowed_operators=subject.backend.allowed_operators(),
            is_edge_refusal_allowed=self._policy.is_shape_specialisation_allowed,
            clock=self._clock,
            stopwatch=stopwatch,
            kept=KeptOutputs(),
            handover=self._handover,
        )

    def _run(
        self,
        subject: Subject,
        build: Build,
        plan: Sequence[Workload],
        bench: Bench,
        tally: _Tally,
    ) -> None:
        queue = deque(plan)
        with subject.backend.open(build) as module:
            bench.stopwatch.lap("start")
            while queue:
                workload = queue.popleft()
                if self._is_skipped(workload, tally):
                    tally.skipped.append(f"{workload.label} (parameters are re-seeded)")
                    continue
                if tally.is_edge_refused and is_derived(workload):
                    workload = at_full_size(workload)
                trial = self._trial(len(tally.outcomes), workload, subject.task, tally)
                outcome = self._outcome(module, trial, bench)
                if outcome is None:
                    tally.skipped.append(f"{workload.label} (no input of the reference)")
                    continue
                tally.outcomes.append((workload, outcome))
                tally.transfer = tally.transfer or outcome.transfer
                if outcome.refused and is_derived(workload):
                    queue.append(at_full_size(workload))
                if self._is_over(outcome, tally, bench.stopwatch):
                    break

    def _outcome(self, module: Module, trial: Trial, bench: Bench) -> Outcome | None:
        """Run a trial; None if the reference itself cannot take a derived workload."""
        try:
            return run_trial(module, trial, bench)
        except TaskInvalid:
            if is_derived(trial.workload):
                return None
            raise

    def _trial(self, index: int, workload: Workload, task: Task, tally: _Tally) -> Trial:
        # A module that carries buffers from call to call may answer the second call differently.
        is_pure = not task.is_random and not task.by_role(Role.BUFFER)
        is_cheap = task.input_bytes <= LARGE_TASK_BYTES or bool(workload.sizes) or index > 1
        return Trial(
            number=index + 1,
            workload=workload,
            poison=Poison.NAN if index % 2 == 0 else Poison.PLAUSIBLE,
            is_traced=tally.is_idle or self._source.random() < self._policy.traced_share,
            is_repeated=is_pure and is_cheap and not tally.has_repeated,
        )

    def _is_skipped(self, workload: Workload, tally: _Tally) -> bool:
        is_randomised = workload.parameters is ParameterDraw.RANDOMISED
        return is_randomised and tally.transfer is StateTransfer.RESEEDED

    def _is_over(self, outcome: Outcome, tally: _Tally, stopwatch: Stopwatch) -> bool:
        if outcome.failure is not None:
            return True
        if outcome.mismatch is not None and outcome.mismatch.category in _STRUCTURAL:
            return True
        if not tally.mismatches:
            return False
        is_patient = self._policy.is_every_trial_run
        return not is_patient or stopwatch.total_s > self._policy.failing_trials_s

    def _verdict(self, tally: _Tally, kept: KeptOutputs) -> Failure | None:
        for _, outcome in tally.outcomes:
            if outcome.failure is not None:
                return outcome.failure
            if outcome.mismatch is not None and outcome.mismatch.category in _STRUCTURAL:
                return Failure(outcome.mismatch.category, outcome.mismatch.text)
        if tally.mismatches:
            return Failure(Category.NUMERICAL_MISMATCH, _mismatch_words(tally))
        changed = kept.changed()
        if changed is not None:
            what = f"the output of trial {changed} changed when forward was called again"
            return Failure(Category.HACK, f"[FAIL] {what}; return fresh memory from every call")
        if tally.is_idle:
            what = "the output is the same when the kernels of kernel_ops do nothing"
            return Failure(
                Category.HACK, f"[FAIL] {what}; the kernel must compute what is returned"
            )
        if not any(outcome.is_passed for _, outcome in tally.outcomes):
            return Failure(Category.EXCEPTION, "[FAIL] no trial gave an answer to compare")
        return None

    def _details(
        self, plan: Sequence[Workload], tally: _Tally, stopwatch: Stopwatch
    ) -> tuple[tuple[str, str], ...]:
        passed = sum(outcome.is_passed for _, outcome in tally.outcomes)
        details = [
            ("tolerance", self._policy.tolerance.value),
            ("trials", f"{passed}/{len(tally.outcomes)} passed, {len(plan)} planned"),
            ("workloads", "; ".join(workload.label for workload, _ in tally.outcomes)),
            ("seeds", joined(workload.seed for workload in plan)),
            ("traced", f"{sum(o.is_traced for _, o in tally.outcomes)} of them"),
        ]
        if tally.transfer is not None:
            details.append(("parameters", tally.transfer.value))
        if tally.skipped:
            details.append(("skipped", "; ".join(tally.skipped)))
        refused = [outcome.refused for _, outcome in tally.outcomes if outcome.refused]
        if refused:
            details.append(("shape-specialised", refused[0]))
        return (*details, *stopwatch.details)


def _mismatch_words(tally: _Tally) -> str:
    # The structure of EvoKernel, Appendix F.1, with what the inputs were behind each trial.
    compared = sum(not outcome.refused for _, outcome in tally.outcomes)
    failed = len(tally.mismatches)
    words = [f"[FAIL] Output mismatch: {compared - failed}/{compared} trials passed, "]
    words.append(f"{failed} failed. ")
    for place, (number, workload, outcome) in enumerate(tally.mismatches):
        mismatch = outcome.mismatch
        assert mismatch is not None
        if place == 0:
            words.append(f"Tolerance {mismatch.rule or 'exact'}. ")
        words.append(f"Trial {number}: {mismatch.text} (inputs: {workload.label}) ")
    return "".join(words).rstrip()
