"""Reports say what happened, and never more than that."""

from __future__ import annotations

import json

from kernelwright.artifacts.markdown import report_markdown
from kernelwright.artifacts.report import Account, report_json
from kernelwright.core.budget import Budget, Usage
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Admission, Kill, Workload
from kernelwright.core.rollout import History, Proposal, Rollout
from kernelwright.core.run import Run
from kernelwright.core.task import Shrink, Task
from kernelwright.core.value import Stage
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

TASK = Task(
    "softmax",
    "class Model: ...",
    "softmax.py",
    shrink=Shrink("halve v1", (("ROWS", 4096, 1024),), max_bytes=64),
)
NOT_RUN = GateReport(GateName.AUDIT, GateStatus.NOT_RUN)
MEASURED = Feasible(
    Latency(50.0, 51.0, 2.0, LatencySource.MEASURED),
    Latency(75.0, 76.0, 2.0, LatencySource.MEASURED),
    (Ratio(1.5, 1.4, 1.6, 20, 0.01, "warm", "torch eager 2.13.0, 1 thread"),),
    (GateReport(GateName.SCREEN, GateStatus.PASSED, wall_s=0.1), NOT_RUN),
)
WRONG = Infeasible(GateName.COMPILE, "line 3: expected ';'", Category.COMPILE_ERROR, (NOT_RUN,))
WEAK = Admission(
    (Kill("zeros", True, "official"), Kill("stale", False, "accepted")), (Workload(1),)
)


def rollout(index: int, verdict: Verdict) -> Rollout:
    return Rollout(
        f"r/{index:05d}",
        "r",
        TASK.task_id,
        index,
        Proposal(Stage.DRAFT),
        (),
        Candidate.of("cpu", {"kernel.cpp": str(index)}, schedule={"tile": str(index)}),
        verdict,
        1.0,
        Usage(seconds=1.5),
        seed=3,
        versions=(("kernelwright", "0.1"),),
    )


def account(*verdicts: Verdict) -> Account:
    history = History(tuple(rollout(i, verdict) for i, verdict in enumerate(verdicts)))
    run = Run("r", "k", TASK.task_id, TASK.name, "cpu", (), Budget(rollouts=4), seed=0)
    return Account(run, TASK, history, WEAK, {"feasible": True}, (("system", "Linux"),))


def test_the_ratio_is_quoted_with_interval_noise_cache_and_baseline() -> None:
    text = report_markdown(account(WRONG, MEASURED))
    assert (
        "1.50x (95 % interval 1.40-1.60, 20 pairs, A/A noise ±1.0 %, warm cache) "
        "against torch eager 2.13.0, 1 thread" in text
    )


def test_a_gate_that_did_not_run_is_not_called_passed() -> None:
    assert "| audit | not run | - |" in report_markdown(account(MEASURED))


def test_a_simulated_time_is_labelled_with_its_model() -> None:
    latency = Latency(50.0, 51.0, 2.0, LatencySource.SIMULATED, "pipes v1")
    text = report_markdown(account(Feasible(latency)))
    assert "simulated by pipes v1" in text
    assert "measured" not in text.split("## Power")[0]


def test_a_weak_task_is_flagged() -> None:
    text = report_markdown(account(MEASURED))
    assert "kills 1/2" in text
    assert "cannot tell every wrong kernel from a right one" in text


def test_nothing_feasible_is_said_first_with_the_feedback() -> None:
    text = report_markdown(account(WRONG))
    assert text.index("Nothing feasible was found") < text.index("## ")
    assert "line 3: expected ';'" in text


def test_shrunk_sizes_are_recorded() -> None:
    assert "Shrunk by halve v1: ROWS 4096 -> 1024." in report_markdown(account(MEASURED))


def test_the_json_lists_every_rollout_and_is_plain_json() -> None:
    report = report_json(account(WRONG, MEASURED))
    again = json.loads(json.dumps(report, allow_nan=False))
    assert [row["feasible"] for row in again["rollouts"]] == [False, True]
    assert again["best_rollout"] == "r/00001"
    assert again["admission"]["kills"] == "1/2"
    assert again["rollouts"][0]["reason"] == "line 3: expected ';'"


def test_a_report_without_rollouts_claims_nothing() -> None:
    assert "No rollout has finished yet." in report_markdown(account())
    assert report_json(account())["best_candidate"] is None
