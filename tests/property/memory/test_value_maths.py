"""The mathematics of EvoKernel's appendix A as properties: bounds, tracking, convergence."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.core.value import Moments, Stage, Value
from kernelwright.memory.distill import gain_of
from kernelwright.memory.normalize import Safeguards, deviation, moved, normalised
from kernelwright.memory.reward import log_gain, reward_for
from kernelwright.memory.values import StepSize, updated
from kernelwright.testing.samples import feasible, infeasible

latencies = st.floats(1e-3, 1e9)
ratios = st.floats(1e-4, 1e4)
rewards = st.floats(-1.0, 1.0)
step_sizes = st.builds(
    StepSize, st.floats(1e-3, 1.0), st.just(0.0) | st.floats(0.5, 1.0, exclude_min=True)
)
safeguards = st.builds(Safeguards, st.floats(1e-3, 1.0), st.floats(0.1, 10.0))


# --- reward (eq. 5, 6; corollary 2) ---


@given(best=ratios, ours=ratios, is_paired=st.booleans())
def test_a_reward_lies_between_minus_one_and_one(best: float, ours: float, is_paired: bool) -> None:
    verdicts = (
        (feasible(speedup=ours), feasible(speedup=best))
        if is_paired
        else (feasible(speedup=None, median_us=ours), feasible(speedup=None, median_us=best))
    )
    assert -1.0 <= reward_for(Stage.REFINE, verdicts[0], best=verdicts[1]) <= 1.0


@given(best=latencies, one=latencies, other=latencies)
def test_a_faster_kernel_never_earns_less(best: float, one: float, other: float) -> None:
    fast, slow = sorted((one, other))
    before = feasible(speedup=None, median_us=best)
    earned = [
        reward_for(Stage.REFINE, feasible(speedup=None, median_us=latency), best=before)
        for latency in (fast, slow)
    ]
    assert earned[0] >= earned[1]


@given(best=ratios, one=ratios, other=ratios)
def test_a_larger_paired_speedup_never_earns_less(best: float, one: float, other: float) -> None:
    slow, fast = sorted((one, other))
    before = feasible(speedup=best)
    earned = [
        reward_for(Stage.REFINE, feasible(speedup=speedup), best=before) for speedup in (slow, fast)
    ]
    assert earned[1] >= earned[0]


@given(best=ratios, ours=ratios)
def test_swapping_the_two_candidates_turns_the_gain_around(best: float, ours: float) -> None:
    there = log_gain(feasible(speedup=ours), feasible(speedup=best))
    back = log_gain(feasible(speedup=best), feasible(speedup=ours))
    assert there == pytest.approx(-back)


@given(latency=latencies, drift=st.floats(0.1, 10.0), speedup=st.floats(0.2, 5.0))
def test_a_machine_that_drifts_between_two_rollouts_earns_nothing(
    latency: float, drift: float, speedup: float
) -> None:
    # The same candidate again, while everything on the machine takes `drift` times as long.
    before = feasible(speedup=speedup, median_us=latency)
    after = feasible(speedup=speedup, median_us=latency * drift)
    assert reward_for(Stage.REFINE, after, best=before) == 0.0


@given(gain=st.floats(0.05, 20.0))
def test_the_gain_can_be_read_back_from_the_reward(gain: float) -> None:
    reward = reward_for(Stage.REFINE, feasible(speedup=gain), best=feasible(speedup=1.0))
    assert gain_of(reward) == pytest.approx(gain, rel=1e-6)


@pytest.mark.parametrize("stage", list(Stage))
def test_an_infeasible_candidate_earns_minus_one(stage: Stage) -> None:
    for best in (None, feasible()):
        assert reward_for(stage, infeasible(), best=best) == -1.0


# --- update (eq. 4; lemmas 1, 7 and 8) ---


@given(
    bound=st.floats(1e-3, 10.0),
    shares=st.lists(st.floats(-1.0, 1.0), max_size=60),
    start=st.floats(-1.0, 1.0),
    step=step_sizes,
)
def test_bounded_rewards_keep_values_bounded(
    bound: float, shares: list[float], start: float, step: StepSize
) -> None:
    value = Value(start * bound)
    for share in shares:
        value = updated(value, share * bound, step=step)
        assert abs(value.mean) <= bound
    assert value.count == len(shares)


@given(value=st.floats(-1.0, 1.0), reward=rewards, step=step_sizes)
def test_an_update_moves_toward_the_reward_and_not_past_it(
    value: float, reward: float, step: StepSize
) -> None:
    after = updated(Value(value), reward, step=step).mean
    assert min(value, reward) <= after <= max(value, reward)


@given(reward=rewards, step=st.floats(0.05, 1.0), start=rewards)
def test_a_constant_step_tracks_a_constant_reward(reward: float, step: float, start: float) -> None:
    value = Value(start)
    for _ in range(400):
        value = updated(value, reward, step=StepSize(step))
    # E[Q_t] - mu = (1 - alpha)^t (Q_0 - mu)
    assert abs(value.mean - reward) <= (1 - step) ** 400 * abs(start - reward) + 1e-12


def test_a_constant_step_follows_a_reward_that_changes_its_mind() -> None:
    rng = random.Random(2)
    value = Value()
    for mean in (0.8, -0.8):
        for _ in range(300):
            value = updated(value, mean + rng.uniform(-0.2, 0.2), step=StepSize(0.1))
        assert value.mean == pytest.approx(mean, abs=0.15)


def test_the_variance_at_a_constant_step_is_what_lemma_7_says() -> None:
    rng = random.Random(3)
    alpha, means = 0.2, []
    value = Value()
    for count in range(40_000):
        value = updated(value, rng.choice((-1.0, 1.0)), step=StepSize(alpha))
        if count > 100:
            means.append(value.mean)
    assert statistics.fmean(means) == pytest.approx(0.0, abs=0.02)
    assert statistics.pvariance(means) == pytest.approx(alpha / (2 - alpha), rel=0.05)


@pytest.mark.parametrize("exponent", [0.6, 0.8, 1.0])
def test_decreasing_steps_converge_to_the_mean_reward(exponent: float) -> None:
    rng = random.Random(4)
    value = Value(-1.0)
    for _ in range(20_000):
        reward = 1.0 if rng.random() < 0.65 else -1.0
        value = updated(value, reward, step=StepSize(1.0, exponent))
    assert value.mean == pytest.approx(0.3, abs=0.06)


@given(observed=st.lists(rewards, min_size=1, max_size=50))
def test_steps_of_one_over_n_give_the_sample_mean(observed: list[float]) -> None:
    value = Value(0.5)
    for reward in observed:
        value = updated(value, reward, step=StepSize(1.0, 1.0))
    assert value.mean == pytest.approx(statistics.fmean(observed), abs=1e-9)


@given(step=step_sizes, count=st.integers(0, 10_000))
def test_a_step_lies_in_zero_to_one_and_never_grows(step: StepSize, count: int) -> None:
    assert 0.0 < step.after(count + 1) <= step.after(count) <= 1.0


@pytest.mark.parametrize(
    ("size", "exponent"), [(0.0, 0.0), (1.1, 0.0), (-0.1, 0.0), (0.1, 0.5), (0.1, 1.1), (0.1, -1.0)]
)
def test_step_sizes_that_neither_track_nor_converge_are_refused(
    size: float, exponent: float
) -> None:
    with pytest.raises(ValueError, match="must"):
        StepSize(size, exponent)


# --- normalisation (remark 3; lemma 5) ---


@given(seen=st.lists(rewards, max_size=40), reward=rewards, guards=safeguards)
def test_a_normalised_reward_is_bounded_by_floor_and_limit(
    seen: list[float], reward: float, guards: Safeguards
) -> None:
    moments = Moments()
    for one in seen:
        moments = moved(moments, one)
    bound = min(guards.limit, 2.0 / guards.deviation_floor)
    assert abs(normalised(reward, moments, safeguards=guards)) <= bound * (1 + 1e-12)


@given(seen=st.lists(rewards, min_size=1, max_size=60))
def test_the_running_moments_are_those_of_the_sample(seen: list[float]) -> None:
    moments = Moments()
    for one in seen:
        moments = moved(moments, one)
    assert moments.count == len(seen)
    assert moments.mean == pytest.approx(statistics.fmean(seen), abs=1e-9)
    assert deviation(moments) == pytest.approx(statistics.pstdev(seen), abs=1e-7)


@given(value=rewards, count=st.integers(1, 50))
def test_equal_rewards_are_average_and_do_not_blow_up(value: float, count: int) -> None:
    moments = Moments()
    for _ in range(count):
        moments = moved(moments, value)
    assert normalised(value, moments, safeguards=Safeguards()) == pytest.approx(0.0, abs=1e-9)


def test_the_first_reward_stays_itself() -> None:
    assert normalised(-0.7, Moments(), safeguards=Safeguards()) == -0.7


@given(one=rewards, other=rewards, seen=st.lists(rewards, min_size=1, max_size=20))
def test_normalising_keeps_the_order_of_rewards(
    one: float, other: float, seen: list[float]
) -> None:
    moments = Moments()
    for reward in seen:
        moments = moved(moments, reward)
    low, high = sorted((one, other))
    first, second = (normalised(r, moments, safeguards=Safeguards()) for r in (low, high))
    assert first <= second


def test_the_map_settles_down() -> None:
    rng = random.Random(5)
    moments = Moments()
    for _ in range(20_000):
        moments = moved(moments, rng.uniform(-0.5, 1.0))
    expected = (0.6 - 0.25) / (1.5 / math.sqrt(12))
    assert normalised(0.6, moments, safeguards=Safeguards()) == pytest.approx(expected, abs=0.03)
