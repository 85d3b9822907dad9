"""Differences of two results, absolutely and in units of the last place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernelwright.dsl.interpret import to_bf16
from kernelwright.dsl.types import DType
from kernelwright.wiring.differences import difference


@given(
    arrays(np.float32, 20, elements=st.floats(-(2.0**126), 2.0**126, width=32)), st.integers(0, 19)
)
def test_the_next_number_is_one_unit_away(values: np.ndarray, place: int) -> None:
    other = values.copy()
    other[place] = np.nextafter(values[place], np.float32(np.inf))
    found = difference("y", DType.F32, values, other)
    is_zero = values[place] == 0 and other[place] == 0
    assert found.largest_ulp == (0 if is_zero else 1)
    assert found.at == (None if is_zero else (place,))


def test_units_are_counted_through_zero() -> None:
    tiny = np.float32(1e-45)
    found = difference("y", DType.F32, np.array([-tiny]), np.array([tiny]))
    assert found.largest_ulp == 2
    assert difference("y", DType.F32, np.array([0.0], "f4"), np.array([-0.0], "f4")).differing == 0


def test_nan_is_like_nan_and_unlike_a_number() -> None:
    one = np.array([[np.nan, np.nan, np.inf, 1.0]], np.float32)
    other = np.array([[np.nan, 2.0, -np.inf, 1.0]], np.float32)
    found = difference("y", DType.F32, one, other)
    assert (found.differing, found.unlike, found.largest, found.at) == (2, 2, 0.0, (0, 1))


@pytest.mark.parametrize("dtype", [DType.BF16, DType.F16])
def test_short_floats_have_their_own_units(dtype: DType) -> None:
    values = np.array([1.0, -2.0], np.float32)
    one = to_bf16(values) if dtype is DType.BF16 else values.astype(np.float16)
    other = one.copy()
    other.view(np.uint16)[1] += 3
    found = difference("y", dtype, one, other)
    assert found.largest_ulp == 3
    assert found.largest == pytest.approx(3 * 2 * (2.0**-7 if dtype is DType.BF16 else 2.0**-10))


def test_integers_differ_by_their_distance_without_overflow() -> None:
    ends = np.iinfo(np.int64)
    one, other = np.array([ends.min, 5]), np.array([ends.max, 5])
    found = difference("y", DType.I64, one, other)
    assert (found.largest_ulp, found.differing, found.at) == (ends.max, 1, (0,))


def test_empty_results_do_not_differ() -> None:
    empty = np.zeros((0, 3), np.float32)
    assert difference("y", DType.F32, empty, empty).differing == 0
