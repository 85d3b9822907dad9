"""Before any search: can this task tell right from wrong with the chosen inputs and tolerance?

Wrong versions of the reference (zeros, a constant, another input's output, half precision, ...)
are judged exactly as a candidate would be. Inputs are drawn again, otherwise distributed and with
other parameters, until every one of them is rejected or the draws are used up. A task that still
accepts one is flagged, not refused: what it can prove is simply less, and the report says so.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kernelwright.core.errors import TaskInvalid
from kernelwright.core.execution import (
    Admission,
    Distribution,
    Expected,
    Kill,
    MutantOutput,
    ParameterDraw,
    Workload,
)
from kernelwright.core.ports import Oracle
from kernelwright.core.task import Role, Tolerance
from kernelwright.verify.compare import agrees, is_finite, reference_is_within
from kernelwright.verify.plan import SEEDS, arranged, fresh_seeds, is_derived

REDRAWS = 2
_OTHERWISE = (
    Distribution.SIGNED,
    Distribution.LARGE,
    Distribution.TIES,
    Distribution.TINY,
    Distribution.OFFICIAL,
)


def admit(
    oracle: Oracle,
    tolerance: Tolerance,
    source: random.Random | None = None,
    *,
    redraws: int = REDRAWS,
) -> Admission:
    """Judge the mutants of a task and choose the workloads that its candidates will meet.

    Args:
        oracle: Answers for the reference.
        tolerance: Rule by which candidates will be judged.
        source: Where seeds come from; None takes the operating system's.
        redraws: How often inputs are drawn again for mutants that survive.

    Raises:
        TaskInvalid: if the reference fails on its own inputs.
    """
    secret = source or random.SystemRandom()
    plan = arranged(oracle.workloads(fresh_seeds(secret, SEEDS)), oracle.task)
    trial = _MutantTrial(oracle, tolerance)
    for workload in plan:
        if trial.is_over:
            break
        if is_derived(workload):
            trial.judge_if_fair(workload)
        else:
            trial.judge(workload)
    chosen, used = list(plan), 0
    while trial.alive and used < redraws:
        used += 1
        for workload in _redrawn(oracle, plan, secret):
            if trial.alive and trial.judge_if_fair(workload):
                chosen.append(workload)
    return Admission(
        kills=trial.kills(),
        workloads=tuple(chosen),
        redraws=used,
        not_applicable=tuple(trial.absent.items()),
    )


def summary(admission: Admission) -> str:
    """Return one line for people: `kills 7/8; survives: zeros`."""
    text = f"kills {admission.killed}/{len(admission.kills)}"
    alive = [kill.mutant for kill in admission.kills if not kill.is_killed]
    if alive:
        text += f"; this task cannot tell these from a right answer: {', '.join(alive)}"
    return text


@dataclass(slots=True)
class _MutantTrial:
    """Which mutants are dead, alive, or do not exist, so far."""

    oracle: Oracle
    tolerance: Tolerance
    alive: dict[str, int] = field(default_factory=dict)
    killed: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    judged: int = 0

    @property
    def is_over(self) -> bool:
        """Whether every mutant that applies is dead.

        What does not apply to the first workload gets a second one, and no more: most tasks lack
        some mutant altogether.
        """
        is_sure = self.judged > 1 or not self.absent
        return bool(self.names) and not self.alive and is_sure

    def judge(self, workload: Workload) -> bool:
        """Judge the mutants on a workload; return whether one died here."""
        return self._judge(workload, self.oracle.expected(workload))

    def judge_if_fair(self, workload: Workload) -> bool:
        """As `judge`, if the reference stays finite and within its own tolerance there."""
        try:
            expected = self.oracle.expected(workload)
        except TaskInvalid:
            # Inputs that the reference does not take are not inputs of this task.
            return False
        if not is_finite(expected) or not reference_is_within(expected, self.tolerance):
            return False
        return self._judge(workload, expected)

    def kills(self) -> tuple[Kill, ...]:
        """Return one entry for each mutant that applies, in the order in which they came."""
        found = []
        for name in self.names:
            if name in self.killed:
                found.append(Kill(name, True, self.killed[name]))
            elif name in self.alive:
                found.append(Kill(name, False, f"accepted on all {self.alive[name]} workloads"))
        return tuple(found)

    def _judge(self, workload: Workload, expected: Expected) -> bool:
        has_killed = False
        self.judged += 1
        for mutant in self.oracle.mutants(workload):
            has_killed |= self._judge_one(mutant, workload, expected)
        return has_killed

    def _judge_one(self, mutant: MutantOutput, workload: Workload, expected: Expected) -> bool:
        self.names.setdefault(mutant.name)
        if mutant.name in self.killed:
            return False
        if mutant.outputs is None:
            if mutant.name not in self.alive:
                self.absent.setdefault(mutant.name, mutant.why)
            return False
        self.absent.pop(mutant.name, None)
        if agrees(mutant.outputs, expected, self.tolerance):
            self.alive[mutant.name] = self.alive.get(mutant.name, 0) + 1
            return False
        self.alive.pop(mutant.name, None)
        self.killed[mutant.name] = workload.label
        return True


def _redrawn(oracle: Oracle, plan: Sequence[Workload], source: random.Random) -> Iterator[Workload]:
    """Yield other inputs: distributions and parameters that the plan lacks, then new seeds."""
    templates = {replace(workload, seed=0) for workload in plan}
    has_parameters = bool(oracle.task.by_role(Role.PARAMETER))
    draws = (ParameterDraw.RANDOMISED, ParameterDraw.OFFICIAL)
    for distribution in _OTHERWISE:
        for parameters in draws if has_parameters else (ParameterDraw.OFFICIAL,):
            template = Workload(0, distribution, parameters)
            if template not in templates:
                yield replace(template, seed=fresh_seeds(source, 1)[0])
    yield from oracle.workloads(fresh_seeds(source, len(plan)))
