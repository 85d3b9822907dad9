"""Axes keep their identity through broadcasts and views."""

from __future__ import annotations

import pytest

from kernelwright.synth.axes import Axes, AxesDiffer


def test_an_extent_of_one_is_no_axis() -> None:
    assert Axes().fresh(1) == ()


def test_equal_extents_are_different_axes_until_an_operator_joins_them() -> None:
    axes = Axes()
    left, right = axes.fresh(8), axes.fresh(8)
    assert axes.primes(left) != axes.primes(right)
    axes.broadcast([(left,), (right,)])
    assert axes.primes(left) == axes.primes(right)


def test_a_broadcast_keeps_the_axis_that_is_there() -> None:
    axes = Axes()
    rows, columns = axes.fresh(3), axes.fresh(5)
    assert axes.broadcast([(rows, ()), (columns,)]) == (rows, columns)


def test_unequal_extents_do_not_join() -> None:
    axes = Axes()
    with pytest.raises(AxesDiffer, match="3 and 5"):
        axes.unify(axes.fresh(3), axes.fresh(5))


def test_a_view_that_merges_keeps_both_axes() -> None:
    axes = Axes()
    rows, columns = axes.fresh(3), axes.fresh(5)
    assert axes.view((rows, columns), [15], [False]) == ((*rows, *columns),)


def test_a_view_that_splits_makes_two_axes_of_one_and_remembers_the_number() -> None:
    axes = Axes()
    channels = axes.fresh(12)
    groups, rest = axes.view((channels,), [4, 3], [True, False])
    assert axes.primes(channels) == (*groups, *rest)
    assert axes.literals == {groups[0]: 4}


def test_a_split_axis_still_joins_with_a_whole_one() -> None:
    axes = Axes()
    channels, weight = axes.fresh(12), axes.fresh(12)
    groups, rest = axes.view((channels,), [4, 3], [True, False])
    axes.unify(channels, weight)
    assert axes.primes(weight) == (*groups, *rest)


def test_a_view_across_axes_is_refused() -> None:
    axes = Axes()
    with pytest.raises(AxesDiffer):
        axes.view((axes.fresh(6), axes.fresh(5)), [10, 3], [True, True])
