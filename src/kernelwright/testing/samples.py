"""Small records of every kind, for tests of whatever takes or keeps them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kernelwright.core.budget import Budget, Usage
from kernelwright.core.candidate import Candidate
from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.core.ports import Lesson, ValueUpdate
from kernelwright.core.profile import Bottleneck, Profile
from kernelwright.core.rollout import Proposal, Rollout
from kernelwright.core.run import Run
from kernelwright.core.task import OperandSpec, Role, Task
from kernelwright.core.value import Moments, Stage, Value, ValueView
from kernelwright.core.verdict import (
    Category,
    Feasible,
    GateName,
    GateReport,
    GateStatus,
    Infeasible,
    Latency,
    LatencySource,
    Ratio,
    Verdict,
)

STEP_SIZE = 0.25
"""Of `learn_by_steps`; a power of two, but rewards are not, so that every bit counts."""

SOFTMAX = '''"""Softmax over rows."""
import torch

ROWS, COLUMNS = 64, 1000

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)

def get_inputs():
    return [torch.rand(ROWS, COLUMNS)]

def get_init_inputs():
    return []
'''


def a_task(name: str = "softmax", source: str = SOFTMAX) -> Task:
    """Return a task; nothing runs its source."""
    operands = (
        OperandSpec("x", Role.INPUT, "tensor", "float32", (64, 1000)),
        OperandSpec("output[0]", Role.OUTPUT, "tensor", "float32", (64, 1000)),
    )
    return Task(
        name=name,
        source=source,
        path=f"{name}.py",
        operands=operands,
        input_bytes=256_000,
        flops=320_000,
    )


def a_run(run_id: str = "run-a", *, task: Task | None = None, key: str = "") -> Run:
    """Return a run on a task."""
    task = task or a_task()
    return Run(
        run_id=run_id,
        key=key or f"key of {run_id}",
        task_id=task.task_id,
        task_name=task.name,
        backend="cpu",
        options=(("strategy", "evolve"), ("tolerance", "strict")),
        budget=Budget(rollouts=12),
        seed=7,
        started_at=1_700_000_000.25,
    )


def a_candidate(text: str = "first", *, tile: int = 64, parent: str | None = None) -> Candidate:
    """Return a candidate that no toolchain would take."""
    return Candidate.of(
        "cpu",
        {"kernel.cpp": f"// {text}\nvoid softmax();\n", "model.py": "class ModelNew: ...\n"},
        origin="sample",
        parent=parent,
        schedule={"tile": str(tile)},
    )


def infeasible(reason: str = "kernel.cpp:3: error: 'exq' was not declared") -> Infeasible:
    """Return the verdict on a candidate that does not compile."""
    gates = (
        GateReport(GateName.SCREEN, GateStatus.PASSED, wall_s=0.001),
        GateReport(GateName.AUDIT, GateStatus.NOT_RUN),
        GateReport(GateName.COMPILE, GateStatus.FAILED, reason, Category.COMPILE_ERROR),
        GateReport(GateName.CORRECTNESS, GateStatus.NOT_RUN),
        GateReport(GateName.LATENCY, GateStatus.NOT_RUN),
    )
    return Infeasible(GateName.COMPILE, reason, Category.COMPILE_ERROR, gates)


def feasible(*, speedup: float | None = 1.5, median_us: float = 100.0) -> Feasible:
    """Return the verdict on a candidate that passed, with a paired ratio unless it is None."""
    latency = Latency(median_us, median_us * 1.01, median_us * 0.02, LatencySource.MEASURED)
    if speedup is None:
        return Feasible(latency)
    ratio = Ratio(speedup, speedup * 0.97, speedup * 1.03, 40, 0.01, "warm", "torch eager")
    baseline = Latency(
        median_us * speedup, median_us * speedup, median_us * 0.02, LatencySource.MEASURED
    )
    profile = Profile("cpu", "perf_counter", False, median_us, bottleneck=Bottleneck.MEMORY)
    return Feasible(latency, baseline, (ratio,), (), profile)


def a_rollout(
    run: Run,
    index: int,
    *,
    verdict: Verdict | None = None,
    candidate: Candidate | None = None,
    start_point: str | None = None,
    context: Sequence[str] = (),
    reward: float | None = None,
) -> Rollout:
    """Return a rollout of a run: a draft, or a refinement if it has a start point."""
    verdict = verdict or infeasible()
    stage = Stage.DRAFT if start_point is None else Stage.REFINE
    if reward is None:
        reward = 1.0 if isinstance(verdict, Feasible) else -1.0
    return Rollout(
        rollout_id=f"{run.run_id}/{index:05d}",
        run_id=run.run_id,
        task_id=run.task_id,
        index=index,
        proposal=Proposal(stage, start_point, "a sample"),
        context=tuple(context),
        candidate=candidate or a_candidate(f"{run.run_id} {index}", parent=start_point),
        verdict=verdict,
        reward=reward,
        usage=Usage(1.25, 100, 50, 0.001),
        seed=1000 + index,
        versions=(("python", "3"), ("sample", "1")),
        started_at=1_700_000_000.5 + index,
    )


def an_item(
    title: str = "tile the rows",
    *,
    kind: MemoryKind = MemoryKind.PRACTICE,
    body: str = "Keep one row of a softmax in the cache.",
    backend: str = "cpu",
    candidate_id: str = "",
    parent_id: str = "",
) -> MemoryItem:
    """Return a memory item."""
    return MemoryItem(
        kind, title, body, backend, candidate_id=candidate_id, parent_id=parent_id, version="1"
    )


def some_rollouts(run: Run, count: int, *, seed: int) -> tuple[Rollout, ...]:
    """Return a plausible course of a run: failures, a feasible draft, refinements, contexts.

    Contexts share items across runs (`item-0` to `item-3`), and rewards have all their bits set.
    """
    rng = random.Random(seed)
    rollouts: list[Rollout] = []
    starts: list[str] = []
    for index in range(count):
        is_feasible = rng.random() < 0.6
        rollout = a_rollout(
            run,
            index,
            verdict=feasible(speedup=rng.uniform(0.3, 4.0)) if is_feasible else infeasible(),
            start_point=rng.choice(starts) if starts else None,
            context=rng.sample([f"item-{number}" for number in range(4)], 2),
            reward=rng.uniform(-1.0, 1.0),
        )
        rollouts.append(rollout)
        if is_feasible:
            starts.append(rollout.candidate.candidate_id)
    return tuple(rollouts)


def learn_by_steps(rollout: Rollout, *, values: ValueView) -> Lesson:
    """Return a lesson by the simplest rule that a store can be tested with.

    Every item of the context moves a quarter of the way to the reward, the moments of the stage
    take it in, and there is one new item a rollout and one that all failures share.
    """
    stage = rollout.proposal.stage
    updates = []
    for item_id in rollout.context:
        before = values.of(stage, item_id)
        mean = before.mean + STEP_SIZE * (rollout.reward - before.mean)
        after = Value(mean, before.count + 1)
        updates.append(ValueUpdate(stage, item_id, before, after, rollout.reward))
    seen = values.rewards_at(stage)
    off = rollout.reward - seen.mean
    mean = seen.mean + off / (seen.count + 1)
    moments = Moments(seen.count + 1, mean, seen.square_sum + off * (rollout.reward - mean))
    items = [
        MemoryItem(
            MemoryKind.TRACE,
            rollout.rollout_id,
            rollout.candidate.files["kernel.cpp"],
            "cpu",
            rollout_id=rollout.rollout_id,
        )
    ]
    if isinstance(rollout.verdict, Infeasible):
        items.append(
            MemoryItem(MemoryKind.EXPERIENCE, "declare what you call", "", "cpu", task_id="any")
        )
    return Lesson(tuple(items), tuple(updates), ((stage, moments),))


def fold_by_steps(rollouts: Sequence[Rollout]) -> ValueView:
    """Return the values that `learn_by_steps` gives for a whole log."""
    values: dict[tuple[Stage, str], Value] = {}
    rewards: dict[Stage, Moments] = {}
    view = ValueView(values, rewards)
    for rollout in rollouts:
        lesson = learn_by_steps(rollout, values=view)
        values.update({(u.stage, u.item_id): u.after for u in lesson.updates})
        rewards.update(lesson.rewards)
    return view


def equal_views(first: ValueView, second: ValueView) -> bool:
    """Return whether two views hold the same values and moments, to the last bit."""
    return (dict(first.values), dict(first.rewards)) == (dict(second.values), dict(second.rewards))
