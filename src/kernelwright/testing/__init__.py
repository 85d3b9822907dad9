"""The contract of each port as a test class, and sample records to test with.

Subclass a contract in a test file, define its one fixture, inherit the tests:

    class TestMyStrategy(StrategyContract):
        @pytest.fixture
        def strategy(self) -> Strategy:
            return MyStrategy()

Needs pytest and nothing else; shipped code never imports this package.
"""

import pytest

# Without it a failed assertion of a contract would say no more than that it failed.
pytest.register_assert_rewrite(
    "kernelwright.testing.backend",
    "kernelwright.testing.gate",
    "kernelwright.testing.generator",
    "kernelwright.testing.model",
    "kernelwright.testing.store",
    "kernelwright.testing.store_learning",
    "kernelwright.testing.store_log",
    "kernelwright.testing.strategy",
)

from kernelwright.testing.backend import BackendCase, BackendContract  # noqa: E402
from kernelwright.testing.gate import GateCase, GateContract  # noqa: E402
from kernelwright.testing.generator import GeneratorCase, GeneratorContract  # noqa: E402
from kernelwright.testing.model import ModelCase, ModelContract  # noqa: E402
from kernelwright.testing.scripted_model import ScriptedModel  # noqa: E402
from kernelwright.testing.store import StoreContract  # noqa: E402
from kernelwright.testing.strategy import StrategyContract  # noqa: E402

__all__ = [
    "BackendCase",
    "BackendContract",
    "GateCase",
    "GateContract",
    "GeneratorCase",
    "GeneratorContract",
    "ModelCase",
    "ModelContract",
    "ScriptedModel",
    "StoreContract",
    "StrategyContract",
]
