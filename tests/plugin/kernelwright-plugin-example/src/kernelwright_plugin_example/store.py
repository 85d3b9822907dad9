"""A store that forgets everything when the process ends: for trials, and as a second opinion.

It shows the whole contract without a database: the log is a list, and everything else follows.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from kernelwright.core.budget import Budget
from kernelwright.core.errors import RecordUnreadable, StoreConflict, UnknownName
from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.ports import Learn, Lesson, ValueUpdate
from kernelwright.core.rollout import History, Rollout
from kernelwright.core.run import Run, RunStatus
from kernelwright.core.value import Moments, Stage, Value, ValueView


@dataclass
class _Shelf:
    """What all stores of one name share."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    runs: dict[str, Run] = field(default_factory=dict)
    log: list[Rollout] = field(default_factory=list)
    items: dict[str, MemoryItem] = field(default_factory=dict)
    seeds: set[str] = field(default_factory=set)
    sources: dict[str, set[str]] = field(default_factory=dict)
    values: dict[tuple[Stage, str], Value] = field(default_factory=dict)
    rewards: dict[Stage, Moments] = field(default_factory=dict)
    updates: list[tuple[str, ValueUpdate]] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)

    def view(self) -> ValueView:
        return ValueView(MappingProxyType(self.values), MappingProxyType(self.rewards))


_SHELVES: dict[Path, _Shelf] = {}
_SHELVES_LOCK = threading.Lock()


class VolatileStore:
    """Implements `kernelwright.core.ports.Store`; stores of the same path share their content."""

    def __init__(self, path: Path) -> None:
        with _SHELVES_LOCK:
            self._shelf = _SHELVES.setdefault(path, _Shelf())

    def begin(self, run: Run) -> Run:
        """Record a new run, or return the recorded one with the same identity."""
        with self._shelf.lock:
            recorded = self._shelf.runs.setdefault(run.run_id, run)
            if recorded.key != run.key:
                raise StoreConflict(f"{run.run_id} is another run", fix="choose another identity")
            return recorded

    def runs(self, *, key: str | None = None, task_id: str | None = None) -> tuple[Run, ...]:
        """Return runs, newest first."""
        with self._shelf.lock:
            newest_first = list(self._shelf.runs.values())[::-1]
        return tuple(
            run for run in newest_first if key in (None, run.key) and task_id in (None, run.task_id)
        )

    def update_run(self, run_id: str, *, status: RunStatus, budget: Budget) -> None:
        """Change what may change about a run."""
        with self._shelf.lock:
            run = self._known(run_id)
            self._shelf.runs[run_id] = replace(run, status=status, budget=budget)

    def prune(self, run_id: str, learn: Learn) -> int:
        """Forget a run, its rollouts and what only they taught."""
        shelf = self._shelf
        with shelf.lock:
            self._known(run_id)
            gone = {rollout.rollout_id for rollout in shelf.log if rollout.run_id == run_id}
            shelf.log = [rollout for rollout in shelf.log if rollout.run_id != run_id]
            for item_id in list(shelf.items):
                shelf.sources.get(item_id, set()).difference_update(gone)
                if item_id not in shelf.seeds and not shelf.sources.get(item_id):
                    del shelf.items[item_id]
            del shelf.runs[run_id]
            self.rebuild(learn)
        return len(gone)

    def append(self, rollout: Rollout, learn: Learn) -> Lesson:
        """Record a rollout and what it teaches, all or nothing."""
        with self._shelf.lock:
            self._known(rollout.run_id)
            place = (rollout.run_id, rollout.index)
            same = [old for old in self._shelf.log if (old.run_id, old.index) == place]
            if same == [rollout]:
                return Lesson()
            if same:
                raise StoreConflict(f"{rollout.rollout_id} is taken", fix="resume the run")
            lesson = learn(rollout, values=self._shelf.view())
            self._shelf.log.append(rollout)
            self._take_in(rollout, lesson)
            return lesson

    def rebuild(self, learn: Learn) -> ValueView:
        """Fold the whole log again."""
        shelf = self._shelf
        with shelf.lock:
            shelf.values, shelf.rewards, shelf.updates = {}, {}, []
            for rollout in shelf.log:
                self._take_in(rollout, learn(rollout, values=shelf.view()))
            return self.values()

    def history(self, run_id: str) -> History:
        """Return the rollouts of a run, in order."""
        mine = [rollout for rollout in self.rollouts() if rollout.run_id == run_id]
        return History(tuple(sorted(mine, key=lambda rollout: rollout.index)))

    def rollouts(self, *, task_id: str | None = None) -> tuple[Rollout, ...]:
        """Return all rollouts in the order in which they were recorded."""
        with self._shelf.lock:
            return tuple(r for r in self._shelf.log if task_id in (None, r.task_id))

    def seed_items(self, items: Sequence[MemoryItem]) -> int:
        """Add seed knowledge that is not there yet."""
        with self._shelf.lock:
            before = len(self._shelf.items)
            for item in items:
                self._shelf.items.setdefault(item.item_id, item)
                self._shelf.seeds.add(item.item_id)
            return len(self._shelf.items) - before

    def items(self, *, backend: str | None = None) -> tuple[MemoryItem, ...]:
        """Return memory items."""
        with self._shelf.lock:
            everything = tuple(self._shelf.items.values())
        return tuple(
            item for item in everything if backend is None or item.backend in ("", backend)
        )

    def values(self) -> ValueView:
        """Return the live values."""
        with self._shelf.lock:
            return ValueView(dict(self._shelf.values), dict(self._shelf.rewards))

    def updates_of(self, item_id: str) -> tuple[tuple[str, ValueUpdate], ...]:
        """Return every time an item's value moved, oldest first."""
        with self._shelf.lock:
            return tuple(entry for entry in self._shelf.updates if entry[1].item_id == item_id)

    def put_blob(self, data: bytes) -> str:
        """Keep bytes under their content address."""
        address = hashlib.sha256(data).hexdigest()
        self._shelf.blobs[address] = data
        return address

    def get_blob(self, address: str) -> bytes:
        """Return the bytes of a content address."""
        if address not in self._shelf.blobs:
            raise RecordUnreadable(f"there is no blob {address!r}", fix="put it there first")
        return self._shelf.blobs[address]

    def close(self) -> None:
        """Do nothing: the shelf stays for other stores of this path."""

    def _known(self, run_id: str) -> Run:
        if run_id not in self._shelf.runs:
            raise UnknownName(f"there is no run {run_id!r}", fix="begin it first")
        return self._shelf.runs[run_id]

    def _take_in(self, rollout: Rollout, lesson: Lesson) -> None:
        shelf = self._shelf
        for item in lesson.items:
            shelf.items.setdefault(item.item_id, item)
            shelf.sources.setdefault(item.item_id, set()).add(rollout.rollout_id)
        for update in lesson.updates:
            shelf.values[update.stage, update.item_id] = update.after
            shelf.updates.append((rollout.rollout_id, update))
        shelf.rewards.update(lesson.rewards)
