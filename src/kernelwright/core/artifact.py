"""Artifacts: what a user takes away."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.core.candidate import Candidate
from kernelwright.core.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Artifact:
    """The best candidate, ready to use without this product, with where it came from.

    Attributes:
        task_id: Task it solves.
        candidate: The candidate.
        verdict: What the gates said of it.
        files: (path, content) of everything that is written for the user.
    """

    task_id: str
    candidate: Candidate
    verdict: Verdict
    files: tuple[tuple[str, str], ...]
