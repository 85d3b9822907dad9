"""What a lesson is given inside the transaction: the values, read on demand."""

from __future__ import annotations

from pathlib import Path

from kernelwright.core.ports import Lesson
from kernelwright.core.rollout import Rollout
from kernelwright.core.value import Stage, Value, ValueView
from kernelwright.store.location import open_store
from kernelwright.testing.samples import a_rollout, a_run, learn_by_steps


def test_a_lesson_may_look_at_all_values_too(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    run = store.begin(a_run())
    store.append(a_rollout(run, 0, context=["a", "b"]), learn_by_steps)
    given: list[dict[tuple[Stage, str], Value]] = []

    def learn(rollout: Rollout, *, values: ValueView) -> Lesson:
        assert len(values.values) == 2
        assert (Stage.DRAFT, "a") in values.values
        assert (Stage.REFINE, "a") not in values.values
        given.append(dict(values.values))
        return Lesson()

    store.append(a_rollout(run, 1), learn)
    assert given == [dict(store.values().values)]
    store.close()
