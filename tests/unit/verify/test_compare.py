"""The comparison: its words, its boxes, and which differences it forgives."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.core.execution import Expected
from kernelwright.core.task import Tolerance
from kernelwright.core.tensor import Opaque, Tensor, Tree
from kernelwright.core.verdict import Category
from kernelwright.verify.compare import compare, reference_is_within
from kernelwright.verify.tolerance import allowance_for
from unit.verify.small_task import Array, tensor

STRICT = Tolerance.STRICT
FOUR = np.arange(4, dtype=np.float32)


def expected(array: Array, exact: Array | None = None, length: int = 1) -> Expected:
    return Expected(tensor(array), None if exact is None else tensor(exact), (), length)


def bfloat16(array: Array) -> Tensor:
    """Round toward zero: enough for values that bfloat16 holds."""
    bits = (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return Tensor("bfloat16", array.shape, bits.tobytes())


STRUCTURES: list[tuple[Tree, Tree, Category, str]] = [
    (tensor(FOUR), [tensor(FOUR)], Category.TYPE_MISMATCH,
     "type(output) mismatch: expected Tensor, got list"),
    ((tensor(FOUR),), [tensor(FOUR)], Category.TYPE_MISMATCH,
     "type(output) mismatch: expected tuple, got list"),
    (tensor(FOUR), Opaque("Generator"), Category.TYPE_MISMATCH,
     "type(output) mismatch: expected Tensor, got Generator"),
    (tensor(FOUR), None, Category.TYPE_MISMATCH,
     "type(output) mismatch: expected Tensor, got NoneType"),
    ([1, 2, 3], [1, 2], Category.LENGTH_MISMATCH, "len(output) mismatch: expected 3, got 2"),
    ({"a": 1}, {"b": 1}, Category.TYPE_MISMATCH,
     "keys(output) mismatch: expected ['a'], got ['b']"),
    ((1, {"a": tensor(FOUR)}), (1, {"a": tensor(FOUR[:3])}), Category.SHAPE_MISMATCH,
     "output[1]['a'].shape mismatch: expected (4,), got (3,)"),
    (tensor(FOUR), tensor(FOUR.astype(np.float64)), Category.DTYPE_MISMATCH,
     "output.dtype mismatch: expected float32, got float64"),
    (7, 8, Category.NUMERICAL_MISMATCH, "value(output) mismatch: expected 7, got 8"),
    (True, 1, Category.TYPE_MISMATCH, "type(output) mismatch: expected bool, got int"),
]  # fmt: skip


@pytest.mark.parametrize(("want", "got", "category", "words"), STRUCTURES)
def test_structure_is_judged_before_numbers(
    want: Tree, got: Tree, category: Category, words: str
) -> None:
    found = compare(got, Expected(want, None), STRICT)
    assert found is not None
    assert (found.category, found.text) == (category, words)


def test_a_shape_mismatch_has_the_words_of_the_paper() -> None:
    want, got = np.zeros((16, 512, 512), np.float16), np.zeros((16, 512, 256), np.float16)
    found = compare(tensor(got), expected(want), STRICT)
    assert found is not None
    assert found.text == "output.shape mismatch: expected (16, 512, 512), got (16, 512, 256)"


def test_a_mismatch_of_numbers_has_the_words_of_the_paper() -> None:
    want = np.full((128, 4095), 2.0, np.float32)
    got = want.copy()
    got[3, 4032] = got[30, 4087] = 2.5
    found = compare(tensor(got), expected(want), Tolerance.EVOKERNEL)
    assert found is not None
    assert found.text == (
        "2/524160 mismatched (0.00%), max_abs=0.5, max_rel=0.25, "
        "Bounding box: output[3:31, 4032:4088]"
    )
    assert found.rule == "atol=0.01, rtol=0.01"


def test_a_mismatch_inside_a_container_says_where() -> None:
    want: Tree = (tensor(FOUR), [tensor(FOUR)])
    got: Tree = (tensor(FOUR), [tensor(FOUR + 1)])
    found = compare(got, Expected(want, None), STRICT)
    assert found is not None
    assert "Bounding box: output[1][0][0:4]" in found.text


def test_zeros_do_not_pass_for_small_outputs() -> None:
    probabilities = np.full((8, 4096), 1 / 4096, np.float32)
    assert compare(tensor(probabilities * 0), expected(probabilities), STRICT) is not None
    assert compare(tensor(probabilities * 0), expected(probabilities), Tolerance.EVOKERNEL) is None


def test_cancellation_in_an_honest_product_is_forgiven() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(64, 512)), rng.normal(size=(512, 64))
    exact = a @ b
    exact[0, 0] = 1e-9  # an element where the terms cancel almost wholly
    got = (exact + rng.normal(size=exact.shape) * 2e-5).astype(np.float32)
    assert compare(tensor(got), expected(exact.astype(np.float32), exact, 512), STRICT) is None


def test_one_large_row_does_not_hide_wrong_small_rows() -> None:
    exact = np.random.default_rng(2).normal(size=(64, 256))
    exact[0] *= 1e9
    got = exact.copy()
    got[40, 10] += 0.01
    found = compare(tensor(got.astype(np.float32)), expected(exact.astype(np.float32)), STRICT)
    assert found is not None
    assert "output[40:41, 10:11]" in found.text


def test_one_large_entry_of_a_batch_of_sums_does_not_hide_the_others() -> None:
    exact = np.random.default_rng(3).normal(size=(1024, 1)) + 3
    exact[77] = 1e7
    got = exact.copy()
    got[5] *= 1.1
    found = compare(tensor(got.astype(np.float32)), expected(exact.astype(np.float32)), STRICT)
    assert found is not None
    assert "output[5:6, 0:1]" in found.text


def test_the_tail_of_a_peaked_softmax_may_be_flushed() -> None:
    exact = np.full((4, 128), 1e-42)
    exact[:, 3] = 1.0
    got = np.where(exact < 0.5, 0.0, exact)
    assert (
        compare(tensor(got.astype(np.float32)), expected(exact.astype(np.float32)), STRICT) is None
    )


def test_a_reference_that_is_ill_conditioned_does_not_reject_an_equally_good_kernel() -> None:
    rng = np.random.default_rng(4)
    exact = rng.normal(size=(32, 64))
    eager = exact + rng.normal(size=exact.shape) * 1e-2
    mine = exact + rng.normal(size=exact.shape) * 5e-3
    truth = expected(eager.astype(np.float32), exact)
    assert not reference_is_within(truth, STRICT)
    assert compare(tensor(mine.astype(np.float32)), truth, STRICT) is None
    worse = exact + np.sign(rng.normal(size=exact.shape)) * 0.2
    assert compare(tensor(worse.astype(np.float32)), truth, STRICT) is not None


def test_a_flipped_comparison_in_the_reference_loosens_nothing_else() -> None:
    exact = np.zeros((4, 256))
    exact[:, ::2] = 1.0
    eager = exact.astype(np.float32)
    eager[0, 0] = 0.0  # float32 fell on the other side of a threshold
    truth = expected(eager, exact)
    on_either_side = exact.astype(np.float32)
    assert compare(tensor(on_either_side), truth, STRICT) is None
    assert compare(tensor(eager), truth, STRICT) is None
    elsewhere = eager.copy()
    elsewhere[0, 2] = 0.5
    assert compare(tensor(elsewhere), truth, STRICT) is not None


def test_nan_and_infinity_agree_only_in_place_and_sign() -> None:
    want = np.array([[np.nan, np.inf, -np.inf, 1.0] * 16], np.float32)
    assert compare(tensor(want), expected(want), STRICT) is None
    for wrong in (np.roll(want, 1, axis=1), -want, np.zeros_like(want), np.full_like(want, np.nan)):
        assert compare(tensor(wrong), expected(want), STRICT) is not None


def test_an_infinite_expected_value_allows_no_finite_one() -> None:
    want = np.full((2, 32), np.inf, np.float32)
    for tolerance in Tolerance:
        assert compare(tensor(np.zeros_like(want)), expected(want), tolerance) is not None


def test_overflow_of_the_dtype_is_right_where_float64_still_holds_the_value() -> None:
    exact = np.full((1, 64), 1e39)
    with np.errstate(over="ignore"):
        eager = exact.astype(np.float32)
    assert compare(tensor(eager), expected(eager, exact), STRICT) is None


def test_not_finite_numbers_are_counted_apart() -> None:
    want = np.ones((2, 64), np.float32)
    got = want.copy()
    got[1, 5:9] = np.nan
    found = compare(tensor(got), expected(want), STRICT)
    assert found is not None
    assert found.text == (
        "4/128 mismatched (3.12%), max_abs=inf, max_rel=inf, "
        "Bounding box: output[1:2, 5:9], 4 not finite where the reference is"
    )


def test_integers_and_bools_are_exact_under_every_rule() -> None:
    for dtype in (np.int64, np.uint8, np.bool_):
        want = np.array([1, 0, 1], dtype)
        got = np.array([1, 1, 1], dtype)
        for tolerance in Tolerance:
            assert compare(tensor(want), expected(want), tolerance) is None
            assert compare(tensor(got), expected(want), tolerance) is not None


def test_complex_numbers_are_judged_by_both_parts() -> None:
    want = np.full((2, 32), 1 + 2j, np.complex64)
    got = want.copy()
    got[1, 3] += 0.01j
    found = compare(tensor(got), expected(want), STRICT)
    assert compare(tensor(want), expected(want), STRICT) is None
    assert found is not None
    assert found.text.startswith("1/64 mismatched")
    assert "output[1:2, 3:4]" in found.text


def test_bfloat16_is_read_and_judged_at_its_own_precision() -> None:
    exact = np.linspace(1, 2, 64).reshape(1, 64)
    eager = bfloat16(exact)
    truth = Expected(eager, tensor(exact))
    assert compare(eager, truth, STRICT) is None
    assert compare(bfloat16(exact * 1.05), truth, STRICT) is not None


def test_a_python_float_is_judged_as_a_float32() -> None:
    assert compare(1.0 + 1e-7, Expected(1.0, 1.0), STRICT) is None
    assert compare(1.01, Expected(1.0, 1.0), STRICT) is not None
    assert compare(float("nan"), Expected(1.0, None), STRICT) is not None


def test_empty_outputs_agree() -> None:
    empty = np.zeros((0, 5), np.float32)
    assert compare(tensor(empty), expected(empty), STRICT) is None


def test_a_long_row_is_compared_in_pieces_without_losing_an_element() -> None:
    want = np.ones(200_003, np.float32)
    for place in (0, 32_767, 32_768, 200_002):
        got = want.copy()
        got[place] = 1.5
        found = compare(tensor(got), expected(want), STRICT)
        assert found is not None
        assert f"output[{place}:{place + 1}]" in found.text


@pytest.mark.parametrize(
    ("tolerance", "dtype", "length", "relative"),
    [
        (Tolerance.STRICT, "float32", 1, 1e-5),
        (Tolerance.STRICT, "float32", 16, 4e-5),
        (Tolerance.STRICT, "float32", 10**6, 1e-4),
        (Tolerance.STRICT, "float16", 10**6, 1e-3),
        (Tolerance.STRICT, "bfloat16", 1, 1e-2),
        (Tolerance.OFFICIAL, "float32", 10**6, 1e-4),
        (Tolerance.OFFICIAL, "bfloat16", 1, 1e-2),
        (Tolerance.EVOKERNEL, "float32", 1, 1e-2),
    ],
)
def test_each_rule_has_its_figures(
    tolerance: Tolerance, dtype: str, length: int, relative: float
) -> None:
    allowance = allowance_for(tolerance, dtype, reduction_length=length)
    assert allowance.relative == pytest.approx(relative)
