"""Properties of medians, intervals and the A/A noise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.verify.ratio import Quad, interval, is_above, latency_of, noise_of, speed

TIMES = st.floats(1e-6, 1.0)
SAMPLES = st.lists(TIMES, min_size=1, max_size=40)


@given(SAMPLES)
def test_an_interval_holds_its_median_and_repeats(samples: list[float]) -> None:
    found = interval(samples)
    assert min(samples) <= found.low <= found.median <= found.high <= max(samples)
    assert interval(samples) == found


@given(TIMES, TIMES, st.floats(0.5, 2.0), st.floats(0.5, 2.0))
def test_drift_and_order_cancel_in_a_quad(
    baseline: float, candidate: float, drift: float, bias: float
) -> None:
    # ABBA: what comes second in a pair takes `bias` longer, the second pair `drift` longer.
    quad = Quad(
        baseline_s=(baseline, baseline * drift * bias),
        candidate_s=(candidate * bias, candidate * drift),
    )
    assert quad.ratio == pytest.approx(baseline / candidate, rel=1e-9)


@given(st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=20), TIMES)
def test_a_candidate_that_is_the_baseline_has_speed_one(
    pairs: list[tuple[float, float]], other: float
) -> None:
    quads = [Quad(pair, pair) for pair in pairs]
    assert speed(quads).median == pytest.approx(1.0)


@given(st.lists(st.floats(0.5, 2.0), min_size=2, max_size=20), TIMES)
def test_a_baseline_without_noise_has_none_whatever_the_drift(
    drifts: list[float], baseline: float
) -> None:
    quads = [Quad((baseline * drift, baseline * drift), (1e-3, 1e-3)) for drift in drifts]
    assert noise_of(quads) == pytest.approx(0.0, abs=1e-9)


@given(SAMPLES, st.floats(2.0, 5.0))
def test_a_sample_is_never_above_itself(samples: list[float], factor: float) -> None:
    assert not is_above(samples, samples, factor=1.0)
    shifted = [sample * factor for sample in [1.0, 1.01, 0.99] * 3]
    assert is_above(shifted, [1.0, 1.01, 0.99] * 3, factor=1.5)


@given(SAMPLES)
def test_latency_is_in_microseconds(samples: list[float]) -> None:
    found = latency_of(samples)
    assert found.median_us == pytest.approx(interval(samples).median * 1e6)
    slack = 1e-6 * found.mean_us
    assert min(samples) * 1e6 - slack <= found.mean_us <= max(samples) * 1e6 + slack
    assert found.std_us >= 0


def test_an_interval_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="needs samples"):
        interval([])
