"""Sizes of a task file, and the rules that rewrite them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelwright.tasks.edge import awkward, edge_sizes
from kernelwright.tasks.shrink import RULE, Need, halved, is_structural, shrunk
from kernelwright.tasks.sizes import sizes_in, with_sizes

SOURCE = '''"""Größe: a task."""
batch_size = 4096
dim = 16 * 1024  # columns
shape = (128, batch_size, 7)
rows, columns = 64, 2**10
scale = 2.0
half = dim // 2
kernel_size = 32


def get_inputs():
    return [torch.rand(batch_size, 512), torch.randint(0, 100, (batch_size, 33))]
'''


def values(source: str) -> dict[str, int]:
    return {size.name: size.value for size in sizes_in(source)}


def measured(read: Callable[[dict[str, int]], Need | None]) -> Callable[[str], Need | None]:
    return lambda source: read(values(source))


def test_sizes_are_whole_numbers_that_stand_alone() -> None:
    assert values(SOURCE) == {
        "batch_size": 4096,
        "dim": 16384,
        "shape[0]": 128,
        "shape[2]": 7,
        "rows": 64,
        "columns": 1024,
        "kernel_size": 32,
        "get_inputs[0]": 512,
        "get_inputs[1]": 33,
    }


def test_the_range_of_random_integers_is_no_size() -> None:
    assert 100 not in values(SOURCE).values()


def test_a_name_that_is_assigned_twice_is_no_size() -> None:
    assert values("n = 64\nm = 32\nn = 128\n") == {"m": 32}


def test_rewriting_changes_the_numbers_and_nothing_else() -> None:
    text = with_sizes(SOURCE, {"dim": 512, "shape[0]": 9, "get_inputs[0]": 5})
    assert "dim = 512  # columns" in text
    assert "shape = (9, batch_size, 7)" in text
    assert "torch.rand(batch_size, 5)" in text
    assert with_sizes(text, {"shape[0]": 128, "get_inputs[0]": 512}) == SOURCE.replace(
        "16 * 1024", "512"
    )


def test_rewriting_an_unknown_size_is_an_error() -> None:
    with pytest.raises(KeyError):
        with_sizes(SOURCE, {"nothing": 3})


@pytest.mark.parametrize(
    "name", ["kernel_size", "num_heads", "n_layers", "stride", "padding", "num_groups", "k"]
)
def test_names_that_shape_the_operator_are_structural(name: str) -> None:
    assert is_structural(name)


@pytest.mark.parametrize("name", ["batch_size", "dim", "depth", "N", "in_features", "max_seq_len"])
def test_names_that_shape_the_data_are_not(name: str) -> None:
    assert not is_structural(name)


def test_an_even_size_loses_one_factor_of_two_and_an_odd_one_stays_odd() -> None:
    assert [halved(4096), halved(12), halved(4095), halved(9)] == [2048, 6, 2047, 5]


def test_the_biggest_size_is_halved_until_the_bound_holds() -> None:
    source = "rows = 64\ncolumns = 1024\n"
    measure = measured(lambda s: Need(4 * s["rows"] * s["columns"], 0))
    text, need, shrink = shrunk(source, Need(4 << 16, 0), measure, max_bytes=40000, max_flops=None)
    assert text == "rows = 64\ncolumns = 128\n"
    assert need.size_bytes == 4 * 64 * 128
    assert shrink is not None
    assert (shrink.rule, shrink.sizes) == (RULE, (("columns", 1024, 128),))
    assert (shrink.max_bytes, shrink.max_flops) == (40000, None)


def test_a_step_after_which_the_model_does_not_run_is_not_taken() -> None:
    source = "rows = 64\ncolumns = 1024\n"

    def read(s: dict[str, int]) -> Need | None:
        return Need(s["rows"] * s["columns"], 0) if s["columns"] == 1024 else None

    text, _, _ = shrunk(source, Need(1 << 16, 0), measured(read), max_bytes=1 << 14, max_flops=None)
    assert text == "rows = 16\ncolumns = 1024\n"


def test_two_names_for_one_extent_are_halved_together() -> None:
    source = "hidden = 512\nwidth = 512\n"

    def read(s: dict[str, int]) -> Need | None:
        return Need(s["hidden"] ** 2, 0) if s["hidden"] == s["width"] else None

    text, _, _ = shrunk(source, Need(512**2, 0), measured(read), max_bytes=128**2, max_flops=None)
    assert text == "hidden = 128\nwidth = 128\n"


def test_structural_sizes_stay_even_if_the_bound_is_missed() -> None:
    source = "kernel_size = 64\ncolumns = 16\n"
    measure = measured(lambda s: Need(s["kernel_size"] * s["columns"], 0))
    text, need, _ = shrunk(source, Need(1024, 0), measure, max_bytes=1, max_flops=None)
    assert text == "kernel_size = 64\ncolumns = 4\n"
    assert need.size_bytes == 256


def test_a_batch_may_become_one() -> None:
    measure = measured(lambda s: Need(s["batch_size"] * s["dim"], 0))
    text, _, _ = shrunk(
        "batch_size = 10\ndim = 9\n", Need(90, 0), measure, max_bytes=1, max_flops=None
    )
    assert text == "batch_size = 1\ndim = 5\n"


def test_a_task_within_the_bounds_is_left_alone() -> None:
    text, _, shrink = shrunk(SOURCE, Need(10, 10), lambda _: None, max_bytes=10, max_flops=10)
    assert (text, shrink) == (SOURCE, None)


def test_a_step_that_saves_next_to_nothing_is_not_taken() -> None:
    measure = measured(lambda s: Need(1000 + s["batch_size"], 0))
    source = "batch_size = 64\n"
    text, _, shrink = shrunk(source, Need(1064, 0), measure, max_bytes=10, max_flops=None)
    assert (text, shrink) == (source, None)


def test_no_size_but_the_batch_goes_below_two_a_group() -> None:
    measure = measured(lambda s: Need(s["batch"] * s["channels"], 0))
    source = "batch = 64\nchannels = 1024\nnum_groups = 64\n"
    text, _, _ = shrunk(source, Need(1 << 16, 0), measure, max_bytes=1, max_flops=None)
    assert text == "batch = 1\nchannels = 128\nnum_groups = 64\n"


def test_operations_are_a_bound_of_their_own() -> None:
    source = "rows = 1024\n"
    measure = measured(lambda s: Need(s["rows"], s["rows"] ** 3))
    text, _, _ = shrunk(source, Need(1024, 1 << 30), measure, max_bytes=None, max_flops=1 << 24)
    assert text == "rows = 256\n"


def test_the_edge_shape_has_a_tiny_batch_and_an_odd_last_size() -> None:
    source = "batch_size = 64\ndim = 256\n"
    measure = measured(lambda s: Need(s["batch_size"] * s["dim"], 0))
    assert edge_sizes(source, Need(64 * 256, 0), measure) == (("batch_size", 3), ("dim", 255))


def test_the_edge_shape_gives_way_where_the_model_does_not_run() -> None:
    source = "batch_size = 64\ndim = 256\n"

    def read(s: dict[str, int]) -> Need | None:
        return Need(s["batch_size"] * s["dim"], 0) if s["dim"] % 2 == 0 else None

    assert edge_sizes(source, Need(64 * 256, 0), measured(read)) == (("batch_size", 3),)


def test_there_is_no_edge_shape_where_nothing_else_runs() -> None:
    assert edge_sizes("dim = 256\n", Need(256, 0), lambda _: None) == ()


@pytest.mark.parametrize("value", [8, 9, 64, 1000, 1021, 4096, 1 << 20])
def test_awkward_sizes_are_odd_smaller_and_bounded(value: int) -> None:
    assert awkward(value) % 2 == 1
    assert awkward(value) < value
    assert awkward(value) <= 1021
