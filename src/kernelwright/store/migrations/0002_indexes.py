"""Indexes for what people ask: rollouts of a task, updates of an item; and for forgetting a run."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the indexes."""
    op.create_index("rollouts_by_task", "rollouts", ["task_id"])
    op.create_index("item_sources_by_rollout", "item_sources", ["rollout_id"])
    op.create_index("value_updates_by_item", "value_updates", ["item_id"])
    op.create_index("value_updates_by_rollout", "value_updates", ["rollout_id"])
    op.create_index("blob_refs_by_owner", "blob_refs", ["owner"])
