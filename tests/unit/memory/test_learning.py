"""Who gets credit for a rollout, how much, and what is remembered of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernelwright.core.memory_item import MemoryKind
from kernelwright.core.ports import Lesson
from kernelwright.core.rollout import Rollout
from kernelwright.core.value import Moments, Stage, Value, ValueView
from kernelwright.memory.distill import items_from
from kernelwright.memory.learn import Learning, lesson_of
from kernelwright.memory.normalize import Safeguards
from kernelwright.memory.values import StepSize
from kernelwright.testing.samples import (
    a_candidate,
    a_rollout,
    a_run,
    feasible,
    infeasible,
)

RUN = a_run()


def lesson(
    rollout: Rollout, values: ValueView | None = None, how: Learning | None = None
) -> Lesson:
    return lesson_of(rollout, values=values or ValueView(), how=how or Learning())


def moved(found: Lesson) -> dict[tuple[Stage, str], float]:
    return {(update.stage, update.item_id): update.after.mean for update in found.updates}


# --- credit ---


def test_every_item_of_a_drafts_context_moves_toward_its_reward() -> None:
    rollout = a_rollout(RUN, 0, context=["a", "b"])  # infeasible: -1
    assert moved(lesson(rollout)) == {(Stage.DRAFT, "a"): -0.1, (Stage.DRAFT, "b"): -0.1}


def test_a_draft_moves_no_refine_value_and_no_moments() -> None:
    found = lesson(a_rollout(RUN, 0, context=["a"]))
    assert {update.stage for update in found.updates} == {Stage.DRAFT}
    assert found.rewards == ()


def test_a_refinement_credits_its_context_and_its_start_point() -> None:
    rollout = a_rollout(
        RUN, 1, verdict=feasible(), start_point="start", context=["a", "b"], reward=0.5
    )
    assert moved(lesson(rollout)) == {
        (Stage.REFINE, "a"): 0.05,
        (Stage.REFINE, "b"): 0.05,
        (Stage.REFINE, "start"): 0.05,
    }


def test_an_item_that_was_shown_twice_is_credited_once() -> None:
    rollout = a_rollout(RUN, 0, context=["a", "b", "a"])
    assert [update.item_id for update in lesson(rollout).updates] == ["a", "b"]


def test_a_refine_reward_is_normalised_by_those_before_it() -> None:
    values = ValueView({}, {Stage.REFINE: Moments(4, 0.2, 4 * 0.5**2)})
    rollout = a_rollout(RUN, 1, verdict=feasible(), start_point="start", reward=0.7)
    found = lesson(rollout, values)
    assert [update.reward for update in found.updates] == [pytest.approx(1.0)]
    ((stage, after),) = found.rewards
    assert (stage, after.count, after.mean) == (Stage.REFINE, 5, pytest.approx(0.3))


def test_draft_rewards_are_not_normalised() -> None:
    values = ValueView({}, {Stage.DRAFT: Moments(4, 0.2, 1.0)})
    found = lesson(a_rollout(RUN, 1, context=["a"], verdict=feasible()), values)
    assert [update.reward for update in found.updates] == [1.0]


def test_the_limit_holds_when_all_rewards_so_far_were_alike() -> None:
    values = ValueView({}, {Stage.REFINE: Moments(50, -1.0, 0.0)})
    rollout = a_rollout(RUN, 1, verdict=feasible(), start_point="start", reward=0.9)
    how = Learning(safeguards=Safeguards(deviation_floor=0.1, limit=3.0))
    assert [update.reward for update in lesson(rollout, values, how).updates] == [3.0]


def test_an_update_starts_from_the_value_it_is_given() -> None:
    values = ValueView({(Stage.DRAFT, "a"): Value(0.5, 3), (Stage.REFINE, "a"): Value(-0.9, 8)})
    (update,) = lesson(a_rollout(RUN, 0, context=["a"]), values).updates
    assert (update.before, update.after) == (Value(0.5, 3), Value(0.35, 4))


def test_steps_decrease_with_the_updates_of_that_item_alone() -> None:
    values = ValueView({(Stage.DRAFT, "old"): Value(0.0, 9)})
    how = Learning(StepSize(1.0, 1.0))
    found = moved(lesson(a_rollout(RUN, 0, context=["old", "new"]), values, how))
    assert found == {(Stage.DRAFT, "old"): -0.1, (Stage.DRAFT, "new"): -1.0}


# --- what is remembered ---


def test_every_rollout_leaves_a_trace_with_code_and_feedback() -> None:
    rollout = a_rollout(RUN, 3, verdict=infeasible("error: no\nmore"), start_point="start")
    trace = items_from(rollout)[0]
    assert trace.kind is MemoryKind.TRACE
    assert "error: no\nmore" in trace.body
    for path, content in rollout.candidate.parts:
        assert path in trace.body
        assert content in trace.body
    assert trace.candidate_id == rollout.candidate.candidate_id
    assert trace.parent_id == "start"
    assert (trace.task_id, trace.rollout_id) == (rollout.task_id, "run-a/00003")


def test_only_what_passed_leaves_a_schedule_to_be_copied() -> None:
    passed = items_from(a_rollout(RUN, 0, verdict=feasible()))
    failed = items_from(a_rollout(RUN, 1, verdict=infeasible()))
    assert passed[0].schedule == (("tile", "64"),)
    assert {item.schedule for item in failed} == {()}


def test_the_same_mistake_is_one_experience_wherever_it_happens() -> None:
    reasons = (
        "kernel.cpp:3: error: 'exq' was not declared",
        "kernel.cpp:77: error: 'exq' was not declared\nx",
    )
    items = [
        items_from(a_rollout(RUN, at, verdict=infeasible(r)))[1] for at, r in enumerate(reasons)
    ]
    assert items[0].kind is MemoryKind.EXPERIENCE
    assert items[0].item_id == items[1].item_id
    assert "compile_error" in items[0].title
    assert "'exq' was not declared" in items[0].body


def test_different_mistakes_are_different_experiences() -> None:
    items = [
        items_from(a_rollout(RUN, at, verdict=infeasible(reason)))[1]
        for at, reason in enumerate(("error: 'exq' was not declared", "error: expected ';'"))
    ]
    assert items[0].item_id != items[1].item_id


def test_a_win_recommends_its_schedule_with_the_gain() -> None:
    rollout = a_rollout(RUN, 1, verdict=feasible(), start_point="start", reward=0.6)
    experience = items_from(rollout)[1]
    assert experience.title == "faster with tile=64"
    assert "2 times the speed" in experience.body
    assert "limited by memory" in experience.body
    assert experience.schedule == (("tile", "64"),)


def test_a_loss_warns_and_recommends_nothing() -> None:
    rollout = a_rollout(RUN, 1, verdict=feasible(), start_point="start", reward=-0.6)
    experience = items_from(rollout)[1]
    assert experience.title == "slower with tile=64"
    assert "0.5 times the speed" in experience.body
    assert experience.schedule == ()


@pytest.mark.parametrize("reward", [0.0, 0.02, -0.02])
def test_a_change_within_the_noise_teaches_nothing(reward: float) -> None:
    rollout = a_rollout(RUN, 1, verdict=feasible(), start_point="start", reward=reward)
    assert [item.kind for item in items_from(rollout)] == [MemoryKind.TRACE]


def test_noise_that_was_measured_counts_where_it_is_larger() -> None:
    ratio = replace(feasible().speedups[0], noise=0.5)
    noisy = replace(feasible(), speedups=(ratio,))
    rollout = a_rollout(RUN, 1, verdict=noisy, start_point="start", reward=0.2)
    assert len(items_from(rollout)) == 1
    assert len(items_from(replace(rollout, verdict=feasible()))) == 2


def test_a_draft_that_passed_leaves_its_trace_only() -> None:
    assert len(items_from(a_rollout(RUN, 0, verdict=feasible()))) == 1


def test_a_win_without_a_schedule_leaves_its_trace_only() -> None:
    candidate = replace(a_candidate(), schedule=())
    rollout = a_rollout(
        RUN, 1, verdict=feasible(), candidate=candidate, start_point="start", reward=0.6
    )
    assert len(items_from(rollout)) == 1


def test_a_gain_beyond_measure_is_still_a_number() -> None:
    rollout = a_rollout(RUN, 1, verdict=feasible(), start_point="start", reward=1.0)
    assert len(items_from(rollout)) == 2


def test_long_feedback_is_cut() -> None:
    trace = items_from(a_rollout(RUN, 0, verdict=infeasible("x" * 10_000)))[0]
    assert trace.body.count("x") < 4_100


def test_without_a_baseline_a_trace_states_the_time() -> None:
    rollout = a_rollout(RUN, 0, verdict=feasible(speedup=None, median_us=123.4))
    trace = items_from(rollout)[0]
    assert trace.title == "draft: feasible, 123 us"
    assert "limited by" not in trace.body


def test_a_rollout_that_names_no_start_point_credits_its_context_alone() -> None:
    rollout = a_rollout(RUN, 1, verdict=feasible(), context=["a"], reward=0.5)
    odd = replace(rollout, proposal=replace(rollout.proposal, stage=Stage.REFINE))
    assert [update.item_id for update in lesson(odd).updates] == ["a"]


@pytest.mark.parametrize(("floor", "limit"), [(0.0, 1.0), (0.1, 0.0), (-1.0, 1.0)])
def test_safeguards_that_guard_nothing_are_refused(floor: float, limit: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        Safeguards(floor, limit)
