"""The offline generator keeps the contract of a generator."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from kernelwright.core.ports import GenerationRequest
from kernelwright.core.rollout import History, Proposal
from kernelwright.core.task import Task
from kernelwright.core.value import Stage
from kernelwright.sandbox import Sandbox
from kernelwright.synth.generator import OfflineGenerator
from kernelwright.testing import GeneratorCase, GeneratorContract
from kernelwright.testing.samples import a_rollout, a_run, an_item, feasible


@pytest.fixture(scope="module")
def generator(sandbox: Sandbox) -> OfflineGenerator:
    return OfflineGenerator(sandbox)


@pytest.fixture(scope="module")
def same(sandbox: Sandbox) -> OfflineGenerator:
    return OfflineGenerator(sandbox)


class TestOfflineGenerator(GeneratorContract):
    @pytest.fixture
    def case(
        self, generator: OfflineGenerator, same: OfflineGenerator, task: Task
    ) -> GeneratorCase:
        context = (an_item("tile the rows"), an_item("unroll", backend=""))
        draft = GenerationRequest(task, "cpu", Proposal(Stage.DRAFT), context, None, History())
        first = generator.generate(draft, rng=random.Random(0)).candidate
        proposal = Proposal(Stage.REFINE, first.candidate_id)
        history = History((a_rollout(a_run(task=task), 0, verdict=feasible(), candidate=first),))
        return GeneratorCase(
            generator=generator,
            same=same,
            draft=draft,
            refine=GenerationRequest(task, "cpu", proposal, context, first, history),
            uncovered=replace(draft, backend="no-such-backend"),
        )
