"""The rollout log, memory items, and the values as a view over the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables of the first version."""
    op.create_table(
        "runs",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.String, nullable=False, unique=True),
        sa.Column("key", sa.String, nullable=False, index=True),
        sa.Column("task_id", sa.String, nullable=False, index=True),
        sa.Column("data", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "rollouts",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("rollout_id", sa.String, nullable=False, unique=True),
        sa.Column("run_id", sa.String, sa.ForeignKey("runs.run_id"), nullable=False),
        sa.Column("index", sa.Integer, nullable=False),
        sa.Column("task_id", sa.String, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.UniqueConstraint("run_id", "index", name="one_rollout_an_index"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "items",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("item_id", sa.String, nullable=False, unique=True),
        sa.Column("backend", sa.String, nullable=False, index=True),
        sa.Column("is_seed", sa.Boolean, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "item_sources",
        sa.Column("item_id", sa.String, sa.ForeignKey("items.item_id"), primary_key=True),
        sa.Column("rollout_id", sa.String, sa.ForeignKey("rollouts.rollout_id"), primary_key=True),
    )
    op.create_table(
        "value_updates",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("rollout_id", sa.String, sa.ForeignKey("rollouts.rollout_id"), nullable=False),
        sa.Column("stage", sa.String, nullable=False),
        sa.Column("item_id", sa.String, nullable=False),
        sa.Column("before_mean", sa.Float, nullable=False),
        sa.Column("before_count", sa.Integer, nullable=False),
        sa.Column("after_mean", sa.Float, nullable=False),
        sa.Column("after_count", sa.Integer, nullable=False),
        sa.Column("reward", sa.Float, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "live_values",
        sa.Column("stage", sa.String, primary_key=True),
        sa.Column("item_id", sa.String, primary_key=True),
        sa.Column("mean", sa.Float, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
    )
    op.create_table(
        "live_rewards",
        sa.Column("stage", sa.String, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("mean", sa.Float, nullable=False),
        sa.Column("square_sum", sa.Float, nullable=False),
    )
    op.create_table(
        "blob_refs",
        sa.Column("address", sa.String, primary_key=True),
        sa.Column("owner", sa.String, primary_key=True),
    )
