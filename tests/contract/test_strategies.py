"""The built-in strategies keep the contract."""

from __future__ import annotations

import pytest

from kernelwright.core.ports import Strategy
from kernelwright.search.evolve import Evolve
from kernelwright.testing import StrategyContract


class TestEvolve(StrategyContract):
    @pytest.fixture
    def strategy(self) -> Strategy:
        return Evolve()


class TestGreedyEvolve(StrategyContract):
    @pytest.fixture
    def strategy(self) -> Strategy:
        return Evolve(epsilon=0.0, optimism=0.0)


class TestRandomEvolve(StrategyContract):
    @pytest.fixture
    def strategy(self) -> Strategy:
        return Evolve(epsilon=1.0)
