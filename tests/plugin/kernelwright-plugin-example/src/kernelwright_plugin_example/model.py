"""A language model that only repeats what it was asked."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.core.budget import Usage
from kernelwright.core.errors import ModelUnavailable
from kernelwright.core.ports import ModelReply


@dataclass(frozen=True, slots=True)
class ParrotModel:
    """Answers with the last line of the prompt.

    Attributes:
        name: `provider:model`.
        is_asleep: Whether it is out of reach, as a server may be.
    """

    name: str = "parrot:grey"
    is_asleep: bool = False

    def complete(self, *, system: str, prompt: str, seed: int | None = None) -> ModelReply:
        """Return the answer to one prompt; the seed changes nothing.

        Raises:
            ModelUnavailable: if it is asleep.
        """
        if self.is_asleep:
            raise ModelUnavailable(f"{self.name} is asleep", fix="come back in the morning")
        text = prompt.splitlines()[-1] if prompt else "?"
        words = len(system.split()) + len(prompt.split())
        return ModelReply(text, Usage(input_tokens=words, output_tokens=len(text.split())))
