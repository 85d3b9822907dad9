"""The model against published measurements that its figures were not fitted to."""

from __future__ import annotations

import ctypes
import importlib
import sys

import pytest

from .conftest import published_module


@pytest.fixture(scope="module")
def compared(timing_library: ctypes.CDLL) -> dict[str, object]:
    sys.path.insert(0, str(published_module("ascendc_timing.py").parent))
    try:
        benchmark = importlib.import_module("ascendc_timing")
    finally:
        sys.path.pop(0)
    cases = [case for case in benchmark.every_case() if case.group != "cube"]
    streams = {case.name: case.stream() for case in cases}
    result = benchmark.report(cases, benchmark.run(timing_library, cases, streams, {}))
    assert isinstance(result, dict)
    return result


def test_held_out_rows_are_ranked_as_measured(compared: dict[str, object]) -> None:
    held = compared["held_out"]
    assert isinstance(held, dict)
    assert held["rows"] >= 60
    assert held["spearman"] >= 0.9
    assert held["median_error"] < 0.25


def test_each_family_of_held_out_rows_is_ranked_as_measured(compared: dict[str, object]) -> None:
    groups = compared["held_out_groups"]
    assert isinstance(groups, dict)
    ranks = {name: group["spearman"] for name, group in groups.items() if "spearman" in group}
    assert len(ranks) >= 6
    assert all(rank >= 0.85 for rank in ranks.values()), ranks


def test_every_row_names_the_model_that_simulated_it(compared: dict[str, object]) -> None:
    rows = compared["rows"]
    assert isinstance(rows, list)
    assert all(row["model"].startswith("ascend-timing ") for row in rows)
