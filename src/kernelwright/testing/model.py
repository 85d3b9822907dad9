"""The contract of a language model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kernelwright.core.errors import ModelUnavailable
from kernelwright.core.ports import Model, ModelReply


@dataclass(frozen=True, slots=True)
class ModelCase:
    """A model to test.

    Attributes:
        model: One that answers at least three times.
        unreachable: One of the same provider that cannot be reached: no server, no key, no script.
    """

    model: Model
    unreachable: Model


class ModelContract:
    """What holds for every model; define the fixture `case`."""

    @pytest.fixture
    def case(self) -> ModelCase:
        """Return the models under test."""
        raise NotImplementedError("define the fixture `case`")

    def test_its_name_is_provider_and_model(self, case: ModelCase) -> None:
        provider, colon, model = case.model.name.partition(":")
        assert provider and colon and model

    def test_it_answers_with_text(self, case: ModelCase) -> None:
        reply = _ask(case.model)
        assert isinstance(reply.text, str)
        assert reply.text

    def test_it_says_what_it_spent(self, case: ModelCase) -> None:
        usage = _ask(case.model).usage
        assert usage.input_tokens > 0
        assert usage.output_tokens > 0
        assert usage.money_usd >= 0.0
        assert usage.seconds >= 0.0

    def test_a_seed_may_be_given(self, case: ModelCase) -> None:
        assert case.model.complete(system="", prompt="Say yes.", seed=5).text

    def test_one_that_cannot_be_reached_says_how_to_fix_it(self, case: ModelCase) -> None:
        with pytest.raises(ModelUnavailable) as caught:
            _ask(case.unreachable)
        assert caught.value.fix


def _ask(model: Model) -> ModelReply:
    return model.complete(system="You answer in one word.", prompt="Say yes.")
