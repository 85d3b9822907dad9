"""Rows of the log and of the memory: written and read inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import ColumnElement, Connection, delete, insert, select, true, update
from sqlalchemy.dialects.sqlite import insert as upsert

from kernelwright.core.errors import StoreConflict, UnknownName
from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.rollout import Rollout
from kernelwright.core.run import Run
from kernelwright.store.blobs import Blobs
from kernelwright.store.schema import (
    BLOB_REFS,
    ITEM_SOURCES,
    ITEMS,
    ROLLOUTS,
    RUNS,
    VALUE_UPDATES,
)
from kernelwright.store.texts import record_of, text_of


def refer(connection: Connection, owner: str, addresses: Iterable[str]) -> None:
    """Record that `owner` needs the blobs at `addresses`."""
    rows = [{"address": address, "owner": owner} for address in sorted(addresses)]
    if rows:
        connection.execute(upsert(BLOB_REFS).on_conflict_do_nothing(), rows)


# --- runs -------------------------------------------------------------------------------------


def run_named(connection: Connection, blobs: Blobs, run_id: str) -> Run:
    """Return the recorded run.

    Raises:
        UnknownName: if there is none.
    """
    text = connection.execute(select(RUNS.c.data).where(RUNS.c.run_id == run_id)).scalar()
    if text is None:
        raise UnknownName(
            f"there is no run {run_id!r} in this store", fix="`kernelwright runs list` lists them"
        )
    return record_of(Run, text, blobs.get)


def add_run(connection: Connection, blobs: Blobs, run: Run) -> Run:
    """Record a run unless it is there, and return what is recorded.

    Raises:
        StoreConflict: if a run of that identity has another key.
    """
    query = select(RUNS.c.data).where(RUNS.c.run_id == run.run_id)
    text = connection.execute(query).scalar()
    if text is not None:
        recorded = record_of(Run, text, blobs.get)
        if recorded.key != run.key:
            raise StoreConflict(
                f"the run {run.run_id!r} is about another task, backend or options",
                fix="start again: a new run gets a new identity",
            )
        return recorded
    data, addresses = text_of(run, blobs.put)
    row = {"run_id": run.run_id, "key": run.key, "task_id": run.task_id, "data": data}
    connection.execute(insert(RUNS), [row])
    refer(connection, _run_owner(run.run_id), addresses)
    return run


def change_run(connection: Connection, blobs: Blobs, run: Run) -> None:
    """Put `run` in place of the recorded run of the same identity."""
    data, addresses = text_of(run, blobs.put)
    connection.execute(update(RUNS).where(RUNS.c.run_id == run.run_id).values(data=data))
    refer(connection, _run_owner(run.run_id), addresses)


def runs_where(connection: Connection, blobs: Blobs, *wanted: ColumnElement[bool]) -> list[Run]:
    """Return runs, newest first."""
    query = select(RUNS.c.data).where(*wanted).order_by(RUNS.c.seq.desc())
    return [record_of(Run, text, blobs.get) for text in connection.execute(query).scalars()]


# --- the log ----------------------------------------------------------------------------------


def add_rollout(connection: Connection, blobs: Blobs, rollout: Rollout) -> bool:
    """Record a rollout at the end of the log; return False if it is there already.

    Raises:
        StoreConflict: if its identity, or its place in its run, is taken by a different one.
    """
    data, addresses = text_of(rollout, blobs.put)
    is_at_its_place = (ROLLOUTS.c.run_id == rollout.run_id) & (ROLLOUTS.c.index == rollout.index)
    same = (ROLLOUTS.c.rollout_id == rollout.rollout_id) | is_at_its_place
    recorded = connection.execute(select(ROLLOUTS.c.data).where(same)).scalars().all()
    if recorded:
        if set(recorded) == {data}:
            return False
        raise StoreConflict(
            f"another process recorded a different rollout as {rollout.rollout_id}",
            fix="let one process work on a run at a time; resume it to go on from what is recorded",
        )
    row = {
        "rollout_id": rollout.rollout_id,
        "run_id": rollout.run_id,
        "index": rollout.index,
        "task_id": rollout.task_id,
        "data": data,
    }
    connection.execute(insert(ROLLOUTS), [row])
    refer(connection, _rollout_owner(rollout.rollout_id), addresses)
    return True


def rollouts_where(
    connection: Connection, blobs: Blobs, *wanted: ColumnElement[bool]
) -> Iterator[Rollout]:
    """Give rollouts in the order of the log."""
    query = select(ROLLOUTS.c.data).where(*wanted).order_by(ROLLOUTS.c.seq)
    for text in connection.execute(query).scalars():
        yield record_of(Rollout, text, blobs.get)


def forget_run(connection: Connection, run_id: str) -> tuple[int, frozenset[str]]:
    """Delete a run, its rollouts and what only they taught.

    Returns how many rollouts went, and the addresses of the blobs that they referred to.
    """
    pruned = select(ROLLOUTS.c.rollout_id).where(ROLLOUTS.c.run_id == run_id)
    rollout_ids = connection.execute(pruned).scalars().all()
    taught = connection.execute(
        select(ITEM_SOURCES.c.item_id).distinct().where(ITEM_SOURCES.c.rollout_id.in_(pruned))
    )
    item_ids = taught.scalars().all()
    connection.execute(delete(ITEM_SOURCES).where(ITEM_SOURCES.c.rollout_id.in_(pruned)))
    connection.execute(delete(VALUE_UPDATES).where(VALUE_UPDATES.c.rollout_id.in_(pruned)))
    lost = [item_id for item_id in item_ids if _is_orphan(connection, item_id)]
    for item_id in lost:
        connection.execute(delete(ITEMS).where(ITEMS.c.item_id == item_id))
    connection.execute(delete(ROLLOUTS).where(ROLLOUTS.c.run_id == run_id))
    connection.execute(delete(RUNS).where(RUNS.c.run_id == run_id))
    owners = [_run_owner(run_id), *map(_rollout_owner, rollout_ids), *map(_item_owner, lost)]
    return len(rollout_ids), _release(connection, owners)


def unneeded(connection: Connection, addresses: Iterable[str]) -> list[str]:
    """Return those of `addresses` that no record refers to."""
    return [
        address
        for address in addresses
        if connection.execute(
            select(BLOB_REFS.c.owner).where(BLOB_REFS.c.address == address).limit(1)
        ).scalar()
        is None
    ]


# --- memory items -----------------------------------------------------------------------------


def add_item(
    connection: Connection, blobs: Blobs, item: MemoryItem, *, taught_by: str | None
) -> bool:
    """Add an item unless it is there, and note its source; return whether it was new.

    Without `taught_by` it is seed knowledge, which no prune forgets.
    """
    query = select(ITEMS.c.is_seed).where(ITEMS.c.item_id == item.item_id)
    is_seed = connection.execute(query).scalar()
    if is_seed is None:
        data, addresses = text_of(item, blobs.put)
        row = {
            "item_id": item.item_id,
            "backend": item.backend,
            "is_seed": taught_by is None,
            "data": data,
        }
        connection.execute(insert(ITEMS), [row])
        refer(connection, _item_owner(item.item_id), addresses)
    elif taught_by is None and not is_seed:
        connection.execute(
            update(ITEMS).where(ITEMS.c.item_id == item.item_id).values(is_seed=True)
        )
    if taught_by is not None:
        source = {"item_id": item.item_id, "rollout_id": taught_by}
        connection.execute(upsert(ITEM_SOURCES).on_conflict_do_nothing(), [source])
    return is_seed is None


def items_about(
    connection: Connection, blobs: Blobs, backend: str | None, known: dict[int, MemoryItem]
) -> list[MemoryItem]:
    """Return items in order of arrival; with `backend`, about it or about all backends.

    Items never change and their numbers are never given again, so those that are `known` by number
    are not read again; those that are read are added to `known`.
    """
    is_about = true() if backend is None else ITEMS.c.backend.in_(["", backend])
    query = select(ITEMS.c.seq).where(is_about).order_by(ITEMS.c.seq)
    wanted = connection.execute(query).scalars().all()
    first = next((seq for seq in wanted if seq not in known), None)
    if first is not None:
        unread = select(ITEMS.c.seq, ITEMS.c.data).where(is_about, ITEMS.c.seq >= first)
        for seq, text in connection.execute(unread):
            if seq not in known:
                known[seq] = record_of(MemoryItem, text, blobs.get)
    return [known[seq] for seq in wanted]


def _is_orphan(connection: Connection, item_id: str) -> bool:
    is_seed = select(ITEMS.c.is_seed).where(ITEMS.c.item_id == item_id)
    source = select(ITEM_SOURCES.c.rollout_id).where(ITEM_SOURCES.c.item_id == item_id).limit(1)
    return not (connection.execute(is_seed).scalar() or connection.execute(source).scalar())


def _release(connection: Connection, owners: Iterable[str]) -> frozenset[str]:
    freed: set[str] = set()
    for owner in owners:
        query = select(BLOB_REFS.c.address).where(BLOB_REFS.c.owner == owner)
        freed.update(connection.execute(query).scalars())
        connection.execute(delete(BLOB_REFS).where(BLOB_REFS.c.owner == owner))
    return frozenset(freed)


def _run_owner(run_id: str) -> str:
    return f"run:{run_id}"


def _rollout_owner(rollout_id: str) -> str:
    return f"rollout:{rollout_id}"


def _item_owner(item_id: str) -> str:
    return f"item:{item_id}"
