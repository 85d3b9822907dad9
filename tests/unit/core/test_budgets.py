"""Budgets: which limit is reached, and how spending adds up."""

from __future__ import annotations

import pytest

from kernelwright.core.budget import Budget, Usage

SPENT = Usage(seconds=10.0, input_tokens=70, output_tokens=30, money_usd=0.5)


@pytest.mark.parametrize(
    ("budget", "reached"),
    [
        (Budget(), None),
        (Budget(rollouts=5), "rollouts"),
        (Budget(rollouts=6), None),
        (Budget(seconds=10.0), "seconds"),
        (Budget(seconds=10.1), None),
        (Budget(tokens=100), "tokens"),
        (Budget(tokens=101), None),
        (Budget(money_usd=0.5), "money_usd"),
        (Budget(money_usd=0.51), None),
        (Budget(rollouts=0), "rollouts"),
        (Budget(seconds=1.0, tokens=1), "seconds"),
    ],
)
def test_a_budget_names_the_limit_that_is_reached(budget: Budget, reached: str | None) -> None:
    assert budget.exhausted_by(5, SPENT) == reached


def test_a_budget_of_nothing_is_spent_before_the_first_rollout() -> None:
    assert Budget(rollouts=0).exhausted_by(0, Usage()) == "rollouts"


def test_usages_add_up_in_every_part() -> None:
    assert Usage(20.0, 140, 60, 1.0) == SPENT + SPENT
    assert SPENT + Usage() == SPENT
