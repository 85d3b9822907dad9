"""Extreme programs get an answer, soon, and never a traceback."""

from __future__ import annotations

import random
import time

import pytest

from kernelwright.dsl import apply_fix, check_source
from kernelwright.dsl.importer import import_dialect
from support.dsl_programs import HEAD, MAP

DEEP_INLINE = (
    HEAD
    + "".join(
        f"@tl.inline\ndef f{i}(d, s):\n    f{i + 1}(d, {'(' * 60}s{'+1.0)' * 60})\n\n\n"
        for i in range(7)
    )
    + "@tl.inline\ndef f7(d, s):\n    tl.muls(d, d, s)\n\n\n"
    + MAP.removeprefix(HEAD).replace("tl.exp(y_ub, x_ub)", "f0(y_ub, 1.0)")
)


@pytest.mark.parametrize(
    "text",
    [
        MAP.replace("R, C]", f"R, {'-' * 3000}C]", 1),
        DEEP_INLINE,
        MAP.replace("tl.exp(y_ub, x_ub)", f"tl.muls(y_ub, x_ub, {'(' * 90}1.0{')' * 90})"),
        MAP.replace("tl.exp(y_ub, x_ub)", f"tl.muls(y_ub, x_ub, {'-' * 300}1.0)"),
    ],
    ids=["dimension", "inline", "parentheses", "signs"],
)
def test_deep_nesting_is_answered(text: str) -> None:
    result = check_source(text)
    assert result.is_ok or {item.code for item in result.diagnostics} == {"E100"}


def test_a_large_product_takes_no_time() -> None:
    factors = "*".join(["(R + C + r + 1)"] * 15)
    text = MAP.replace("        for c", f"        q = {factors}\n        for c")
    start = time.process_time()
    assert check_source(text).is_ok
    assert time.process_time() - start < 2.0


def test_a_thousand_operations_are_checked_in_seconds() -> None:
    line = "                tl.exp(y_ub, x_ub)\n"
    text = MAP.replace(line, line * 1000)
    start = time.process_time()
    assert check_source(text).is_ok
    assert time.process_time() - start < 10.0


def test_a_fix_of_a_statement_over_several_lines_joins_it() -> None:
    text = MAP.replace(
        "            with tl.compute():\n                tl.exp(y_ub, x_ub)",
        "            tl.exp(\n                y_ub,\n                x_ub,\n            )",
    )
    (found,) = check_source(text).diagnostics
    assert found.code == "E201"
    fixed = apply_fix(text, found.fix)
    assert check_source(fixed).is_ok, fixed


def test_an_importer_answers_any_text() -> None:
    rng = random.Random(5)
    base = (
        "def k(x_ptr, n, t: tl.constexpr):\n    b = tl.alloc_ub(t, dtype=tl.float32)\n"
        "    for i in range(n):\n        with tl.copyin():\n"
        "            tl.load(x_ptr + i * t + tl.arange(0, t), b)\n        with tl.compute():\n"
        "            tl.vadd_scalar(b, b, 1.0)\n            tl.reduce_sum(b, b, b)\n"
        "        s = tl.extract_scalar(b, 0)\n"
    )
    for _ in range(150):
        cut = rng.randrange(len(base))
        text = (
            base[:cut]
            + rng.choice(["", "(", "b", "1", ", ", "*", " + "])
            + base[cut + rng.randrange(4) :]
        )
        imported = import_dialect(text)
        assert imported.result is not None or imported.notes
