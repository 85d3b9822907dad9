"""The tables as the newest migration leaves them; `migrations/` makes them so.

`rollouts` is the log and the truth: `seq` is its order. `live_values`, `live_rewards` and
`value_updates` are views over it that `rebuild` can make anew. Records are kept as the JSON of
`core.encode`; what stands in columns beside it is there to be searched by.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData()

RUNS = Table(
    "runs",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String, nullable=False, unique=True),
    Column("key", String, nullable=False, index=True),
    Column("task_id", String, nullable=False, index=True),
    Column("data", Text, nullable=False),
    sqlite_autoincrement=True,
)

ROLLOUTS = Table(
    "rollouts",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("rollout_id", String, nullable=False, unique=True),
    Column("run_id", String, ForeignKey("runs.run_id"), nullable=False),
    Column("index", Integer, nullable=False),
    Column("task_id", String, nullable=False),
    Column("data", Text, nullable=False),
    UniqueConstraint("run_id", "index", name="one_rollout_an_index"),
    Index("rollouts_by_task", "task_id"),
    # Without it SQLite hands out the number of a deleted last row again, and the order of the log
    # could not be trusted after a prune.
    sqlite_autoincrement=True,
)

ITEMS = Table(
    "items",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("item_id", String, nullable=False, unique=True),
    Column("backend", String, nullable=False, index=True),
    Column("is_seed", Boolean, nullable=False),
    Column("data", Text, nullable=False),
    sqlite_autoincrement=True,
)

ITEM_SOURCES = Table(
    "item_sources",
    METADATA,
    Column("item_id", String, ForeignKey("items.item_id"), primary_key=True),
    Column("rollout_id", String, ForeignKey("rollouts.rollout_id"), primary_key=True),
    Index("item_sources_by_rollout", "rollout_id"),
)
"""Which rollouts taught an item; an item that nothing taught any more is forgotten."""

VALUE_UPDATES = Table(
    "value_updates",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("rollout_id", String, ForeignKey("rollouts.rollout_id"), nullable=False),
    Column("stage", String, nullable=False),
    Column("item_id", String, nullable=False),
    Column("before_mean", Float, nullable=False),
    Column("before_count", Integer, nullable=False),
    Column("after_mean", Float, nullable=False),
    Column("after_count", Integer, nullable=False),
    Column("reward", Float, nullable=False),
    Index("value_updates_by_item", "item_id"),
    Index("value_updates_by_rollout", "rollout_id"),
    sqlite_autoincrement=True,
)

LIVE_VALUES = Table(
    "live_values",
    METADATA,
    Column("stage", String, primary_key=True),
    Column("item_id", String, primary_key=True),
    Column("mean", Float, nullable=False),
    Column("count", Integer, nullable=False),
)

LIVE_REWARDS = Table(
    "live_rewards",
    METADATA,
    Column("stage", String, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("mean", Float, nullable=False),
    Column("square_sum", Float, nullable=False),
)

BLOB_REFS = Table(
    "blob_refs",
    METADATA,
    Column("address", String, primary_key=True),
    Column("owner", String, primary_key=True),
    Index("blob_refs_by_owner", "owner"),
)
"""Which records need which blob file; a file that nothing needs any more is deleted by a prune."""
