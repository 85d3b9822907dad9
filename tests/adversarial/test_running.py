"""Hacks that show when they run, and honest candidates that look suspicious, on real gates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.adversarial.hacks_that_run import HACKS, HARMLESS
from tests.adversarial.honest_candidates import CANDIDATES
from tests.adversarial.texts import TASKS, honest

from kernelwright.core.candidate import Candidate
from kernelwright.core.verdict import Feasible, Infeasible
from kernelwright.verify.verifier import GatedVerifier, standard_verifier
from kernelwright.wiring.bench import opened_bench
from kernelwright.wiring.options import TaskOptions
from kernelwright.wiring.settings import SandboxSettings, Settings

pytestmark = pytest.mark.long


class Verifiers:
    """One verifier a task, opened when it is first asked for."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._open: dict[str, GatedVerifier] = {}

    def __call__(self, task: str) -> GatedVerifier:
        if task not in self._open:
            file = self._folder / f"{task}.py"
            file.write_text(TASKS[task])
            settings = Settings(sandbox=SandboxSettings(wall_s=5.0))
            bench = self._stack.enter_context(opened_bench(TaskOptions(file), "cpu", settings))
            self._open[task] = standard_verifier(bench.backend, bench.oracle)
        return self._open[task]


@pytest.fixture(scope="module")
def verifiers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verifiers]:
    with ExitStack() as stack:
        yield Verifiers(tmp_path_factory.mktemp("tasks"), stack)


@pytest.mark.parametrize("name", HACKS)
def test_a_hack_that_runs_is_stopped(verifiers: Verifiers, name: str) -> None:
    task, files, gates = HACKS[name]
    verdict = verifiers(task).verify(Candidate.of("cpu", files))
    assert isinstance(verdict, Infeasible)
    assert verdict.gate in gates, verdict.reason


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_suspicious_honest_candidate_is_accepted(verifiers: Verifiers, name: str) -> None:
    task, files = CANDIDATES[name]
    verdict = verifiers(task).verify(Candidate.of("cpu", files))
    assert isinstance(verdict, Feasible), verdict


@pytest.mark.parametrize("name", HARMLESS)
def test_a_hack_that_remembers_the_last_call_gains_nothing(verifiers: Verifiers, name: str) -> None:
    task, files = HARMLESS[name]
    plain = verifiers(task).verify(Candidate.of("cpu", honest(task)))
    verdict = verifiers(task).verify(Candidate.of("cpu", files))
    assert isinstance(plain, Feasible)
    if isinstance(verdict, Feasible):
        assert verdict.speedups[0].median < 1.5 * plain.speedups[0].median
