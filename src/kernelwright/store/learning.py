"""The values as a view over the log: read one, move one, build all of them anew.

Every function works inside the caller's transaction, which is what makes the live values equal the
fold of the log: between reading a value and writing it back nobody else can record a rollout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.dialects.sqlite import insert as upsert

from kernelwright.core.ports import Learn, Lesson, ValueUpdate
from kernelwright.core.rollout import Rollout
from kernelwright.core.value import Moments, Stage, Value, ValueView
from kernelwright.store.schema import LIVE_REWARDS, LIVE_VALUES, VALUE_UPDATES


class LiveValues(Mapping[tuple[Stage, str], Value]):
    """The live values, read from the database one by one, so that a lesson costs what it reads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getitem__(self, key: tuple[Stage, str]) -> Value:
        stage, item_id = key
        row = self._connection.execute(
            select(LIVE_VALUES.c.mean, LIVE_VALUES.c["count"]).where(
                LIVE_VALUES.c.stage == stage.value, LIVE_VALUES.c.item_id == item_id
            )
        ).one_or_none()
        if row is None:
            raise KeyError(key)
        mean, count = row
        return Value(mean, count)

    def __iter__(self) -> Iterator[tuple[Stage, str]]:
        rows = self._connection.execute(select(LIVE_VALUES.c.stage, LIVE_VALUES.c.item_id)).all()
        return iter([(Stage(row.stage), row.item_id) for row in rows])

    def __len__(self) -> int:
        query = select(func.count()).select_from(LIVE_VALUES)
        return self._connection.execute(query).scalar_one()


def live_view(connection: Connection) -> ValueView:
    """Return the live values as something that is read on demand, within this transaction."""
    return ValueView(LiveValues(connection), _rewards(connection))


def frozen_view(connection: Connection) -> ValueView:
    """Return a copy of the live values."""
    columns = (LIVE_VALUES.c[name] for name in ("stage", "item_id", "mean", "count"))
    rows = connection.execute(select(*columns)).all()
    values = {(Stage(stage), item_id): Value(mean, count) for stage, item_id, mean, count in rows}
    return ValueView(MappingProxyType(values), _rewards(connection))


def record_lesson(connection: Connection, rollout_id: str, lesson: Lesson) -> None:
    """Write the moved values and moments of a lesson, and that this rollout moved them."""
    if lesson.updates:
        rows = [_update_row(rollout_id, update) for update in lesson.updates]
        connection.execute(insert(VALUE_UPDATES), rows)
    _write_values(
        connection, ((update.stage, update.item_id, update.after) for update in lesson.updates)
    )
    _write_rewards(connection, lesson.rewards)


def rebuild_values(
    connection: Connection, rollouts: Iterable[Rollout], learn: Learn
) -> Iterator[tuple[Rollout, Lesson]]:
    """Fold the log into fresh values; give each rollout with its lesson as it goes.

    The values are in place when the iterator is exhausted.
    """
    for table in (VALUE_UPDATES, LIVE_VALUES, LIVE_REWARDS):
        connection.execute(delete(table))
    values: dict[tuple[Stage, str], Value] = {}
    rewards: dict[Stage, Moments] = {}
    view = ValueView(MappingProxyType(values), MappingProxyType(rewards))
    for rollout in rollouts:
        lesson = learn(rollout, values=view)
        if lesson.updates:
            rows = [_update_row(rollout.rollout_id, update) for update in lesson.updates]
            connection.execute(insert(VALUE_UPDATES), rows)
        values.update({(u.stage, u.item_id): u.after for u in lesson.updates})
        rewards.update(lesson.rewards)
        yield rollout, lesson
    _write_values(connection, ((stage, item, value) for (stage, item), value in values.items()))
    _write_rewards(connection, rewards.items())


def updates_of(connection: Connection, item_id: str) -> tuple[tuple[str, ValueUpdate], ...]:
    """Return (rollout id, update) of every time an item's value moved, oldest first."""
    query = select(VALUE_UPDATES).where(VALUE_UPDATES.c.item_id == item_id)
    rows = connection.execute(query.order_by(VALUE_UPDATES.c.seq)).all()
    return tuple(
        (
            row.rollout_id,
            ValueUpdate(
                Stage(row.stage),
                row.item_id,
                Value(row.before_mean, row.before_count),
                Value(row.after_mean, row.after_count),
                row.reward,
            ),
        )
        for row in rows
    )


def _rewards(connection: Connection) -> Mapping[Stage, Moments]:
    columns = (LIVE_REWARDS.c[name] for name in ("stage", "count", "mean", "square_sum"))
    rows = connection.execute(select(*columns)).all()
    return MappingProxyType(
        {Stage(stage): Moments(count, mean, square_sum) for stage, count, mean, square_sum in rows}
    )


def _update_row(rollout_id: str, update: ValueUpdate) -> dict[str, object]:
    return {
        "rollout_id": rollout_id,
        "stage": update.stage.value,
        "item_id": update.item_id,
        "before_mean": update.before.mean,
        "before_count": update.before.count,
        "after_mean": update.after.mean,
        "after_count": update.after.count,
        "reward": update.reward,
    }


def _write_values(connection: Connection, moved: Iterable[tuple[Stage, str, Value]]) -> None:
    rows = [
        {"stage": stage.value, "item_id": item_id, "mean": value.mean, "count": value.count}
        for stage, item_id, value in moved
    ]
    if rows:
        new = upsert(LIVE_VALUES)
        changed = {"mean": new.excluded.mean, "count": new.excluded.count}
        connection.execute(
            new.on_conflict_do_update(index_elements=["stage", "item_id"], set_=changed), rows
        )


def _write_rewards(connection: Connection, moved: Iterable[tuple[Stage, Moments]]) -> None:
    rows = [
        {
            "stage": stage.value,
            "count": moments.count,
            "mean": moments.mean,
            "square_sum": moments.square_sum,
        }
        for stage, moments in moved
    ]
    if rows:
        new = upsert(LIVE_REWARDS)
        columns = ("count", "mean", "square_sum")
        changed = {column: new.excluded[column] for column in columns}
        connection.execute(new.on_conflict_do_update(index_elements=["stage"], set_=changed), rows)
