"""The candidate: kernel source that is proposed for a task, as a map from path to content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from kernelwright.core.fingerprint import fingerprint


@dataclass(frozen=True, slots=True)
class Candidate:
    """Named source parts for one backend; identity by content.

    Attributes:
        backend: Name of the backend that can build it.
        parts: (path, content) pairs in order of path; make one with `Candidate.of`.
        origin: Name of the generator that made it, or `user`.
        parent: Identity of the start point it was refined from, or None for a draft.
        context: Identities of the memory items that the generator was shown, in order.
        schedule: (name, value) of the choices that made this variant, for people and for search.
    """

    backend: str
    parts: tuple[tuple[str, str], ...]
    origin: str = "user"
    parent: str | None = None
    context: tuple[str, ...] = ()
    schedule: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        # Parts are written below a folder; a generator must not choose any other place.
        for path, _ in self.parts:
            place = PurePosixPath(path)
            if not path or "\\" in path or place.is_absolute() or ".." in place.parts:
                raise ValueError(f"a part must have a relative path without '..', not {path!r}")

    @classmethod
    def of(
        cls,
        backend: str,
        files: Mapping[str, str],
        *,
        origin: str = "user",
        parent: str | None = None,
        context: tuple[str, ...] = (),
        schedule: Mapping[str, str] | None = None,
    ) -> Candidate:
        """Make a candidate from a map of path to content."""
        return cls(
            backend=backend,
            parts=tuple(sorted(files.items())),
            origin=origin,
            parent=parent,
            context=context,
            schedule=tuple(sorted((schedule or {}).items())),
        )

    @property
    def files(self) -> dict[str, str]:
        """The parts as a map from path to content."""
        return dict(self.parts)

    @property
    def candidate_id(self) -> str:
        """Identity by content: backend and parts, not who made it."""
        return fingerprint(["candidate", self.backend, [list(part) for part in self.parts]])
