"""The contract of a store: the log, runs, memory items and blobs; learning is in the other half."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from kernelwright.core.budget import Budget
from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import RecordUnreadable, StoreConflict, UnknownName
from kernelwright.core.memory_item import MemoryKind
from kernelwright.core.ports import Store
from kernelwright.core.rollout import History
from kernelwright.core.run import RunStatus
from kernelwright.testing.samples import (
    a_candidate,
    a_rollout,
    a_run,
    a_task,
    an_item,
    feasible,
    infeasible,
    learn_by_steps,
)
from kernelwright.testing.store_learning import StoreLearningContract

Opener: TypeAlias = Callable[[], Store]
"""Opens the database under test, empty at first; every call opens the same one again."""


class StoreContract(StoreLearningContract):
    """What holds for every store; define the fixture `opener`."""

    @pytest.fixture
    def opener(self) -> Opener:
        """Return a function that opens the database under test."""
        raise NotImplementedError("define the fixture `opener`")

    @pytest.fixture
    def store(self, opener: Opener) -> Iterator[Store]:
        """Open the database under test."""
        store = opener()
        yield store
        store.close()

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

    def test_rollouts_come_back_exactly(self, opener: Opener, store: Store) -> None:
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

    # --- memory items ---

    def test_seed_knowledge_is_added_once(self, store: Store) -> None:
        seeds = [an_item("a"), an_item("b", backend=""), an_item("a")]
        assert store.seed_items(seeds) == 2
        assert store.seed_items([*seeds, an_item("c")]) == 1
        assert store.items() == (an_item("a"), an_item("b", backend=""), an_item("c"))

    def test_items_are_about_a_backend_or_about_all(self, store: Store) -> None:
        about = {name: an_item(name or "all", backend=name) for name in ("cpu", "cuda", "")}
        store.seed_items(list(about.values()))
        assert store.items(backend="cpu") == (about["cpu"], about[""])
        assert store.items(backend="cuda") == (about["cuda"], about[""])
        assert len(store.items()) == 3

    def test_a_long_item_comes_back_exactly(self, store: Store) -> None:
        item = an_item(body="x = 1 // Ω\n" * 5000, kind=MemoryKind.API)
        store.seed_items([item])
        assert store.items() == (item,)

    def test_items_that_others_add_or_forget_are_seen(self, opener: Opener, store: Store) -> None:
        other = opener()
        run = other.begin(a_run())
        assert store.items() == ()
        other.seed_items([an_item("seed", backend="cuda")])
        other.append(a_rollout(run, 0, verdict=feasible()), learn_by_steps)
        assert [item.title for item in store.items()] == ["seed", "run-a/00000"]
        assert [item.title for item in store.items(backend="cpu")] == ["run-a/00000"]
        other.prune(run.run_id, learn_by_steps)
        assert [item.title for item in store.items()] == ["seed"]
        assert store.items() == other.items()
        other.close()

    # --- forgetting ---

    def test_a_pruned_run_is_gone_and_others_stay(self, opener: Opener, store: Store) -> None:
        kept, gone = store.begin(a_run("kept")), store.begin(a_run("gone"))
        for index in range(3):
            store.append(a_rollout(kept, index), learn_by_steps)
            store.append(a_rollout(gone, index), learn_by_steps)
        assert store.prune("gone", learn_by_steps) == 3
        assert store.runs() == (kept,)
        assert store.rollouts() == store.history("kept").rollouts
        assert store.history("gone") == History()
        other = opener()
        assert len(other.rollouts()) == 3
        other.close()

    def test_what_only_a_pruned_run_taught_is_forgotten(self, store: Store) -> None:
        seed = an_item("seed")
        store.seed_items([seed])
        kept, gone = store.begin(a_run("kept")), store.begin(a_run("gone"))
        store.append(a_rollout(gone, 0), learn_by_steps)  # its own trace, and the shared experience
        store.append(a_rollout(kept, 0), learn_by_steps)
        store.prune("gone", learn_by_steps)
        titles = {item.title for item in store.items()}
        assert titles == {"seed", "kept/00000", "declare what you call"}

    def test_a_pruned_run_can_begin_again(self, store: Store) -> None:
        run = store.begin(a_run())
        store.append(a_rollout(run, 0), learn_by_steps)
        store.prune(run.run_id, learn_by_steps)
        store.begin(run)
        store.append(a_rollout(run, 0, verdict=feasible()), learn_by_steps)
        assert store.rollouts() == (a_rollout(run, 0, verdict=feasible()),)

    def test_parts_shared_with_a_pruned_run_stay(self, store: Store) -> None:
        shared = a_candidate("long " * 5000)
        kept, gone = store.begin(a_run("kept")), store.begin(a_run("gone"))
        for run in (kept, gone):
            store.append(a_rollout(run, 0, candidate=shared), learn_by_steps)
        store.prune("gone", learn_by_steps)
        assert store.history("kept").rollouts[0].candidate == shared

    # --- blobs ---

    def test_blobs_are_found_by_their_content(self, opener: Opener, store: Store) -> None:
        data = bytes(range(256)) * 1000
        address = store.put_blob(data)
        assert store.put_blob(data) == address
        assert store.put_blob(data + b"!") != address
        other = opener()
        assert other.get_blob(address) == data
        other.close()

    def test_an_empty_blob_is_a_blob(self, store: Store) -> None:
        assert store.get_blob(store.put_blob(b"")) == b""

    @pytest.mark.parametrize("address", ["", "0" * 64, "../../etc/passwd", "f" * 16])
    def test_an_unknown_blob_is_an_error_with_a_fix(self, store: Store, address: str) -> None:
        with pytest.raises(RecordUnreadable) as caught:
            store.get_blob(address)
        assert caught.value.fix

    def test_a_blob_that_was_put_survives_every_prune(self, store: Store) -> None:
        run = store.begin(a_run())
        text = "long " * 5000
        address = store.put_blob(text.encode())
        candidate = Candidate.of("cpu", {"kernel.cpp": text})
        store.append(a_rollout(run, 0, candidate=candidate), learn_by_steps)
        store.prune(run.run_id, learn_by_steps)
        assert store.get_blob(address) == text.encode()
