"""Runs under a budget: begin or resume, perform rollouts until a limit is reached."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.core.budget import Usage
from kernelwright.core.errors import NotCovered
from kernelwright.core.rollout import History
from kernelwright.core.run import Run, RunStatus
from kernelwright.core.task import Task
from kernelwright.engine.events import Listener, RunEnded, RunStarted
from kernelwright.engine.rollout import Crew, perform


def work(crew: Crew, run: Run, task: Task, *, tell: Listener) -> History:
    """Work on one task until the run's budget is spent; return all of its rollouts.

    What earlier invocations finished counts against the budget: rollouts, seconds, tokens and
    money alike. So calling this again after an interrupt goes on where it stopped, with a spent
    budget does nothing, and with a larger budget continues.

    Raises:
        NotCovered: if the generator cannot write any kernel for the task.
    """
    history = crew.store.history(run.run_id)
    tell(RunStarted(run, task, history))
    why = limit_reached(run, history)
    if why is None:
        crew.store.update_run(run.run_id, status=RunStatus.ACTIVE, budget=run.budget)
    while why is None:
        try:
            rollout = perform(crew, run, task, history, tell=tell)
        except NotCovered as stop:
            if not history.rollouts:
                raise
            why = stop.what
            break
        history = History((*history.rollouts, rollout))
        why = limit_reached(run, history)
    finished = replace(run, status=RunStatus.FINISHED)
    crew.store.update_run(run.run_id, status=finished.status, budget=run.budget)
    tell(RunEnded(finished, history, why))
    return history


def limit_reached(run: Run, history: History) -> str | None:
    """Return which limit of its budget a run has reached, in words, or None."""
    spent = sum((r.usage for r in history.rollouts), start=Usage())
    limit = run.budget.exhausted_by(len(history.rollouts), spent)
    return None if limit is None else f"the budget of {limit} is spent"
