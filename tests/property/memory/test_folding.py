"""Live values and rebuilt values are one and the same, for any course of runs."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.core.value import Stage
from kernelwright.memory.learn import Learning
from kernelwright.memory.memory import MemorySettings, ValueDrivenMemory
from kernelwright.memory.normalize import Safeguards
from kernelwright.memory.values import StepSize
from kernelwright.store.location import open_store
from kernelwright.testing.samples import a_run, equal_views, some_rollouts

rules = st.sampled_from(
    [
        Learning(),
        Learning(StepSize(1.0, 1.0)),
        Learning(StepSize(0.3, 0.7), Safeguards(deviation_floor=0.01, limit=1.0)),
    ]
)


@settings(max_examples=15, deadline=None)
@given(how=rules, seed=st.integers(0, 1000), lengths=st.lists(st.integers(0, 8), max_size=3))
def test_rebuilt_values_equal_the_live_ones(how: Learning, seed: int, lengths: list[int]) -> None:
    memory = ValueDrivenMemory(MemorySettings(learning=how))
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store.db")
        courses = [
            list(some_rollouts(store.begin(a_run(f"run-{at}")), length, seed=seed + at))
            for at, length in enumerate(lengths)
        ]
        order = [at for at, course in enumerate(courses) for _ in course]
        random.Random(seed).shuffle(order)
        for at in order:
            store.append(courses[at].pop(0), memory.learn)
        live = store.values()
        assert equal_views(live, memory.fold(store.rollouts()))
        assert equal_views(live, store.rebuild(memory.learn))
        if lengths:
            store.prune("run-0", memory.learn)
            assert equal_views(store.values(), memory.fold(store.rollouts()))
        store.close()


@given(seed=st.integers(0, 10_000), count=st.integers(0, 30), how=rules)
def test_every_value_is_bounded_by_the_rewards(seed: int, count: int, how: Learning) -> None:
    memory = ValueDrivenMemory(MemorySettings(learning=how))
    view = memory.fold(some_rollouts(a_run(), count, seed=seed))
    for (stage, _), value in view.values.items():
        limit = 1.0 if stage is Stage.DRAFT else max(1.0, how.safeguards.limit)
        assert abs(value.mean) <= limit
