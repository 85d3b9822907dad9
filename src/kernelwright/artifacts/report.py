"""The report of a run as data: `report.json`, from which `report.md` is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelwright.core.encode import to_json
from kernelwright.core.execution import Admission
from kernelwright.core.fingerprint import Json
from kernelwright.core.rollout import History, Rollout
from kernelwright.core.run import Run
from kernelwright.core.task import Task
from kernelwright.core.verdict import Feasible

REPORT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Account:
    """Everything a report is made from.

    Attributes:
        run: The run.
        task: Its task.
        history: Its rollouts.
        admission: Whether the task can tell right from wrong, None before it is known.
        verdict: Verdict of the best candidate (or of the last one, if none is feasible) in the
            form of `verify --json`, None before the first rollout.
        machine: (name, fact) about the machine that measured.
        ended: Why the run stopped, or empty while it goes on.
    """

    run: Run
    task: Task
    history: History
    admission: Admission | None
    verdict: Mapping[str, Json] | None
    machine: tuple[tuple[str, str], ...]
    ended: str = ""


def shown_rollout(history: History) -> Rollout | None:
    """Return the rollout a report is about: the best feasible one, else the last one."""
    best = history.best()
    return best if best is not None or not history.rollouts else history.rollouts[-1]


def report_json(account: Account) -> dict[str, Json]:
    """Return the whole report as JSON; its first fields answer "did it work, how fast"."""
    shown = shown_rollout(account.history)
    verdict = dict(account.verdict or {})
    return {
        "report_version": REPORT_VERSION,
        **verdict,
        "task": _task_json(account.task),
        "backend": account.run.backend,
        "best_candidate": None if shown is None else shown.candidate.candidate_id,
        "best_rollout": None if shown is None else shown.rollout_id,
        "admission": None if account.admission is None else admission_json(account.admission),
        "run": to_json(account.run),
        "ended": account.ended,
        "machine": dict(account.machine),
        "rollouts": [rollout_json(rollout) for rollout in account.history.rollouts],
    }


def rollout_json(rollout: Rollout) -> dict[str, Json]:
    """Return one rollout as a line of the report: what was tried and what came of it."""
    verdict = rollout.verdict
    row: dict[str, Json] = {
        "rollout": rollout.rollout_id,
        "index": rollout.index,
        "stage": rollout.proposal.stage.value,
        "start_point": rollout.proposal.start_point,
        "why": rollout.proposal.why,
        "candidate": rollout.candidate.candidate_id,
        "origin": rollout.candidate.origin,
        "schedule": dict(rollout.candidate.schedule),
        "context": list(rollout.context),
        "feasible": isinstance(verdict, Feasible),
        "reward": rollout.reward,
        "seed": rollout.seed,
        "versions": dict(rollout.versions),
        "seconds": rollout.usage.seconds,
        "input_tokens": rollout.usage.input_tokens,
        "output_tokens": rollout.usage.output_tokens,
        "money_usd": rollout.usage.money_usd,
        "started_at": rollout.started_at,
    }
    if isinstance(verdict, Feasible):
        ratio = verdict.speedup
        row["latency_us"] = verdict.latency.median_us
        row["speedup"] = None if ratio is None else ratio.median
    else:
        row["gate"] = verdict.gate.value
        row["category"] = verdict.category.value
        row["reason"] = verdict.reason
    return row


def admission_json(admission: Admission) -> dict[str, Json]:
    """Return the power of a task as JSON, with the line that people are shown."""
    return {
        "kills": f"{admission.killed}/{len(admission.kills)}",
        "is_powerful": admission.is_powerful,
        "mutants": [to_json(kill) for kill in admission.kills],
        "not_applicable": dict(admission.not_applicable),
        "redraws": admission.redraws,
        "workloads": [workload.label for workload in admission.workloads],
    }


def _task_json(task: Task) -> dict[str, Json]:
    return {
        "name": task.name,
        "task_id": task.task_id,
        "suite": task.suite,
        "category": task.category,
        "version": task.version,
        "is_training": task.is_training,
        "is_random": task.is_random,
        "input_bytes": task.input_bytes,
        "flops": task.flops,
        "shrink": None if task.shrink is None else to_json(task.shrink),
        "operands": [to_json(spec) for spec in task.operands],
    }
