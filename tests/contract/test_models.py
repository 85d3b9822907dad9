"""The scripted model keeps the contract of a model."""

from __future__ import annotations

import pytest

from kernelwright.testing import ModelCase, ModelContract, ScriptedModel


class TestScriptedModel(ModelContract):
    @pytest.fixture
    def case(self) -> ModelCase:
        return ModelCase(ScriptedModel(["yes"] * 3), ScriptedModel([]))
