"""Where the proof is made: children that make attempts, and folders for them to attack."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.child import Child
from kernelwright.sandbox.limits import ChildFailed, Limits

ENTRY = "kernelwright.sandbox.attack:main"
_PATIENCE_S = 20.0


class Start(Protocol):
    """Starts a child; `Sandbox.start`, or the same for a process that is not warm."""

    def __call__(self, entry: str, *, workdir: Path, limits: Limits) -> Child:
        """Return the isolated child."""


class Ground:
    """Starts children that make attempts, and knows the mechanisms in use.

    Args:
        start: Starts a child.
        ability: What was found to work here: see `isolate.Ability`.
        root: Folder for everything that the attempts need; others may enter it.
    """

    def __init__(self, start: Start, ability: Mapping[str, Json], root: Path) -> None:
        self._start = start
        self._root = root
        self.ability = ability

    @property
    def is_root(self) -> bool:
        """Whether children become a user of their own."""
        return self.ability.get("is_root") is True

    @property
    def files(self) -> str:
        """What keeps a child from files, in words."""
        ways = ["mount namespace"] if self.ability.get("mounts") else []
        if version := self.ability.get("landlock"):
            ways.append(f"Landlock {version}")
        if self.is_root:
            ways.append("a user of its own")
        return ", ".join(ways) or "file permissions only"

    @property
    def others(self) -> str:
        """What keeps a child from other processes, in words."""
        ways = ["PID namespace"] if self.ability.get("namespaces") != "none" else []
        if self.is_root:
            ways.append("a user of its own")
        ways += ["seccomp"] if self.ability.get("seccomp") else []
        return ", ".join(ways) or "none"

    def open_folder(self, name: str) -> Path:
        """Make a folder that everybody may write to."""
        path = Path(tempfile.mkdtemp(prefix=name, dir=self._root))
        path.chmod(0o777)
        return path

    @contextmanager
    def child(self, limits: Limits) -> Iterator[tuple[Child, Path]]:
        """Start a child that makes attempts, in a folder of its own."""
        folder = Path(tempfile.mkdtemp(prefix="work", dir=self._root))
        with self._start(ENTRY, workdir=folder, limits=limits) as child:
            yield child, folder

    def attempt(self, request: Mapping[str, Json], limits: Limits) -> str | ChildFailed:
        """Make one attempt in a fresh child; return what it says, or how it ended."""
        with self.child(limits) as (child, _):
            return ask(child, request)


def ask(child: Child, request: Mapping[str, Json]) -> str | ChildFailed:
    """Make one attempt in a running child; return what it says, or how it ended."""
    try:
        answer, _ = child.call(request, timeout_s=_PATIENCE_S)
    except ChildFailed as failure:
        return failure
    return str(answer["outcome"])
