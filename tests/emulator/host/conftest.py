"""Projects built once a session, and what comes of building one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from kernelwright.emulator.build import BuildFault, Built, build
from kernelwright.emulator.library import Runtime
from kernelwright.emulator.project import Project, ProjectFault, project_from_parts
from support.ascendc_runs import FACTS, Runnable, plain


@pytest.fixture(scope="session")
def toolbox(made_runtime: Runtime) -> Runtime:
    """The emulator's runtime library, built once a machine."""
    return made_runtime


@pytest.fixture
def runnable() -> Callable[[Built, str], Runnable]:
    """A built project under the name of its Python module."""
    return Runnable


Builder = Callable[..., Runnable]


@pytest.fixture(scope="session")
def built(toolbox: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Builder:
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
    parts: Mapping[str, str], tools: Runtime, folder: Path, combinations: Sequence[int] | None
) -> Built | BuildFault:
    project = project_from_parts(parts)
    assert not isinstance(project, ProjectFault), project
    return build(project, folder, tools, plain, platform=FACTS, combinations=combinations)


@pytest.fixture
def outcome(toolbox: Runtime, tmp_path: Path) -> Callable[[Project], Built | BuildFault]:
    """Builds a project and returns whatever comes of it."""
    return lambda project: build(project, tmp_path, toolbox, plain, platform=FACTS)
