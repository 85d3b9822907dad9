"""Leaving the artifact and the reports of a run where the user wants them, as the run goes on."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from kernelwright import __version__
from kernelwright.artifacts.deliver import deliver, withdraw
from kernelwright.artifacts.markdown import report_markdown
from kernelwright.artifacts.report import Account, report_json, shown_rollout
from kernelwright.core.execution import Admission
from kernelwright.core.fingerprint import Json
from kernelwright.core.rollout import History
from kernelwright.core.run import Run
from kernelwright.core.task import Tolerance
from kernelwright.core.verdict import Feasible
from kernelwright.engine.events import Event, Listener, RolloutRecorded, RunEnded
from kernelwright.wiring.bench import Bench
from kernelwright.wiring.verifying import verdict_fields

REPORT = "report.json"


class Delivery:
    """Listens to a run, passes everything on, and writes the artifact when the best changes.

    So whatever ends the run, the folder holds the best candidate of the rollouts that finished.
    """

    def __init__(
        self,
        folder: Path,
        bench: Bench,
        run: Run,
        *,
        admission: Admission,
        tolerance: Tolerance,
        tell: Listener,
    ) -> None:
        self._folder, self._bench, self._run = folder, bench, run
        self._admission, self._tolerance, self._tell = admission, tolerance, tell
        self._best: str | None = None
        self._ended = ""

    def __call__(self, event: Event) -> None:
        """Hear one event of the run."""
        match event:
            case RolloutRecorded(history=history):
                best = history.best()
                if best is not None and best.candidate.candidate_id != self._best:
                    self._best = best.candidate.candidate_id
                    self.write(history)
            case RunEnded(run=run, why=why):
                self._run, self._ended = run, why
            case _:
                pass
        self._tell(event)

    def write(self, history: History) -> dict[str, Json]:
        """Write the artifact of the best candidate and both reports; return `report.json`."""
        shown = shown_rollout(history)
        files: Mapping[str, str] = {}
        if shown is not None and isinstance(shown.verdict, Feasible):
            files = self._bench.backend.export(shown.candidate, self._bench.task)
        account = Account(
            run=self._run,
            task=self._bench.task,
            history=history,
            admission=self._admission,
            verdict=None if shown is None else verdict_fields(shown.verdict, self._tolerance),
            machine=machine_facts(self._bench),
            ended=self._ended,
        )
        report: dict[str, Json] = {**report_json(account), "files": sorted(files)}
        before = _files_of(read_report(self._folder))
        texts = {"report.md": report_markdown(account), REPORT: json.dumps(report, indent=2)}
        deliver({**files, **texts}, self._folder)
        withdraw(before - set(files), self._folder)
        return report


def finished_report(folder: Path, run: Run, history: History) -> dict[str, Json] | None:
    """Return the report in `folder` if it is that of this run with all of these rollouts."""
    report = read_report(folder)
    recorded = report.get("run")
    rollouts = report.get("rollouts")
    is_ours = isinstance(recorded, Mapping) and recorded.get("run_id") == run.run_id
    is_whole = isinstance(rollouts, list) and len(rollouts) == len(history.rollouts)
    return report if is_ours and is_whole and report.get("ended") else None


def read_report(folder: Path) -> dict[str, Json]:
    """Return the report in `folder`, empty if there is none that can be read."""
    try:
        found = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def product_versions() -> dict[str, str]:
    """Return the versions of the product and of what it cannot do without."""
    return {
        "kernelwright": __version__,
        "python": platform.python_version(),
        "torch": version("torch"),
        "numpy": version("numpy"),
    }


def machine_facts(bench: Bench) -> tuple[tuple[str, str], ...]:
    """Return what is to be known about the machine that measured."""
    facts = {"system": f"{platform.system()} {platform.release()} {platform.machine()}"}
    return tuple({**facts, **bench.backend.versions()}.items())


def _files_of(report: Mapping[str, Json]) -> set[str]:
    files = report.get("files")
    return {str(name) for name in files} if isinstance(files, list) else set()
