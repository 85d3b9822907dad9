"""Built libraries by the content that made them; failures are kept too."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category

_LASTING = frozenset({Category.COMPILE_ERROR, Category.HACK})


@dataclass(frozen=True, slots=True)
class Library:
    """What a build made, by path, and its static facts."""

    files: Mapping[str, bytes]
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class BuildCache:
    """A folder with one sub-folder a build; safe for several processes at once.

    Attributes:
        folder: Where; created when the first build is kept. Only the trusted side writes to it.
    """

    folder: Path

    def find(self, key: str) -> Library | Failure | None:
        """Return what was built for `key`, None if nothing was or the entry is damaged."""
        entry = self.folder / key
        try:
            record = json.loads((entry / "build.json").read_text(encoding="utf-8"))
            if record["failure"] is not None:
                return Failure(Category(record["failure"]["category"]), record["failure"]["reason"])
            facts = tuple((str(name), str(value)) for name, value in record["facts"])
            files = {str(path): (entry / name).read_bytes() for path, name in record["files"]}
            return Library(files, facts)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, key: str, built: Library | Failure) -> None:
        """Keep a build; a failure that may not happen again, such as a timeout, is not kept."""
        if isinstance(built, Failure) and built.category not in _LASTING:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self.folder) as name:
            fresh = Path(name) / key
            fresh.mkdir()
            record: dict[str, object] = {"failure": None, "facts": [], "files": []}
            if isinstance(built, Failure):
                record["failure"] = {"category": built.category.value, "reason": built.reason}
            else:
                named = [(path, f"file-{i}") for i, path in enumerate(sorted(built.files))]
                for path, file in named:
                    (fresh / file).write_bytes(built.files[path])
                record |= {"facts": [list(fact) for fact in built.facts], "files": named}
            (fresh / "build.json").write_text(json.dumps(record), encoding="utf-8")
            self._publish(fresh, self.folder / key)

    def _publish(self, fresh: Path, entry: Path) -> None:
        if entry.is_dir() and self.find(entry.name) is None:
            shutil.rmtree(entry, ignore_errors=True)
        try:
            os.rename(fresh, entry)
        except OSError:
            # Another process kept the same content first; both are equally good.
            if self.find(entry.name) is None:
                raise
