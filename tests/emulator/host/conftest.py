"""A runtime library for the host side, and projects built and called in a child."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

import kernelwright.emulator
from kernelwright.emulator.build import BuildFault, Built, Said, Toolbox, build
from kernelwright.emulator.chip_facts import host_facts
from kernelwright.emulator.project import Project, ProjectFault, project_from_parts
from kernelwright.emulator.targets import load_chip

EMULATOR = Path(kernelwright.emulator.__file__).parent
SOURCES = EMULATOR.parents[1]


def plain(argv: Sequence[str], folder: Path) -> Said:
    """Run a command as it is: these tests trust their own projects."""
    env = {**os.environ, "PYTHONPATH": str(SOURCES)}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    """The emulator's runtime library with the figures of the default chip."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    return Toolbox(
        "g++",
        EMULATOR / "include",
        runtime_library(tmp_path_factory.mktemp("runtime")),
        platform=host_facts(load_chip("910B2")),
    )


def runtime_library(folder: Path) -> Path:
    def compiled(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        argv = ["g++", "-std=c++17", "-O0", "-fPIC", "-c", f"-I{EMULATOR / 'include'}"]
        said = plain([*argv, str(source), "-o", str(made)], folder)
        assert said.returncode == 0, said.stderr
        return made

    sources = sorted((EMULATOR / "runtime").glob("host_*.cpp")) + [
        Path(p) for p in os.environ.get("KW_STUB", "").split() if p
    ]
    with ThreadPoolExecutor(max_workers=2) as pool:
        objects = list(pool.map(compiled, sources))
    library = folder / "libkernelwright_ascendc.so"
    said = plain(["g++", "-shared", "-o", str(library), *map(str, objects), "-ldl"], folder)
    assert said.returncode == 0, said.stderr
    return library


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

    def __init__(self, built: Built) -> None:
        self.built = built

    def call(self, scene: Callable[[Any], Any], *, dry: bool = False) -> Answer:
        """Run `scene(module)` with the project's Python module in a child of its own."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        child = context.Process(target=_play, args=(self.built.folder, scene, dry, theirs))
        child.start()
        theirs.close()
        try:
            answer: Answer = ours.recv()
        except EOFError:
            answer = Answer(None, "the child died", [])
        child.join()
        return answer


def _play(folder: Path, scene: Callable[[Any], Any], dry: bool, pipe: Any) -> None:
    from kernelwright.emulator.binding_host import session_of

    torch.set_num_threads(1)
    sys.path.insert(0, str(folder))
    session = session_of(folder)
    session.runtime.kw_host_dry_run(int(dry))
    value, error = None, ""
    try:
        import custom_ops_lib

        value = scene(custom_ops_lib)
        value = value.numpy() if isinstance(value, torch.Tensor) else value
    except Exception as raised:  # noqa: BLE001 - the scene's outcome, whatever it is
        error = f"{type(raised).__name__}: {raised}"
    pipe.send(Answer(value, error, session.reports()))


Builder = Callable[..., "Runnable"]


@pytest.fixture(scope="session")
def built(toolbox: Toolbox, tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """Builds a project of six parts; the same parts are built once."""
    known: dict[str, Runnable] = {}

    def make(parts: Mapping[str, str], *, combinations: Sequence[int] | None = ()) -> Runnable:
        key = repr((sorted(parts.items()), combinations))
        if key not in known:
            outcome = outcome_of(parts, toolbox, tmp_path_factory.mktemp("p"), combinations)
            assert isinstance(outcome, Built), outcome
            known[key] = Runnable(outcome)
        return known[key]

    return make


def outcome_of(
    parts: Mapping[str, str], tools: Toolbox, folder: Path, combinations: Sequence[int] | None
) -> Built | BuildFault:
    project = project_from_parts(parts)
    assert not isinstance(project, ProjectFault), project
    return build(project, folder, tools, plain, combinations=combinations)


@pytest.fixture
def outcome(toolbox: Toolbox, tmp_path: Path) -> Callable[[Project], Built | BuildFault]:
    """Builds a project and returns whatever comes of it."""
    return lambda project: build(project, tmp_path, toolbox, plain)
