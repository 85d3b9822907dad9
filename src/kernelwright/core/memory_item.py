"""Memory items: whatever can be shown to a generator, with where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kernelwright.core.fingerprint import fingerprint


class MemoryKind(StrEnum):
    """The four kinds of EvoKernel §3.2."""

    API = "api"
    PRACTICE = "practice"
    EXPERIENCE = "experience"
    TRACE = "trace"


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One retrievable piece of knowledge; identity by content.

    Attributes:
        kind: API card, practice, experience (a distilled lesson) or trace (candidate + verdict).
        title: One line for people and prompts.
        body: The text that a generator is shown.
        backend: Backend it is about, or empty for all.
        category: Task category it is about, or empty.
        task_id: Task it was learned on, or empty for seed knowledge.
        rollout_id: Rollout that made it, or empty for seed knowledge.
        candidate_id: Candidate of a trace, or empty.
        schedule: (name, value) choices that the item recommends or records.
        version: Version of the product or document it came from.
        parent_id: Start point that the candidate of a trace was refined from, or empty.
    """

    kind: MemoryKind
    title: str
    body: str
    backend: str = ""
    category: str = ""
    task_id: str = ""
    rollout_id: str = ""
    candidate_id: str = ""
    schedule: tuple[tuple[str, str], ...] = ()
    version: str = ""
    parent_id: str = ""

    @property
    def item_id(self) -> str:
        """Identity by content and candidate; provenance does not change it."""
        return fingerprint(
            ["item", self.kind.value, self.backend, self.title, self.body, self.candidate_id]
        )
