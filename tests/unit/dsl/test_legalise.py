"""Composed operations as basic ones: the same values, with the scratch that is counted."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from kernelwright.dsl import Legal, check_source, legalised
from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.cast import DIRECT, cast_chain
from kernelwright.dsl.nodes import Op, statements
from kernelwright.dsl.recipes import RECIPES
from kernelwright.dsl.types import DType
from support.dsl_programs import MAP

POINTS = np.concatenate([
    np.linspace(-6.0, 6.0, 4001), np.array([0.0, 1e-30, -1e-30, 1e-7, -1e-7, 88.0, -88.0, 100.0]),
]).astype(np.float32)  # fmt: skip
SCALARS = {"s": np.float32(1.7), "lo": np.float32(-0.5), "hi": np.float32(0.75)}


def run_recipe(name: str, a: np.ndarray, *, in_place: bool) -> np.ndarray:
    """Execute a recipe's text on f32 arrays, one basic operation after another."""
    memory: dict[str, np.ndarray] = {"a": a.copy()}
    place = {"d": "a"} if in_place else {}

    def value(node: ast.expr) -> object:
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)  # type: ignore[operator]
        if isinstance(node, ast.Constant):
            return np.float32(node.value)
        assert isinstance(node, ast.Name)
        return SCALARS[node.id] if node.id in SCALARS else memory[place.get(node.id, node.id)]

    for step in RECIPES[name]:
        call = ast.parse(step, mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        dest, *operands = call.args
        assert isinstance(dest, ast.Name)
        values = [value(item) for item in operands]
        if call.func.id == "fill":
            result = np.full(a.shape, values[0], np.float32)
        else:
            meaning = BUILTINS[call.func.id].meaning
            assert meaning is not None
            with np.errstate(all="ignore"):
                result = np.asarray(meaning(*values), np.float32)
        memory[place.get(dest.id, dest.id)] = result
    return memory[place.get("d", "d")]


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_computes_what_its_operation_means(name: str, in_place: bool) -> None:
    a = np.abs(POINTS) + np.float32(1e-3) if name == "rsqrt" else POINTS
    meaning = BUILTINS[name].meaning
    assert meaning is not None
    given = [a if slot.name == "a" else SCALARS[slot.name] for slot in BUILTINS[name].slots]
    with np.errstate(all="ignore"):
        expected = np.asarray(meaning(*given), np.float64)
    found = run_recipe(name, a, in_place=in_place).astype(np.float64)
    finite = np.isfinite(expected)
    assert np.array_equal(finite, np.isfinite(found))
    # erf is good to 1e-6 absolute; the others round a few times.
    np.testing.assert_allclose(found[finite], expected[finite], rtol=2e-6, atol=1e-6)


def test_a_recipe_of_erf_agrees_with_the_c_library() -> None:
    found = run_recipe("erf", POINTS, in_place=True)
    expected = [math.erf(float(value)) for value in POINTS]
    assert float(np.abs(found - expected).max()) < 1e-6


def test_a_recipe_uses_as_many_temporaries_as_the_table_says() -> None:
    for name, steps in RECIPES.items():
        used = {
            part for step in steps for part in step.replace("(", ",").replace(")", ",").split(",")
        }
        scratch = {
            part.strip() for part in used if part.strip()[:1] == "t" and part.strip()[1:].isdigit()
        }
        assert len(scratch) == len(BUILTINS[name].temporaries), name
        assert not {step.split("(")[0] for step in steps} & RECIPES.keys(), name


def legal_of(text: str) -> Legal:
    result = check_source(text)
    assert result.program is not None, result.to_text()
    return legalised(result.program.kernels[0])


def ops(legal: Legal) -> list[str]:
    return [item.name for item in statements(legal.kernel.body) if isinstance(item, Op)]


def test_the_target_s_own_instruction_is_kept_where_the_program_asks_for_it() -> None:
    fast = legal_of(MAP.replace("tl.exp(y_ub, x_ub)", "tl.rsqrt(y_ub, x_ub, fast=True)"))
    assert ops(fast) == ["rsqrt"]
    assert fast.temporaries == ()
    precise = legal_of(MAP.replace("tl.exp(y_ub, x_ub)", "tl.rsqrt(y_ub, x_ub)"))
    assert ops(precise) == ["sqrt", "fill", "div"]
    assert len(precise.temporaries) == 1


def test_operations_of_one_kernel_share_their_temporaries() -> None:
    text = MAP.replace(
        "tl.exp(y_ub, x_ub)", "tl.erf(y_ub, x_ub)\n                tl.erf(y_ub, y_ub)"
    )
    legal = legal_of(text)
    assert len(legal.temporaries) == 3
    assert legal.temporaries[0].users == ("erf in line 13", "erf in line 14")


def test_a_temporary_takes_no_name_of_the_program() -> None:
    text = MAP.replace("x_ub", "tmp0_f32").replace("tl.exp", "tl.rsqrt")
    names = [buffer.name.text for buffer in legal_of(text).kernel.buffers]
    assert len(set(names)) == len(names) == 3


def test_a_byte_becomes_a_float_through_f16() -> None:
    assert cast_chain(DType.U8, DType.F32) == (DType.U8, DType.F16, DType.F32)
    assert cast_chain(DType.BOOL, DType.F32) == (DType.U8, DType.F16, DType.F32)
    text = MAP.replace('x: "f32', 'x: "u8').replace(
        'x_ub = tl.ub(TILE, "f32"', 'x_ub = tl.ub(TILE, "u8"'
    )
    legal = legal_of(text.replace("tl.exp", "tl.cast"))
    assert ops(legal) == ["cast", "cast"]
    assert [item.buffer.dtype for item in legal.temporaries] == [DType.F16]


def test_every_step_of_a_cast_chain_is_one_instruction() -> None:
    types = [item for item in DType if item not in (DType.MASK, DType.BOOL)]
    for source in types:
        for dest in types:
            chain = cast_chain(source, dest)
            if chain is None or source is dest:
                continue
            for one, other in zip(chain, chain[1:], strict=False):
                assert other in DIRECT[one]
