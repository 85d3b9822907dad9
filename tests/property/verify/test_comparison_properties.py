"""Properties of the comparison, over generated tensors and perturbations."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kernelwright.core.execution import Expected
from kernelwright.core.task import Tolerance
from kernelwright.core.tensor import Tensor
from kernelwright.core.verdict import Category
from kernelwright.verify.arrays import narrowed, stored, widened
from kernelwright.verify.compare import compare
from kernelwright.verify.scale import pieces, row_length, row_scales
from kernelwright.verify.tolerance import allowance_for

FLOATS = ("float64", "float32", "float16", "bfloat16")
SHAPES = arrays.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=9)
TOLERANCES = st.sampled_from(list(Tolerance))
UNIT = st.floats(0.5, 2.0)


def as_tensor(values: np.ndarray, dtype: str) -> Tensor:
    data = narrowed(np.ascontiguousarray(values, np.float64).ravel(), dtype)
    return Tensor(dtype, values.shape, data.tobytes())


def drawn(data: st.DataObject) -> np.ndarray:
    """Values of one magnitude and both signs, so that the scale is known."""
    shape = data.draw(SHAPES)
    values = data.draw(arrays.arrays(np.float64, shape, elements=UNIT))
    signs = data.draw(arrays.arrays(np.bool_, shape))
    return np.where(signs, values, -values)


def places(data: st.DataObject, shape: tuple[int, ...]) -> np.ndarray:
    """A non-empty set of elements, as a mask."""
    mask = data.draw(arrays.arrays(np.bool_, shape))
    mask.flat[data.draw(st.integers(0, mask.size - 1))] = True
    return mask


@given(st.data(), st.sampled_from(FLOATS), TOLERANCES)
def test_a_tensor_agrees_with_itself(data: st.DataObject, dtype: str, rule: Tolerance) -> None:
    values = data.draw(arrays.arrays(np.float64, SHAPES))
    tensor = as_tensor(values, dtype)
    assert compare(tensor, Expected(tensor, None), rule) is None


@given(st.data(), st.sampled_from(("float32", "float64")), TOLERANCES, st.integers(1, 10**6))
def test_an_error_within_the_rule_passes_and_one_beyond_it_is_boxed_exactly(
    data: st.DataObject, dtype: str, rule: Tolerance, length: int
) -> None:
    values = drawn(data)
    mask = places(data, values.shape)
    relative = allowance_for(rule, dtype, reduction_length=length).relative
    truth = Expected(as_tensor(values, dtype), as_tensor(values, "float64"), (), length)

    within = as_tensor(np.where(mask, values * (1 + 0.4 * relative), values), dtype)
    assert compare(within, truth, rule) is None

    # |values| <= 2 and the scale of a row is at most 2, so this is outside under every rule.
    beyond = as_tensor(np.where(mask, values + 6 * relative, values), dtype)
    found = compare(beyond, truth, rule)
    assert found is not None
    assert found.category is Category.NUMERICAL_MISMATCH
    box = ", ".join(f"{axis.min()}:{axis.max() + 1}" for axis in np.nonzero(mask))
    assert found.text.startswith(f"{mask.sum()}/{mask.size} mismatched")
    assert found.text.endswith(f"Bounding box: output[{box}]")


@given(st.data(), st.sampled_from(FLOATS), TOLERANCES)
def test_no_number_that_is_not_finite_passes_for_a_finite_one(
    data: st.DataObject, dtype: str, rule: Tolerance
) -> None:
    values = drawn(data)
    mask = places(data, values.shape)
    wrong = data.draw(st.sampled_from((np.nan, np.inf, -np.inf)))
    got = as_tensor(np.where(mask, wrong, values), dtype)
    found = compare(got, Expected(as_tensor(values, dtype), None), rule)
    assert found is not None
    assert found.text.endswith(f"{mask.sum()} not finite where the reference is")


@given(st.data(), st.sampled_from(FLOATS), TOLERANCES)
def test_no_finite_number_passes_for_one_that_is_not(
    data: st.DataObject, dtype: str, rule: Tolerance
) -> None:
    values = drawn(data)
    mask = places(data, values.shape)
    special = data.draw(st.sampled_from((np.nan, np.inf, -np.inf)))
    want = as_tensor(np.where(mask, special, values), dtype)
    assert compare(as_tensor(values, dtype), Expected(want, None), rule) is not None
    assert compare(want, Expected(want, None), rule) is None


@given(st.data())
def test_a_permutation_of_distinct_values_is_rejected(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 200))
    values = np.arange(1, count + 1, dtype=np.float64)
    order = np.array(data.draw(st.permutations(range(count))))
    found = compare(
        as_tensor(values[order], "float32"), Expected(as_tensor(values, "float32"), None),
        Tolerance.STRICT,
    )  # fmt: skip
    moved = np.nonzero(order != np.arange(count))[0]
    if not moved.size:
        assert found is None
    else:
        assert found is not None
        assert found.text.startswith(f"{moved.size}/{count} mismatched")
        assert found.text.endswith(f"output[{moved.min()}:{moved.max() + 1}]")


@given(st.data(), st.sampled_from(FLOATS), st.sampled_from(FLOATS))
def test_dtypes_are_compared_before_values_whichever_side_is_wider(
    data: st.DataObject, mine: str, theirs: str
) -> None:
    values = drawn(data)
    found = compare(
        as_tensor(values, mine), Expected(as_tensor(values, theirs), None), Tolerance.EVOKERNEL
    )
    if mine == theirs:
        assert found is None
    else:
        assert found is not None
        assert found.text == f"output.dtype mismatch: expected {theirs}, got {mine}"


@given(arrays.arrays(np.float64, st.integers(1, 64)), st.sampled_from(FLOATS))
def test_what_a_dtype_holds_survives_being_read_and_written(values: np.ndarray, dtype: str) -> None:
    once = narrowed(values, dtype)
    again = narrowed(widened(once, dtype), dtype)
    assert np.array_equal(widened(once, dtype), widened(again, dtype), equal_nan=True)


@given(arrays.arrays(np.float32, st.integers(1, 64)))
def test_bfloat16_is_rounded_to_the_nearest(values: np.ndarray) -> None:
    wide = values.astype(np.float64)
    held = widened(narrowed(wide, "bfloat16"), "bfloat16")
    normal = np.isfinite(wide) & (np.abs(wide) > 2e-38) & (np.abs(wide) < 3e38)
    assert np.all(np.abs(held[normal] - wide[normal]) <= np.abs(wide[normal]) * 2.0**-8)


@given(SHAPES, st.integers(0, 20))
def test_pieces_cover_every_number_once_in_whole_rows(shape: tuple[int, ...], more: int) -> None:
    longer = (*shape, 1 << more)
    row = row_length(longer)
    count = int(np.prod(longer))
    if count > 1 << 22:
        return
    cut = list(pieces(count, row))
    assert cut[0].start == 0
    assert cut[-1].stop == count
    for piece, following in zip(cut, cut[1:], strict=False):
        assert piece.stop == following.start
        assert piece.first_row * row <= piece.start
    assert all(piece.rows == 1 or piece.shape[1] == row for piece in cut)


@settings(max_examples=50)
@given(st.data(), st.floats(1e-3, 1e3))
def test_the_scale_of_a_row_grows_with_the_output(data: st.DataObject, factor: float) -> None:
    values = drawn(data)
    one = row_scales(as_tensor(values, "float64"))
    many = row_scales(as_tensor(values * factor, "float64"))
    assert np.allclose(many, one * factor, rtol=1e-9)
    assert np.all(one >= 0.4)
    assert np.all(one <= 2.0 + 1e-9)


def test_stored_numbers_are_a_view_of_the_bytes() -> None:
    data = np.arange(6, dtype=np.float32).tobytes()
    assert stored(Tensor("float32", (2, 3), data)).tobytes() == data
