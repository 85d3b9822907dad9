"""Built Ascend C projects, called in a child of their own."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import kernelwright.emulator
from kernelwright.emulator.build import Built, Said
from kernelwright.emulator.chip_facts import host_facts
from kernelwright.emulator.targets import load_chip

EMULATOR = Path(kernelwright.emulator.__file__).parent
SOURCES = EMULATOR.parents[1]
FACTS = host_facts(load_chip("910B2"))


def plain(argv: Sequence[str], folder: Path) -> Said:
    """Run a command as it is: these tests trust their own projects."""
    env = {**os.environ, "PYTHONPATH": str(SOURCES)}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return Said(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Answer:
    """What a call in the child came to."""

    value: Any
    error: str
    reports: list[dict[str, Any]]

    @property
    def faults(self) -> dict[str, str]:
        """Messages by code, of all calls."""
        return {
            fault["code"]: fault["message"] for report in self.reports for fault in report["faults"]
        }


class Runnable:
    """A built project; each `call` forks a child that loads it."""

    def __init__(self, built: Built, module: str = "custom_ops_lib") -> None:
        self.built = built
        self.module = module

    def call(self, scene: Callable[[Any], Any], *, dry: bool = False) -> Answer:
        """Run `scene(module)` with the project's Python module in a child of its own."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        child = context.Process(target=_play, args=(self, scene, dry, theirs))
        child.start()
        theirs.close()
        try:
            answer: Answer = ours.recv()
        except EOFError:
            answer = Answer(None, "the child died", [])
        child.join()
        return answer


def _play(project: Runnable, scene: Callable[[Any], Any], dry: bool, pipe: Any) -> None:
    from kernelwright.emulator.binding_host import session_of

    torch.set_num_threads(1)
    folder = project.built.folder
    sys.path.insert(0, str(folder))
    session = session_of(folder)
    session.runtime.kw_host_dry_run(int(dry))
    value, error = None, ""
    try:
        value = scene(importlib.import_module(project.module))
        value = value.numpy() if isinstance(value, torch.Tensor) else value
    except Exception as raised:  # noqa: BLE001 - the scene's outcome, whatever it is
        error = f"{type(raised).__name__}: {raised}"
    pipe.send(Answer(value, error, session.reports()))
