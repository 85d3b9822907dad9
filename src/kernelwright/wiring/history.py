"""Runs as they are listed, shown and forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.artifacts.report import rollout_json
from kernelwright.core.encode import to_json
from kernelwright.core.errors import UnknownName
from kernelwright.core.fingerprint import Json
from kernelwright.core.ports import Store
from kernelwright.core.rollout import History
from kernelwright.core.run import Run
from kernelwright.core.verdict import Feasible
from kernelwright.wiring.memory import make_memory
from kernelwright.wiring.settings import Settings
from kernelwright.wiring.stores import opened_store


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with its rollouts."""

    run: Run
    history: History

    @property
    def json(self) -> dict[str, Json]:
        """The run, its rollouts and its best one."""
        best = self.history.best()
        ratio = None
        if best is not None and isinstance(best.verdict, Feasible):
            ratio = best.verdict.speedup
        return {
            "run": to_json(self.run),
            "done": len(self.history.rollouts),
            "best_rollout": None if best is None else best.rollout_id,
            "speedup": None if ratio is None else ratio.median,
            "rollouts": [rollout_json(rollout) for rollout in self.history.rollouts],
        }


def list_runs(settings: Settings, path: Path | None) -> tuple[RunRow, ...]:
    """Return all runs of a store, newest first."""
    with opened_store(settings, path) as store:
        return tuple(RunRow(run, store.history(run.run_id)) for run in store.runs())


def show_run(settings: Settings, path: Path | None, run_id: str) -> RunRow:
    """Return one run.

    Raises:
        UnknownName: if the store has no run of that identity.
    """
    with opened_store(settings, path) as store:
        run = found_run(store, run_id)
        return RunRow(run, store.history(run_id))


def prune_runs(settings: Settings, path: Path | None, run_ids: Sequence[str]) -> dict[str, int]:
    """Forget runs; return how many rollouts of each went.

    Raises:
        UnknownName: if one of them is not there; then nothing is forgotten.
    """
    with opened_store(settings, path) as store:
        for run_id in run_ids:
            found_run(store, run_id)
        learn = make_memory(settings).learn
        return {run_id: store.prune(run_id, learn) for run_id in run_ids}


def found_run(store: Store, run_id: str) -> Run:
    """Return the run of that identity.

    Raises:
        UnknownName: if there is none.
    """
    for run in store.runs():
        if run.run_id == run_id:
            return run
    raise UnknownName(f"there is no run {run_id!r}", fix="`kernelwright runs list` prints them")
