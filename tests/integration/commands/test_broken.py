"""Every category of failure is found at its gate, with feedback that names it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.commands.broken import BROKEN, GOOD, TASK

from kernelwright.core.candidate import Candidate
from kernelwright.core.task import Tolerance
from kernelwright.core.verdict import Feasible, Infeasible
from kernelwright.verify.policy import Policy
from kernelwright.verify.verifier import GatedVerifier, standard_verifier
from kernelwright.wiring.bench import opened_bench
from kernelwright.wiring.options import TaskOptions
from kernelwright.wiring.settings import SandboxSettings, Settings

SETTINGS = Settings(sandbox=SandboxSettings(wall_s=5.0))


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatedVerifier]:
    file = tmp_path_factory.mktemp("task") / "softmax.py"
    file.write_text(TASK)
    with opened_bench(TaskOptions(file), "cpu", SETTINGS) as bench:
        yield standard_verifier(
            bench.backend, bench.oracle, policy=Policy(tolerance=Tolerance.STRICT)
        )


def test_the_candidate_that_the_broken_ones_come_from_is_right(verifier: GatedVerifier) -> None:
    verdict = verifier.verify(Candidate.of("cpu", GOOD))
    assert isinstance(verdict, Feasible), verdict


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_candidate_fails_at_its_gate_and_says_why(
    verifier: GatedVerifier, name: str
) -> None:
    files, gate, category, words = BROKEN[name]
    verdict = verifier.verify(Candidate.of("cpu", files))
    assert isinstance(verdict, Infeasible)
    assert (verdict.gate, verdict.category) == (gate, category), verdict.reason
    assert words in verdict.reason
