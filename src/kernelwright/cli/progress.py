"""The progress display of a run: rollout, stage, gate and best speed-up, on a terminal only."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from kernelwright.core.rollout import History, Rollout
from kernelwright.core.run import Run
from kernelwright.core.verdict import Feasible
from kernelwright.engine.events import (
    Event,
    GateStarted,
    Preparing,
    Proposed,
    RolloutRecorded,
    RunEnded,
    RunStarted,
    TaskAdmitted,
)


class ProgressDisplay:
    """Listens to a run; draws only where stderr is a terminal."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._console = Console(stderr=True)
        self._is_shown = not is_quiet and sys.stderr.isatty()
        self._bar = Progress(
            TextColumn("{task.fields[place]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.description}"),
            TextColumn("best {task.fields[best]}"),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._is_shown,
            transient=True,
        )
        self._task: TaskID | None = None
        self._stage = ""

    def __enter__(self) -> ProgressDisplay:
        self._bar.start()
        self._task = self._bar.add_task("starting", total=None, place="", best="-")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Preparing(step=step):
                self._stage = ""
                self._doing(step)
            case RunStarted(run=run, task=task, history=history):
                done = len(history.rollouts)
                resumed = f", going on after rollout {done}" if done else ""
                self._line(f"{task.name} on {run.backend}: run {run.run_id}{resumed}")
                self._counts(run, history)
            case TaskAdmitted(admission=admission):
                weak = "" if admission.is_powerful else " (some wrong kernels would be accepted)"
                self._line(f"the task kills {admission.killed}/{len(admission.kills)}{weak}")
            case Proposed(proposal=proposal):
                self._stage = proposal.stage.value
                self._doing("generate")
            case GateStarted(gate=gate):
                self._doing(gate.value)
            case RolloutRecorded(rollout=rollout, history=history):
                self._line(rollout_line(rollout))
                self._advance(history)
            case RunEnded(why=why):
                self._line(f"ended: {why}")

    def _line(self, text: str) -> None:
        if self._is_shown:
            self._console.print(text, highlight=False, markup=False)

    def _doing(self, step: str) -> None:
        if self._task is not None:
            doing = f"{self._stage}: {step}" if self._stage else step
            self._bar.update(self._task, description=doing)

    def _counts(self, run: Run, history: History) -> None:
        if self._task is not None:
            self._bar.update(self._task, total=run.budget.rollouts)
        self._advance(history)

    def _advance(self, history: History) -> None:
        if self._task is None:
            return
        done = len(history.rollouts)
        self._bar.update(
            self._task, completed=done, place=f"rollout {done}", best=best_text(history)
        )


def rollout_line(rollout: Rollout) -> str:
    """Return a finished rollout as one line."""
    verdict = rollout.verdict
    if isinstance(verdict, Feasible):
        ratio = verdict.speedup
        said = f"feasible, {verdict.latency.median_us:.1f} us"
        said += "" if ratio is None else f", {ratio.median:.2f}x"
    else:
        said = f"{verdict.gate.value}: {verdict.reason.strip().splitlines()[0][:100]}"
    return f"  {rollout.index:>3}  {rollout.proposal.stage.value:<6}  {said}"


def best_text(history: History) -> str:
    """Return the best speed-up so far, or the best time, or a dash."""
    best = history.best()
    if best is None or not isinstance(best.verdict, Feasible):
        return "-"
    ratio = best.verdict.speedup
    return f"{best.verdict.latency.median_us:.1f} us" if ratio is None else f"{ratio.median:.2f}x"
