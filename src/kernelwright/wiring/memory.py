"""Memory items as they are listed, shown and rebuilt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.encode import to_json
from kernelwright.core.errors import UnknownName
from kernelwright.core.fingerprint import Json
from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.core.ports import Memory, ValueUpdate
from kernelwright.core.value import Stage, Value, ValueView
from kernelwright.memory.learn import Learning
from kernelwright.memory.memory import MemorySettings, ValueDrivenMemory
from kernelwright.memory.retrieve import Retrieval
from kernelwright.memory.values import StepSize
from kernelwright.wiring.settings import Settings
from kernelwright.wiring.stores import opened_store


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item with its values and the updates that made them."""

    item: MemoryItem
    draft: Value
    refine: Value
    updates: tuple[tuple[str, ValueUpdate], ...] = ()

    @property
    def json(self) -> dict[str, Json]:
        """The item, its values a stage, and its history."""
        return {
            "item_id": self.item.item_id,
            "item": to_json(self.item),
            "values": {"draft": to_json(self.draft), "refine": to_json(self.refine)},
            "updates": [
                {"rollout": rollout_id, "update": to_json(update)}
                for rollout_id, update in self.updates
            ],
        }


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Outcome of rebuilding the values from the log.

    Attributes:
        values: How many values there are.
        rollouts: How many rollouts they were rebuilt from.
        different: `stage/item` of live values that were not equal to the rebuilt ones.
    """

    values: int
    rollouts: int
    different: tuple[str, ...]


def list_items(
    settings: Settings, path: Path | None, *, kind: MemoryKind | None, backend: str | None
) -> tuple[ItemRow, ...]:
    """Return the items of a store, most valued at refining first."""
    with opened_store(settings, path) as store:
        items = [i for i in store.items(backend=backend) if kind in (None, i.kind)]
        values = store.values()
        rows = [_row(values, item) for item in items]
    return tuple(sorted(rows, key=lambda row: (-row.refine.mean, row.item.item_id)))


def show_item(settings: Settings, path: Path | None, item_id: str) -> ItemRow:
    """Return the item whose identity begins with `item_id`, with its history.

    Raises:
        UnknownName: if no item, or more than one, begins so.
    """
    with opened_store(settings, path) as store:
        found = [item for item in store.items() if item.item_id.startswith(item_id)]
        if len(found) != 1:
            raise UnknownName(
                f"{len(found)} memory items begin with {item_id!r}",
                fix="`kernelwright memory list` prints their identities",
            )
        row = _row(store.values(), found[0])
        return ItemRow(row.item, row.draft, row.refine, store.updates_of(row.item.item_id))


def rebuild_values(settings: Settings, path: Path | None) -> Rebuilt:
    """Fold the whole log into values and put them in place of the live ones."""
    with opened_store(settings, path) as store:
        rollouts, live = len(store.rollouts()), store.values()
        rebuilt = store.rebuild(make_memory(settings).learn)
        keys = sorted({*live.values, *rebuilt.values})
        different = tuple(
            f"{stage}/{item}"
            for stage, item in keys
            if live.of(stage, item) != rebuilt.of(stage, item)
        )
    return Rebuilt(len(rebuilt.values), rollouts, different)


def make_memory(settings: Settings) -> Memory:
    """Put the memory together as configured."""
    chosen = settings.memory
    return ValueDrivenMemory(
        MemorySettings(
            retrieval=Retrieval(
                context_items=chosen.context_items,
                pool_factor=chosen.pool_factor,
                epsilon=chosen.epsilon,
            ),
            learning=Learning(step=StepSize(size=chosen.step_size)),
        )
    )


def _row(values: ValueView, item: MemoryItem) -> ItemRow:
    return ItemRow(
        item, values.of(Stage.DRAFT, item.item_id), values.of(Stage.REFINE, item.item_id)
    )
