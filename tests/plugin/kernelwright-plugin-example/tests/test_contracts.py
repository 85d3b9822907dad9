"""Every extension of this package keeps the contract of its port."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from kernelwright_plugin_example.backend import EagerBackend
from kernelwright_plugin_example.generator import VerbatimGenerator
from kernelwright_plugin_example.model import ParrotModel
from kernelwright_plugin_example.store import VolatileStore
from kernelwright_plugin_example.strategy import Wander

from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Call
from kernelwright.core.ports import GenerationRequest, Store, Strategy
from kernelwright.core.rollout import History, Proposal
from kernelwright.core.tensor import Tensor
from kernelwright.core.value import Stage
from kernelwright.sandbox import Sandbox
from kernelwright.testing import (
    BackendCase,
    BackendContract,
    GeneratorCase,
    GeneratorContract,
    ModelCase,
    ModelContract,
    StoreContract,
    StrategyContract,
)
from kernelwright.testing.samples import a_task, an_item
from kernelwright.testing.store import Opener

NEGATE = """import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.neg(x)
"""
VALUES = (0.5, -1.25, 3.0, 0.1)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as warm:
        yield warm


def written(source: str) -> Candidate:
    return Candidate.of("eager", {"model.py": source})


def floats(*values: float) -> Tensor:
    return Tensor("float32", (2, 2), struct.pack("4f", *values))


class TestBackend(BackendContract):
    @pytest.fixture
    def case(self, sandbox: Sandbox, tmp_path: Path) -> BackendCase:
        return BackendCase(
            backend=EagerBackend(sandbox, cache_folder=tmp_path),
            task=a_task(),
            good=written(NEGATE),
            uncompilable=written(NEGATE.replace("return torch.neg(x)", "return torch.neg(x")),
            bypassing=written("import numpy as np\n" + NEGATE),
            crashing=written(NEGATE.replace("return", "import os; os._exit(0); return")),
            call=Call(seed=0, init=(), state={}, args=(floats(*VALUES),), is_training=True),
            expected=floats(*(-value for value in VALUES)),
        )


class TestGenerator(GeneratorContract):
    @pytest.fixture
    def case(self) -> GeneratorCase:
        draft = GenerationRequest(
            a_task(), "eager", Proposal(Stage.DRAFT), (an_item(),), None, History()
        )
        start = written(NEGATE)
        return GeneratorCase(
            generator=VerbatimGenerator(),
            same=VerbatimGenerator(),
            draft=draft,
            refine=replace(
                draft, proposal=Proposal(Stage.REFINE, start.candidate_id), start_point=start
            ),
            uncovered=replace(draft, task=a_task("empty", "x = 1\n")),
        )


class TestModel(ModelContract):
    @pytest.fixture
    def case(self) -> ModelCase:
        return ModelCase(ParrotModel(), ParrotModel(is_asleep=True))


class TestStore(StoreContract):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        def opened() -> Store:
            return VolatileStore(tmp_path)

        return opened


class TestStrategy(StrategyContract):
    @pytest.fixture
    def strategy(self) -> Strategy:
        return Wander()
