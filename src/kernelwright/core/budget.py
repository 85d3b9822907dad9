"""Budgets: what a run may spend, and what it has spent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent.

    Attributes:
        seconds: Wall time.
        input_tokens: Tokens sent to a model.
        output_tokens: Tokens a model returned.
        money_usd: Price of those tokens in US dollars.
    """

    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    money_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.seconds + other.seconds,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.money_usd + other.money_usd,
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run; None means no limit.

    Attributes:
        rollouts: Rollouts, drafts and refinements together (EvoKernel §4.1 uses 30).
        seconds: Wall time over all invocations of the run.
        tokens: Model tokens, sent and received.
        money_usd: Price of the model's tokens in US dollars.
    """

    rollouts: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    money_usd: float | None = None

    def exhausted_by(self, rollouts: int, usage: Usage) -> str | None:
        """Return which limit is reached (`rollouts`, `seconds`, ...), or None if none is."""
        spent = (
            ("rollouts", self.rollouts, rollouts),
            ("seconds", self.seconds, usage.seconds),
            ("tokens", self.tokens, usage.input_tokens + usage.output_tokens),
            ("money_usd", self.money_usd, usage.money_usd),
        )
        for name, limit, used in spent:
            if limit is not None and used >= limit:
                return name
        return None
