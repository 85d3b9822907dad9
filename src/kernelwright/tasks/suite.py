"""Suites: every task file below a folder, whatever its levels are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.errors import TaskInvalid, UsageMistake
from kernelwright.core.task import Task
from kernelwright.sandbox import Sandbox
from kernelwright.tasks.load import DEFAULTS, LoadOptions, load_task
from kernelwright.tasks.source import check_source, read_source
from kernelwright.tasks.version import checkout_of, version_of


@dataclass(frozen=True, slots=True)
class Listed:
    """One task file as its text shows it; nothing was run.

    Attributes:
        name: File stem.
        path: The file.
        suite: Name of the suite.
        category: Its folder within the suite.
        problem: Why it is no task; empty if its text shows nothing wrong.
        line: Line of the problem, if a line is at fault.
        fix: What to do about it; empty if there is no problem.
    """

    name: str
    path: str
    suite: str
    category: str
    problem: str = ""
    line: int | None = None
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a suite: a task, or why it is none."""

    path: str
    task: Task | None
    problem: TaskInvalid | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """A named set of tasks of one version.

    Attributes:
        name: Name of the checkout or of the folder.
        version: `git:<commit>` or `sha256:<content>`.
        entries: Every file, in natural order of its path.
    """

    name: str
    version: str
    entries: tuple[Entry, ...]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The files that are tasks."""
        return tuple(entry.task for entry in self.entries if entry.task is not None)


def list_tasks(path: Path) -> tuple[Listed, ...]:
    """List the task files below a folder, or one file, by their text alone.

    Raises:
        UsageMistake: if the path does not exist.
    """
    suite = suite_name(path)
    return tuple(_listed(file, path, suite) for file in task_files(path))


def load_suite(path: Path, *, sandbox: Sandbox, options: LoadOptions = DEFAULTS) -> Suite:
    """Load every task file below a folder; a file that is no task is an entry with its problem.

    Raises:
        UsageMistake: if the path does not exist.
    """
    name, version = suite_name(path), version_of(path)
    entries: list[Entry] = []
    for file in task_files(path):
        try:
            task = load_task(
                file,
                sandbox=sandbox,
                options=options,
                suite=name,
                category=category_of(file, path),
                version=version,
            )
        except TaskInvalid as problem:
            entries.append(Entry(str(file), None, problem))
        else:
            entries.append(Entry(str(file), task))
    return Suite(name, version, tuple(entries))


def task_files(path: Path) -> tuple[Path, ...]:
    """Return the Python files below a path in natural order, without hidden and dunder ones.

    Raises:
        UsageMistake: if the path does not exist.
    """
    if path.is_file():
        return (path,)
    if not path.is_dir():
        raise UsageMistake(f"there is no {path}", fix="name a task file or a folder of them")
    return tuple(sorted(_python_files(path), key=lambda file: natural(file.relative_to(path))))


def suite_name(path: Path) -> str:
    """Return the name of the checkout around a path, else of the folder."""
    checkout = checkout_of(path)
    full = path.resolve()
    return (checkout or (full.parent if full.is_file() else full)).name


def category_of(file: Path, root: Path) -> str:
    """Return the folder of a file below the root, or the root's own name."""
    inner = file.resolve().parent
    top = root.resolve()
    if top.is_dir() and inner != top:
        return inner.relative_to(top).as_posix()
    return inner.name


def natural(path: Path) -> list[tuple[int, int, str]]:
    """Return a key that puts `9_x` before `10_x`."""
    words = re.split(r"(\d+)", path.as_posix())
    return [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in words if word]


def _python_files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*.py"):
        parts = file.relative_to(folder).parts
        if not any(part.startswith((".", "__")) for part in parts) and file.is_file():
            yield file


def _listed(file: Path, root: Path, suite: str) -> Listed:
    name, place, category = file.stem, str(file), category_of(file, root)
    try:
        check_source(read_source(file), path=place)
    except TaskInvalid as problem:
        what = problem.what.partition(": ")[2]
        return Listed(name, place, suite, category, what, problem.line, problem.fix)
    return Listed(name, place, suite, category)
