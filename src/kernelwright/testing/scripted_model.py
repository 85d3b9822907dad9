"""A model that answers what it was told to, for tests of whatever talks to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.core.budget import Usage
from kernelwright.core.errors import ModelUnavailable
from kernelwright.core.ports import ModelReply


@dataclass(frozen=True, slots=True)
class Question:
    """What a scripted model was asked."""

    system: str
    prompt: str
    seed: int | None


class ScriptedModel:
    """Answers with the given replies, one a call, in order; implements `core.ports.Model`.

    Attributes:
        questions: What it was asked, oldest first.
    """

    def __init__(self, replies: Sequence[str], *, name: str = "scripted:test") -> None:
        self._replies = tuple(replies)
        self._name = name
        self.questions: list[Question] = []

    @property
    def name(self) -> str:
        """`provider:model`."""
        return self._name

    def complete(self, *, system: str, prompt: str, seed: int | None = None) -> ModelReply:
        """Return the next reply; a token counts as four characters.

        Raises:
            ModelUnavailable: if there is none left.
        """
        at = len(self.questions)
        self.questions.append(Question(system, prompt, seed))
        if at >= len(self._replies):
            raise ModelUnavailable(
                f"the script of {self._name} holds {len(self._replies)} replies, and this is "
                f"question {at + 1}",
                fix="give the scripted model one reply for each question",
            )
        text = self._replies[at]
        asked = (len(system) + len(prompt) + 3) // 4
        return ModelReply(text, Usage(input_tokens=asked, output_tokens=(len(text) + 3) // 4))
