"""One task on the bench: loaded in a sandbox, with its oracle and a backend beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kernelwright.core.ports import Backend
from kernelwright.core.task import Task
from kernelwright.engine.events import Listener, Preparing, silent
from kernelwright.sandbox import Sandbox
from kernelwright.synth.tracing import WARM as WARM_FOR_TRACES
from kernelwright.tasks import WARM as WARM_FOR_TASKS
from kernelwright.tasks import LoadOptions, TaskOracle, load_task
from kernelwright.wiring.backends import make_backend
from kernelwright.wiring.options import TaskOptions
from kernelwright.wiring.registries import BACKENDS
from kernelwright.wiring.settings import Settings

WARM = tuple(dict.fromkeys((*WARM_FOR_TASKS, *WARM_FOR_TRACES)))
"""Modules that some child needs; imported once, before any child is forked."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything that judges candidates of one task on one backend."""

    sandbox: Sandbox
    task: Task
    backend: Backend
    oracle: TaskOracle


@contextmanager
def opened_bench(
    options: TaskOptions, backend: str, settings: Settings, *, tell: Listener = silent
) -> Iterator[Bench]:
    """Load a task and put its oracle and a backend beside it; everything ends with the block.

    Raises:
        UnknownName: if there is no such backend.
        TaskInvalid: if the file is no task that runs here.
        MachineLacks: if the sandbox or the backend's toolchain is not to be had.
    """
    tell(Preparing("load the task"))
    BACKENDS.factory(backend)  # A wrong name is said before anything is started.
    with Sandbox(warm=WARM, threads=settings.cpu.threads) as sandbox:
        made = make_backend(backend, settings, sandbox, tell=tell)
        made.versions()  # A missing toolchain is said before the task is loaded.
        task = load_task(options.path, sandbox=sandbox, options=load_options(options))
        with TaskOracle(task, sandbox=sandbox) as oracle:
            yield Bench(sandbox, task, made, oracle)


def load_options(options: TaskOptions) -> LoadOptions:
    """Return a command's options about a task in the loader's form."""
    return LoadOptions(max_bytes=options.max_bytes, max_flops=options.max_flops)
