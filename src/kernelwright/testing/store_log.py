"""The part of a store's contract that is about runs and the log of rollouts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelwright.core.budget import Budget
from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import StoreConflict, UnknownName
from kernelwright.core.ports import Store
from kernelwright.core.rollout import History
from kernelwright.core.run import RunStatus
from kernelwright.testing.samples import (
    a_rollout,
    a_run,
    a_task,
    feasible,
    infeasible,
    learn_by_steps,
)


class StoreLogContract:
    """Runs and rollouts come back as they were recorded; inherited by `StoreContract`."""

    def test_a_new_store_is_empty(self, store: Store) -> None:
        assert store.runs() == ()
        assert store.rollouts() == ()
        assert store.items() == ()
        assert dict(store.values().values) == {}
        assert store.history("nobody") == History()

    # --- runs ---

    def test_beginning_a_run_again_returns_the_recorded_one(self, store: Store) -> None:
        run = a_run()
        assert store.begin(run) == run
        store.update_run(run.run_id, status=RunStatus.FINISHED, budget=Budget(rollouts=3))
        again = store.begin(run)
        assert (again.status, again.budget) == (RunStatus.FINISHED, Budget(rollouts=3))
        assert store.runs() == (again,)

    def test_another_run_cannot_take_an_identity(self, store: Store) -> None:
        run = store.begin(a_run(key="one"))
        with pytest.raises(StoreConflict):
            store.begin(a_run(key="another"))
        assert store.runs() == (run,)

    def test_runs_come_newest_first_and_by_key_and_task(self, store: Store) -> None:
        gelu = a_task("gelu", "another source")
        runs = [a_run("a", key="k"), a_run("b", key="k", task=gelu), a_run("c", key="j")]
        for run in runs:
            store.begin(run)
        first, second, third = runs
        assert store.runs() == (third, second, first)
        assert store.runs(key="k") == (second, first)
        assert store.runs(task_id=gelu.task_id) == (second,)
        assert store.runs(key="k", task_id=a_task().task_id) == (first,)

    def test_an_unknown_run_cannot_be_changed_or_forgotten(self, store: Store) -> None:
        with pytest.raises(UnknownName):
            store.update_run("nobody", status=RunStatus.FINISHED, budget=Budget())
        with pytest.raises(UnknownName):
            store.prune("nobody", learn_by_steps)

    # --- the log ---

    def test_rollouts_come_back_exactly(self, opener: Callable[[], Store], store: Store) -> None:
        run = store.begin(a_run())
        long = Candidate.of("cpu", {"kernel.cpp": "// Ω 🙂 \x00 \r\n" * 2000, "model.py": ""})
        rollouts = (
            a_rollout(run, 0, verdict=infeasible("line\n" * 5000)),
            a_rollout(run, 1, verdict=feasible(), reward=0.1 + 0.2),
            a_rollout(run, 2, verdict=feasible(speedup=None), start_point="x", candidate=long),
        )
        for rollout in rollouts:
            store.append(rollout, learn_by_steps)
        assert store.history(run.run_id).rollouts == rollouts
        other = opener()
        assert other.rollouts() == rollouts
        other.close()

    def test_rollouts_are_kept_in_the_order_of_recording(self, store: Store) -> None:
        gelu = a_task("gelu", "another source")
        one, two = store.begin(a_run("a")), store.begin(a_run("b", task=gelu))
        log = [a_rollout(one, 0), a_rollout(two, 0), a_rollout(two, 1), a_rollout(one, 1)]
        for rollout in log:
            store.append(rollout, learn_by_steps)
        assert store.rollouts() == tuple(log)
        assert store.rollouts(task_id=gelu.task_id) == (log[1], log[2])
        assert store.history("a").rollouts == (log[0], log[3])

    def test_a_history_is_in_order_of_index(self, store: Store) -> None:
        run = store.begin(a_run())
        for index in (1, 0, 2):
            store.append(a_rollout(run, index), learn_by_steps)
        assert [rollout.index for rollout in store.history(run.run_id).rollouts] == [0, 1, 2]

    def test_a_rollout_needs_its_run(self, store: Store) -> None:
        with pytest.raises(UnknownName):
            store.append(a_rollout(a_run("nobody"), 0), learn_by_steps)
        assert store.rollouts() == ()
        assert store.items() == ()

    def test_a_different_rollout_at_an_index_is_a_conflict(self, store: Store) -> None:
        run = store.begin(a_run())
        store.append(a_rollout(run, 0, context=["item"]), learn_by_steps)
        before = store.values()
        with pytest.raises(StoreConflict):
            store.append(a_rollout(run, 0, context=["item"], verdict=feasible()), learn_by_steps)
        assert store.rollouts() == (a_rollout(run, 0, context=["item"]),)
        assert dict(store.values().values) == dict(before.values)
