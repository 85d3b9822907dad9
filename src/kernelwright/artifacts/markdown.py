"""The report of a run for people: `report.md`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelwright.artifacts.report import Account, shown_rollout
from kernelwright.core.execution import Admission
from kernelwright.core.profile import Profile
from kernelwright.core.rollout import Rollout
from kernelwright.core.task import Role, Task
from kernelwright.core.verdict import Feasible, GateReport, GateStatus, LatencySource, Ratio


def report_markdown(account: Account) -> str:
    """Return the report: result, gates, power of the task, profile, rollouts, provenance."""
    shown = shown_rollout(account.history)
    parts = [f"# {account.task.name} on {account.run.backend}", _headline(shown)]
    if shown is not None:
        parts += _result(shown)
    parts += _admission(account.admission)
    parts += _task(account.task)
    parts += _rollouts(account.history.rollouts, shown)
    parts += _provenance(account, shown)
    return "\n\n".join(parts) + "\n"


def speedup_text(ratio: Ratio) -> str:
    """Return a ratio with its interval and noise floor, as it may be quoted."""
    return (
        f"{ratio.median:.2f}x (95 % interval {ratio.low:.2f}-{ratio.high:.2f}, "
        f"{ratio.pairs} pairs, A/A noise ±{ratio.noise * 100:.1f} %, {ratio.cache} cache)"
    )


def task_markdown(task: Task) -> str:
    """Return what a task takes, owns and returns."""
    return "\n\n".join([f"# {task.name}", *_task(task)[1:], _origin(task)])


def _origin(task: Task) -> str:
    lines = [
        f"- task id: {task.task_id}",
        f"- file: {task.path}",
        f"- version: {task.version or '-'}",
        f"- inputs and parameters: {task.input_bytes / 1e6:.3f} MB",
        f"- floating-point operations of one call: {task.flops or 'not counted'}",
    ]
    return "\n".join(lines)


def _headline(shown: Rollout | None) -> str:
    if shown is None:
        return "No rollout has finished yet."
    verdict = shown.verdict
    if not isinstance(verdict, Feasible):
        return (
            f"**Nothing feasible was found.** The last candidate failed at the "
            f"{verdict.gate.value} gate:\n\n```text\n{verdict.reason.strip()}\n```"
        )
    if verdict.speedup is None:
        return f"**Feasible**, {_time(verdict)}."
    return f"**Feasible**, {speedup_text(verdict.speedup)} against {verdict.speedup.baseline}."


def _time(verdict: Feasible) -> str:
    latency = verdict.latency
    if latency.source is LatencySource.SIMULATED:
        return f"{latency.median_us:.1f} us simulated by {latency.timing_model}"
    return f"{latency.median_us:.1f} us measured"


def _result(shown: Rollout) -> list[str]:
    verdict = shown.verdict
    parts = ["## Gates", _gates(verdict.gates)]
    if not isinstance(verdict, Feasible):
        return parts
    rows = [("candidate", verdict.latency)]
    if verdict.baseline is not None:
        rows.append(("baseline", verdict.baseline))
    cells = [
        (
            name,
            f"{latency.median_us:.1f}",
            f"{latency.mean_us:.1f}",
            f"{latency.std_us:.1f}",
            latency.source.value if latency.timing_model is None else latency.timing_model,
        )
        for name, latency in rows
    ]
    parts += ["## Latency", _table(("", "median us", "mean us", "std us", "source"), cells)]
    if verdict.speedups:
        parts.append("\n".join(f"- {speedup_text(ratio)}" for ratio in verdict.speedups))
    if verdict.profile is not None:
        parts += ["## Profile", _profile(verdict.profile)]
    return parts


def _gates(gates: Iterable[GateReport]) -> str:
    rows = []
    for gate in gates:
        if gate.status is GateStatus.NOT_RUN:
            said = gate.reason or "-"
            rows.append((gate.gate.value, "not run", "-", _cell(said)))
            continue
        facts = "; ".join(f"{name}: {value}" for name, value in gate.details)
        said = gate.reason or facts
        rows.append((gate.gate.value, gate.status.value, f"{gate.wall_s:.2f}", _cell(said)))
    return _table(("gate", "verdict", "seconds", "details"), rows)


def _profile(profile: Profile) -> str:
    lines = [f"- bottleneck: {profile.bottleneck.value} (by {profile.tool})"]
    if profile.achieved_gbps:
        lines.append(
            f"- {profile.bytes_moved / 1e6:.1f} MB moved at {profile.achieved_gbps:.1f} GB/s; "
            f"measured copy ceiling {profile.ceiling_gbps:.1f} GB/s"
        )
    lines += [f"- {part}: {share * 100:.0f} %" for part, share in profile.time_split]
    lines += [f"- {name}: {value}" for name, value in profile.facts]
    if profile.advice:
        lines.append(f"- next: {profile.advice}")
    return "\n".join(lines)


def _admission(admission: Admission | None) -> list[str]:
    if admission is None:
        return []
    head = f"kills {admission.killed}/{len(admission.kills)}"
    if not admission.is_powerful:
        head += " - **this task cannot tell every wrong kernel from a right one**"
    rows = [
        (kill.mutant, "rejected" if kill.is_killed else "**accepted**", _cell(kill.killed_by))
        for kill in admission.kills
    ]
    parts = ["## Power of the task", head, _table(("mutant", "verdict", "by"), rows)]
    if admission.not_applicable:
        left = "; ".join(f"{name} ({why})" for name, why in admission.not_applicable)
        parts.append(f"Not applicable: {left}.")
    return parts


def _task(task: Task) -> list[str]:
    rows = [
        (spec.name, spec.role.value, _operand(spec.dtype, spec.shape, spec.type, spec.value))
        for spec in task.operands
        if spec.role is not Role.INIT or spec.value is not None
    ]
    mode = "training" if task.is_training else "evaluation"
    lines = [f"Module in {mode} mode" + ("; the reference is random." if task.is_random else ".")]
    if task.shrink is not None:
        sizes = ", ".join(f"{name} {old} -> {new}" for name, old, new in task.shrink.sizes)
        lines.append(f"Shrunk by {task.shrink.rule}: {sizes}.")
    return ["## Task", _table(("operand", "role", "type"), rows), " ".join(lines)]


def _operand(dtype: str | None, shape: tuple[int, ...], type_: str, value: str | None) -> str:
    if dtype is not None:
        return f"{dtype}[{', '.join(map(str, shape))}]"
    return type_ if value is None else f"{type_} = {value}"


def _rollouts(rollouts: Sequence[Rollout], shown: Rollout | None) -> list[str]:
    rows = []
    for rollout in rollouts:
        verdict = rollout.verdict
        if isinstance(verdict, Feasible):
            ratio = verdict.speedup
            said = _time(verdict) if ratio is None else f"{ratio.median:.2f}x"
        else:
            said = f"{verdict.gate.value}: {verdict.category.value}"
        mark = " (best)" if rollout is shown and isinstance(verdict, Feasible) else ""
        schedule = ", ".join(f"{name}={value}" for name, value in rollout.candidate.schedule)
        rows.append(
            (
                f"{rollout.index}{mark}",
                rollout.proposal.stage.value,
                rollout.candidate.candidate_id,
                said,
                f"{rollout.reward:+.3f}",
                _cell(schedule),
            )
        )
    head = ("rollout", "stage", "candidate", "verdict", "reward", "schedule")
    return ["## Rollouts", _table(head, rows)]


def _provenance(account: Account, shown: Rollout | None) -> list[str]:
    run, task = account.run, account.task
    facts = [
        ("run", run.run_id),
        ("seed", str(run.seed)),
        ("task", f"{task.task_id} ({task.path})"),
        ("version of the task's source", task.version or "-"),
        *run.options,
        *account.machine,
        *(shown.versions if shown is not None else ()),
    ]
    rows = [(name, _cell(value)) for name, value in facts]
    ended = f"The run ended: {account.ended}." if account.ended else "The run has not ended."
    return ["## Provenance", _table(("what", "value"), rows), ended]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.strip().replace("|", "\\|").replace("\n", "<br>")
