"""The part of a store's contract that is about learning, and about several writers at once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from kernelwright.core.ports import Lesson, Store
from kernelwright.core.rollout import Rollout
from kernelwright.core.value import Stage, Value, ValueView
from kernelwright.testing.samples import (
    a_rollout,
    a_run,
    equal_views,
    feasible,
    fold_by_steps,
    learn_by_steps,
    some_rollouts,
)


class StoreLearningContract:
    """Live values are the fold of the log, whoever writes; inherited by `StoreContract`."""

    def test_appending_returns_and_records_the_lesson(self, store: Store) -> None:
        run = store.begin(a_run())
        rollout = a_rollout(run, 0, context=["a", "b"])
        lesson = store.append(rollout, learn_by_steps)
        assert lesson == learn_by_steps(rollout, values=ValueView())
        assert store.items() == lesson.items
        assert equal_views(store.values(), fold_by_steps([rollout]))

    def test_appending_the_same_rollout_again_teaches_nothing(self, store: Store) -> None:
        run = store.begin(a_run())
        rollout = a_rollout(run, 0, context=["a"])
        store.append(rollout, learn_by_steps)
        assert store.append(rollout, learn_by_steps) == Lesson()
        assert store.rollouts() == (rollout,)
        assert equal_views(store.values(), fold_by_steps([rollout]))

    def test_a_lesson_is_given_the_values_before_its_rollout(self, store: Store) -> None:
        run = store.begin(a_run())
        given: list[tuple[Value, int]] = []

        def learn(rollout: Rollout, *, values: ValueView) -> Lesson:
            given.append((values.of(Stage.DRAFT, "a"), values.rewards_at(Stage.DRAFT).count))
            return learn_by_steps(rollout, values=values)

        rollouts = [a_rollout(run, index, context=["a"]) for index in range(4)]
        for rollout in rollouts:
            store.append(rollout, learn)
        expected = [
            fold_by_steps(rollouts[:count]).of(Stage.DRAFT, "a") for count in range(len(rollouts))
        ]
        assert given == list(zip(expected, range(4), strict=True))

    def test_a_lesson_that_fails_leaves_no_trace_of_its_rollout(self, store: Store) -> None:
        run = store.begin(a_run())
        store.append(a_rollout(run, 0, context=["a"]), learn_by_steps)
        before = store.values()

        def learn(rollout: Rollout, *, values: ValueView) -> Lesson:
            raise ArithmeticError("no lesson")

        with pytest.raises(ArithmeticError, match="no lesson"):
            store.append(a_rollout(run, 1, context=["a"]), learn)
        assert len(store.rollouts()) == 1
        assert equal_views(store.values(), before)
        store.append(a_rollout(run, 1, context=["a"]), learn_by_steps)

    def test_live_values_are_the_fold_of_the_log(self, store: Store) -> None:
        runs = [store.begin(a_run(f"run-{number}")) for number in range(3)]
        courses = [list(some_rollouts(run, 12, seed=at)) for at, run in enumerate(runs)]
        order = [at for at in range(3) for _ in range(12)]
        random.Random(9).shuffle(order)
        for at in order:
            store.append(courses[at].pop(0), learn_by_steps)
        live = store.values()
        assert equal_views(live, fold_by_steps(store.rollouts()))
        assert equal_views(store.rebuild(learn_by_steps), live)
        assert equal_views(store.values(), live)

    def test_another_rule_can_be_tried_and_taken_back(self, store: Store) -> None:
        run = store.begin(a_run())
        for rollout in some_rollouts(run, 10, seed=4):
            store.append(rollout, learn_by_steps)
        live, items = store.values(), store.items()

        def learn_nothing(rollout: Rollout, *, values: ValueView) -> Lesson:
            return Lesson()

        assert dict(store.rebuild(learn_nothing).values) == {}
        assert store.updates_of("item-0") == ()
        assert store.items() == items, "items are not a view; no rebuild loses one"
        assert equal_views(store.rebuild(learn_by_steps), live)

    def test_a_prune_leaves_the_values_of_the_rest(self, store: Store) -> None:
        kept, gone = store.begin(a_run("kept")), store.begin(a_run("gone"))
        pairs = zip(some_rollouts(kept, 8, seed=1), some_rollouts(gone, 8, seed=2), strict=True)
        for pair in pairs:
            for rollout in pair:
                store.append(rollout, learn_by_steps)
        store.prune("gone", learn_by_steps)
        assert equal_views(store.values(), fold_by_steps(some_rollouts(kept, 8, seed=1)))

    def test_every_move_of_a_value_is_on_record(self, store: Store) -> None:
        run = store.begin(a_run())
        rollouts = some_rollouts(run, 12, seed=6)
        for rollout in rollouts:
            store.append(rollout, learn_by_steps)
        moves = store.updates_of("item-1")
        using = [rollout.rollout_id for rollout in rollouts if "item-1" in rollout.context]
        assert [rollout_id for rollout_id, _ in moves] == using
        for stage in Stage:
            last = Value()
            for update in (update for _, update in moves if update.stage is stage):
                assert update.before == last
                last = update.after
            assert store.values().of(stage, "item-1") == last

    # --- at the same time ---

    def test_two_writers_lose_no_update(self, opener: Callable[[], Store], store: Store) -> None:
        courses = [
            some_rollouts(store.begin(a_run(f"writer-{at}")), 25, seed=at) for at in range(2)
        ]

        def write(course: Sequence[Rollout]) -> None:
            own = opener()
            for rollout in course:
                own.append(rollout, learn_by_steps)
            own.close()

        _all_at_once([partial(write, course) for course in courses])
        log = store.rollouts()
        assert len(log) == 50
        for at, course in enumerate(courses):
            assert store.history(f"writer-{at}").rollouts == course
        assert equal_views(store.values(), fold_by_steps(log))

    def test_one_store_may_be_used_from_several_threads(self, store: Store) -> None:
        courses = [some_rollouts(store.begin(a_run(f"thread-{at}")), 8, seed=at) for at in range(4)]

        def write(course: Sequence[Rollout]) -> None:
            for rollout in course:
                store.append(rollout, learn_by_steps)
                assert rollout in store.history(rollout.run_id).rollouts

        _all_at_once([partial(write, course) for course in courses])
        assert equal_views(store.values(), fold_by_steps(store.rollouts()))

    def test_a_rebuild_and_a_writer_do_not_disturb_each_other(
        self, opener: Callable[[], Store], store: Store
    ) -> None:
        run = store.begin(a_run())
        course = some_rollouts(run, 20, seed=3)

        def write() -> None:
            for rollout in course:
                store.append(rollout, learn_by_steps)

        def rebuild() -> None:
            own = opener()
            for _ in range(5):
                own.rebuild(learn_by_steps)
            own.close()

        _all_at_once([write, rebuild])
        assert store.rollouts() == course
        assert equal_views(store.values(), fold_by_steps(course))

    def test_a_reader_never_sees_half_a_lesson(
        self, opener: Callable[[], Store], store: Store
    ) -> None:
        run = store.begin(a_run())
        is_done = threading.Event()

        def write() -> None:
            for index in range(25):
                rollout = a_rollout(run, index, verdict=feasible(), context=["a", "b"])
                store.append(rollout, learn_by_steps)
            is_done.set()

        def read() -> None:
            own, seen = opener(), 0
            while not is_done.is_set():
                values = own.values()
                first, second = values.of(Stage.DRAFT, "a"), values.of(Stage.DRAFT, "b")
                assert first == second, "one item of a lesson moved without the other"
                assert first.count == values.rewards_at(Stage.DRAFT).count
                assert first.count >= seen, "a reader went back in time"
                seen = first.count
            own.close()

        _all_at_once([write, read], at_end=is_done.set)
        assert store.values().of(Stage.DRAFT, "a").count == 25


def _all_at_once(
    jobs: Sequence[Callable[[], None]], *, at_end: Callable[[], None] = lambda: None
) -> None:
    """Run the jobs in threads of their own; raise what the first one that failed raised."""
    faults: list[BaseException] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as fault:  # noqa: BLE001 - handed to the test's thread below
            faults.append(fault)
            at_end()

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
