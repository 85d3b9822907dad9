"""The contract of a store: memory items, forgetting, blobs; it inherits the log and learning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import RecordUnreadable
from kernelwright.core.memory_item import MemoryKind
from kernelwright.core.ports import Store
from kernelwright.core.rollout import History
from kernelwright.testing.samples import (
    a_candidate,
    a_rollout,
    a_run,
    an_item,
    feasible,
    learn_by_steps,
)
from kernelwright.testing.store_learning import StoreLearningContract
from kernelwright.testing.store_log import StoreLogContract

Opener: TypeAlias = Callable[[], Store]
"""Opens the database under test, empty at first; every call opens the same one again."""


class StoreContract(StoreLogContract, StoreLearningContract):
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
