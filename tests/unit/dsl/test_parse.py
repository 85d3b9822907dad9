"""What the parser makes of source text."""

from __future__ import annotations

import pytest

from kernelwright.dsl import parse, print_program
from kernelwright.dsl.nodes import Assign, For, Literal, Op, Region, Tiles, View, statements
from kernelwright.dsl.types import DType, Name
from support.dsl_programs import HEAD, MAP


def codes(text: str) -> list[str]:
    return [item.code for item in parse(text).found]


def test_names_print_mangled_so_that_no_target_can_capture_them() -> None:
    assert f"{Name('n')}" == "u_n"
    assert Name("n").text == "n"


def test_a_tile_loop_gives_an_offset_and_a_length() -> None:
    program = parse(MAP).program
    assert program is not None
    loops = [item for item in statements(program.kernels[0].body) if isinstance(item, For)]
    over = loops[1].over
    assert isinstance(over, Tiles)
    assert (over.offset.text, over.length.text, over.is_per_core) == ("c", "n", False)


def test_positions_are_one_based_and_not_part_of_equality() -> None:
    program = parse(MAP).program
    moved = parse(MAP.replace("\n\n\n", "\n\n\n\n\n")).program
    assert program == moved
    assert program is not None
    assert program.kernels[0].buffers[0].at.line == 6
    assert program.kernels[0].buffers[0].at.col == 12


def test_a_column_counts_characters_not_bytes() -> None:
    text = MAP.replace("tl.exp(y_ub, x_ub)", 'tl.compute("é") + tl.expp(y_ub, x_ub)')
    (found,) = parse(text).found
    assert found.at.col == 17


def test_a_broken_definition_is_one_error_not_one_a_use() -> None:
    text = MAP.replace('y_ub = tl.ub(TILE, "f32", buf=2)', 'y_ub = tl.ub(TILE, "f33", buf=2)')
    assert codes(text) == ["E401"]


def test_an_augmented_assignment_is_an_assignment() -> None:
    text = MAP.replace("        for c", "        s = 1\n        s += 2\n        for c")
    program = parse(text).program
    assert program is not None
    assert "s = s + 2" in print_program(program)


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("1 + 2 * r", "1 + 2 * r"),
        ("(1 + 2) * r", "(1 + 2) * r"),
        ("r - (1 - r)", "r - (1 - r)"),
        ("(r - 1) - r", "r - 1 - r"),
        ("-(r)", "-r"),
        ("-(3)", "-3"),
        ("-(-r)", "--r"),
        ("r // 2 % 3", "r // 2 % 3"),
        ("r // (2 % 3)", "r // (2 % 3)"),
        ("tl.min(r, C, 3)", "tl.min(r, C, 3)"),
        ("tl.cdiv(r, 3) * 2", "tl.cdiv(r, 3) * 2"),
        ("r * -1", "r * -1"),
    ],
)
def test_an_expression_prints_with_the_fewest_parentheses(written: str, printed: str) -> None:
    text = MAP.replace("        for c", f"        v = {written}\n        for c")
    program = parse(text).program
    assert program is not None
    source = print_program(program)
    assert f"v = {printed}\n" in source
    assert parse(source).program == program


@pytest.mark.parametrize(
    "condition",
    [
        "r < C",
        "not r < C",
        "r < C and C < R or r == 0",
        "(r < C or r > 2) and not (r == 1 or C == 2)",
    ],
)
def test_a_condition_survives_printing(condition: str) -> None:
    text = MAP.replace(
        "        for c", f"        if {condition}:\n            v = 1\n        for c"
    )
    program = parse(text).program
    assert program is not None
    assert parse(print_program(program)).program == program


def test_a_chained_comparison_is_a_conjunction() -> None:
    text = MAP.replace("        for c", "        if 0 <= r < C:\n            v = 1\n        for c")
    program = parse(text).program
    assert program is not None
    assert "if 0 <= r and r < C:" in print_program(program)


def test_constants_of_the_file_become_their_values() -> None:
    text = MAP.replace("@tl.kernel", "HALF = 0.5\n\n\n@tl.kernel").replace(
        "tl.exp(y_ub, x_ub)", "tl.muls(y_ub, x_ub, HALF)"
    )
    program = parse(text).program
    assert program is not None
    op = next(item for item in statements(program.kernels[0].body) if isinstance(item, Op))
    assert op.operands[1] == Literal(0.5, DType.F32)


def test_an_inline_call_captures_nothing_of_its_caller() -> None:
    text = MAP.replace(
        "@tl.kernel",
        "@tl.inline\ndef f(d, s):\n    n = s + 1.0\n    tl.muls(d, d, n)\n\n\n@tl.kernel",
    ).replace("tl.exp(y_ub, x_ub)", "tl.exp(y_ub, x_ub)\n                f(y_ub, n)")
    program = parse(text).program
    assert program is not None
    assigned = [item for item in statements(program.kernels[0].body) if isinstance(item, Assign)]
    assert [item.name.text for item in assigned] == ["f_1_n"]
    assert "f_1_n = n + 1.0" in print_program(program)


def test_an_inline_function_that_calls_itself_is_refused() -> None:
    text = MAP.replace("@tl.kernel", "@tl.inline\ndef f(d):\n    f(d)\n\n\n@tl.kernel").replace(
        "tl.exp(y_ub, x_ub)", "f(y_ub)"
    )
    assert codes(text) == ["E100"]


def test_an_index_without_ends_is_the_whole_dimension() -> None:
    text = MAP.replace("x[r, c:c + n]", "x[r, :]")
    program = parse(text).program
    assert program is not None
    assert "x[r, 0:C]" in print_program(program)


def test_a_slice_of_a_buffer_keeps_open_ends() -> None:
    text = MAP.replace("tl.exp(y_ub, x_ub)", "tl.exp(y_ub, x_ub[:n])")
    program = parse(text).program
    assert program is not None
    region = [item for item in statements(program.kernels[0].body) if isinstance(item, Region)][1]
    (op,) = region.body
    assert isinstance(op, Op)
    assert isinstance(op.operands[0], View)
    assert "x_ub[:n]" in print_program(program)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "x = (",
        "é" * 10,
        "def f(:\n",
        "(" * 500,
        "x = " + "-" * 2000 + "1",
        "x = 1" + "0" * 5000,
        HEAD,
        "@tl.kernel\ndef k():\n    pass\n",
        MAP.replace("def k", "async def k"),
        MAP.replace("exp", "exp" * 1000),
        MAP + "class A: pass",
        "lambda: 0",
        "\udcff",
    ],
    ids=range(15),
)
def test_no_text_gives_a_traceback(text: str) -> None:
    parsed = parse(text)
    assert (parsed.program is None) == bool(parsed.found)
    for item in parsed.found:
        assert item.code in {"E100", "E102", "E103", "E104"}
        item.to_text("f.py", parsed.source.lines)
