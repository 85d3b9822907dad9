"""Meanings of the primitives, constants that fold, and expressions that have values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernelwright.dsl import LaunchRefused, bind, parse, print_kernel
from kernelwright.dsl.bind import Number, fold
from kernelwright.dsl.builtins import BUILTINS, REDUCTIONS
from kernelwright.dsl.evaluate import evaluate
from kernelwright.dsl.nodes import Apply, Assign, Binary, Expr, Literal, Unary, statements
from kernelwright.dsl.primitive import Kind
from kernelwright.dsl.types import DType
from support.dsl_programs import MAP

A = np.array([[1.5, -2.0, 0.0], [3.0, 4.0, -5.5]], np.float32)
I = np.array([[1, -2, 0], [3, 4, -5]], np.int32)  # noqa: E741


def meaning(name: str, *operands: object, **keywords: object) -> np.ndarray:
    function = BUILTINS[name].meaning
    assert function is not None
    return np.asarray(function(*operands, **keywords))


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("relu", (A,), np.maximum(A, 0)),
        ("round", (np.array([0.5, 1.5, -0.5], np.float32),), [0.0, 2.0, -0.0]),
        ("rsubs", (np.float32(1), A), 1 - A),
        ("rdivs", (np.float32(1), A + 9), 1 / (A + 9)),
        ("clamp", (A, np.float32(-1), np.float32(2)), np.clip(A, -1, 2)),
        ("leaky_relu", (A, np.float32(0.5)), np.where(A > 0, A, A / 2)),
        ("axpy", (A, A, np.float32(2)), 3 * A),
        ("shl", (I, 2), I * 4),
        ("shr", (I, 1), [[0, -1, 0], [1, 2, -3]]),
        ("bitnot", (I,), -I - 1),
        ("select", (A > 0, A, np.float32(7)), np.where(A > 0, A, 7)),
        ("fill", (np.float32(2), 2, 3), np.full((2, 3), 2)),
        ("iota", (3, 4), [3, 4, 5, 6]),
        ("gather", (A[0], np.array([2, 0])), [0.0, 1.5]),
        ("strided", (np.arange(10), 1, 3, 3), [1, 4, 7]),
        ("transpose", (A,), A.T),
    ],
)
def test_a_primitive_means_what_its_row_says(
    name: str, operands: tuple[object, ...], expected: object
) -> None:
    np.testing.assert_allclose(meaning(name, *operands), np.asarray(expected), rtol=1e-6)


@pytest.mark.parametrize("op", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_a_comparison_gives_truth_values(op: str) -> None:
    found = meaning("cmp", A, np.float32(0), op=op)
    words = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
             "eq": "equal", "ne": "not_equal"}  # fmt: skip
    np.testing.assert_array_equal(found, getattr(np, words[op])(A, 0))
    assert found.dtype == bool


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_keeps_the_axis_or_gives_a_scalar(name: str) -> None:
    function = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}[name[7:]]
    np.testing.assert_allclose(meaning(name, A, axis=1), function(A, axis=1, keepdims=True))
    np.testing.assert_allclose(meaning(name, A, axis=0), function(A, axis=0, keepdims=True))
    np.testing.assert_allclose(meaning(name, A), function(A))
    assert meaning(name, A).dtype == np.float32


@pytest.mark.parametrize(("name", "function"), [("cumsum", np.cumsum), ("cumprod", np.cumprod)])
def test_a_scan_of_two_tiles_is_the_scan_of_the_whole(name: str, function: object) -> None:
    assert callable(function)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 9)).astype(np.float32)
    scan = BUILTINS[name].meaning
    assert scan is not None
    first, nothing = scan(x[:, :5], axis=1)
    assert nothing is None
    start = np.full((2, 1), 0.0 if name == "cumsum" else 1.0, np.float32)
    first, carry = scan(x[:, :5], axis=1, carry=start)
    second, last = scan(x[:, 5:], axis=1, carry=carry)
    whole = function(x.astype(np.float64), axis=1)
    np.testing.assert_allclose(np.concatenate([first, second], axis=1), whole, rtol=1e-5)
    np.testing.assert_allclose(last, whole[:, -1:], rtol=1e-5)


def test_functions_of_the_c_library_agree_at_single_points() -> None:
    np.testing.assert_allclose(meaning("erf", A), np.vectorize(math.erf)(A), rtol=1e-6)
    phi = 0.5 * (1 + np.vectorize(math.erf)(A.astype(float) / math.sqrt(2)))
    np.testing.assert_allclose(meaning("gelu", A), A * phi, rtol=1e-6)
    np.testing.assert_allclose(meaning("sigmoid", A * 9), 1 / (1 + np.exp(-A * 9.0)), atol=1e-7)
    assert meaning("sigmoid", np.float32([-1e4])) == 0


def test_every_row_has_a_sentence_a_call_and_a_meaning() -> None:
    without = {"load", "store", "store_add", "cast"}
    for row in BUILTINS.values():
        assert row.doc.endswith(".")
        assert row.cpp
        assert (row.meaning is None) == (row.name in without)
        assert row.dtypes
        optional = [slot.is_optional for slot in row.slots]
        assert optional == sorted(optional), "optional operands come last"
        assert row.slots[0].kind is not Kind.CARRY


# --- folding and evaluation ----------------------------------------------------------------------


def expression(text: str) -> Expr:
    source = MAP.replace("        for c", f"        v = {text}\n        for c")
    program = parse(source).program
    assert program is not None, parse(source).found
    item = next(item for item in statements(program.kernels[0].body) if isinstance(item, Assign))
    return item.value


NAMES: dict[str, Number] = {"R": 7, "C": 3, "r": 2, "TILE": 64, "tl.num_cores": 5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("R // C + R % C", 3),
        ("-R // C", -3),
        ("(0 - R) % C", 2),
        ("R / 2", 3.5),
        ("tl.min(R, C, 5)", 3),
        ("tl.max(R, 1.5)", 7),
        ("tl.abs(C - R)", 4),
        ("tl.abs(1.5 - R)", 5.5),
        ("tl.cdiv(R, C)", 3),
        ("tl.align_up(R, C)", 9),
        ("tl.align_down(R, C)", 6),
        ("tl.sqrt(C + 1)", 2.0),
        ("tl.exp(0.0) + tl.log(1.0)", 1.0),
        ("tl.num_cores() * 2", 10),
        ("R < C", False),
        ("not R < C and R != C", True),
        ("R < C or R >= 7", True),
    ],
)
def test_an_expression_has_the_value_that_python_gives(text: str, value: Number) -> None:
    found = evaluate(expression(text), NAMES)
    assert found == value
    assert isinstance(found, bool) == isinstance(value, bool)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R // (C - 3)", "division by zero"),
        ("R % (C - 3)", "division by zero"),
        ("R / (C - 3)", "division by zero"),
        ("tl.cdiv(R, C - 3)", "division by zero"),
        ("tl.sqrt(C - R)", "not defined"),
        ("tl.exp(R * 1000)", "not defined"),
    ],
)
def test_an_expression_without_a_value_refuses_the_launch(text: str, message: str) -> None:
    with pytest.raises(LaunchRefused, match=message):
        evaluate(expression(text), NAMES)


def test_a_name_without_a_value_refuses_the_launch() -> None:
    with pytest.raises(LaunchRefused, match="R has no value"):
        evaluate(expression("R + 1"), {})


def number(value: int) -> Literal:
    return Literal(value, DType.I64)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (Binary("+", number(2), number(3), DType.I64), 5),
        (Binary("//", number(-7), number(2), DType.I64), -4),
        (Binary("%", number(-7), number(2), DType.I64), 1),
        (Unary("-", number(2), DType.I64), -2),
        (Apply("max", (number(2), number(9)), DType.I64), 9),
        (Apply("cdiv", (number(7), number(2)), DType.I64), 4),
        (Apply("align_down", (number(7), number(4)), DType.I64), 4),
        (Apply("abs", (number(-7),), DType.I64), 7),
    ],
)
def test_integer_constants_fold(node: Expr, expected: int) -> None:
    assert fold(node) == number(expected)


@pytest.mark.parametrize(
    "node",
    [
        Binary("//", number(1), number(0), DType.I64),
        Binary("/", number(1), number(2), DType.F32),
        Binary("*", number(1 << 62), number(4), DType.I64),
        Apply("cdiv", (number(1), number(0)), DType.I64),
    ],
)
def test_what_has_no_integer_value_is_left_alone(node: Expr) -> None:
    assert fold(node) is node


def test_binding_puts_values_in_place_of_constants() -> None:
    program = parse(MAP.replace("c:c + n]", "c:c + n * (TILE // TILE)]")).program
    assert program is not None
    text = print_kernel(bind(program.kernels[0], {"TILE": 128}))
    assert 'tl.ub(128, "f32", buf=2)' in text
    assert "c:c + n * 1]" in text
    assert 'tl.ub(512, "f32", buf=2)' in print_kernel(bind(program.kernels[0], {}))


def test_binding_without_a_value_or_default_names_the_parameter() -> None:
    program = parse(MAP.replace("tl.const = 512", "tl.const")).program
    assert program is not None
    with pytest.raises(KeyError, match="TILE"):
        bind(program.kernels[0], {})
