"""Tasks as they are listed and shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernelwright.artifacts.markdown import task_markdown
from kernelwright.core.fingerprint import Json
from kernelwright.core.task import Task
from kernelwright.sandbox import Sandbox
from kernelwright.tasks import WARM, describe, list_tasks, load_task
from kernelwright.wiring.bench import load_options
from kernelwright.wiring.options import TaskOptions
from kernelwright.wiring.settings import Settings


@dataclass(frozen=True, slots=True)
class Shown:
    """A loaded task."""

    task: Task

    @property
    def json(self) -> dict[str, Json]:
        """Everything about the task."""
        return describe(self.task)

    @property
    def text(self) -> str:
        """The same for people."""
        return task_markdown(self.task)


def listing(path: Path) -> list[dict[str, Json]]:
    """Return what each task file below `path` is, without running anything of it."""
    return [
        {
            "name": row.name,
            "category": row.category,
            "path": str(row.path),
            "problem": row.problem,
        }
        for row in list_tasks(path)
    ]


def show_task(options: TaskOptions, settings: Settings) -> Shown:
    """Load one task in the sandbox.

    Raises:
        UsageMistake: if there is no such file.
        TaskInvalid: if it is no task that runs here.
    """
    with Sandbox(warm=WARM, threads=settings.cpu.threads) as sandbox:
        return Shown(load_task(options.path, sandbox=sandbox, options=load_options(options)))
