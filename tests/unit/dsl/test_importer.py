"""Programs of the AscendCraft-style dialect: rewritten, checked, known mistakes flagged."""

from __future__ import annotations

import pytest

from kernelwright.dsl import check_source
from kernelwright.dsl.importer import import_dialect

SOFTMAX = """
import tl

def softmax_kernel(x_ptr, y_ptr, rows_per_core, n_cols, tile_length: tl.constexpr):
    pid = tl.program_id(0)
    x_ub = tl.alloc_ub(tile_length, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile_length, dtype=tl.float32)
    shared_ub = tl.alloc_ub(tile_length, dtype=tl.float32)
    red_ub = tl.alloc_ub(8, dtype=tl.float32)
    for r in range(rows_per_core):
        row = (pid * rows_per_core + r) * n_cols
        with tl.copyin():
            tl.load(x_ptr + row + tl.arange(0, {count}), x_ub)
        with tl.compute():
            tl.reduce_max(red_ub, x_ub, shared_ub)
            m = tl.extract_scalar(red_ub, 0)
            tl.vsub_scalar(y_ub, x_ub, m)
            tl.vexp(y_ub, y_ub, {count})
            tl.reduce_sum(red_ub, y_ub, shared_ub)
            s = tl.extract_scalar(red_ub, 0)
            tl.vmul_scalar(y_ub, y_ub, 1.0 / s)
        with tl.copyout():
            tl.store(y_ptr + row + tl.arange(0, {count}), y_ub)

def softmax(x):
    return softmax_kernel[48](x)
"""


def test_pointers_work_buffers_and_names_are_rewritten() -> None:
    imported = import_dialect(SOFTMAX.format(count="n_cols"))
    text = imported.text
    assert 'x_ptr: "f32[x_ptr_size]"' in text
    assert "tl.load(x_ub, x_ptr[row:row + n_cols])" in text
    assert "tl.store(y_ptr[row:row + n_cols], y_ub)" in text
    assert "m = red_ub_value" in text
    assert "pid = tl.core_id()" in text
    assert "tl.subs(y_ub, x_ub, m)" in text
    assert "shared_ub" not in text
    said = " ".join(note.what for note in imported.notes)
    assert "work buffer shared_ub is dropped" in said
    assert "host function softmax is not imported" in said


def test_an_import_is_checked_as_any_program() -> None:
    imported = import_dialect(SOFTMAX.format(count="n_cols"))
    assert imported.result is not None
    assert {item.code for item in imported.result.diagnostics} == {"E303"}
    facts = (
        "    tl.require(n_cols >= 1 and n_cols <= tile_length)\n"
        "    tl.require(x_ptr_size == tl.num_cores() * rows_per_core * n_cols)\n"
        "    tl.require(y_ptr_size == tl.num_cores() * rows_per_core * n_cols)\n"
        "    tl.require(rows_per_core >= 1)\n    pid ="
    )
    mended = imported.text.replace("    pid =", facts, 1)
    result = check_source(mended)
    assert result.is_ok, result.to_text()


def test_a_whole_tile_at_the_tail_is_flagged() -> None:
    imported = import_dialect(SOFTMAX.format(count="tile_length"))
    assert imported.result is not None
    assert "E303" in {item.code for item in imported.result.diagnostics}
    assert not imported.result.is_ok


def test_a_row_stride_of_whole_tiles_is_flagged() -> None:
    text = SOFTMAX.format(count="n_cols").replace("* n_cols", "* (tile_length * 4)")
    imported = import_dialect(text)
    assert imported.result is not None
    assert "E303" in {item.code for item in imported.result.diagnostics}


@pytest.mark.parametrize(
    "text", ["", "x = (", "def f():\n    tl.load()\n", "def f(p):\n    tl.load(p, 1)\n", "\x00"]
)
def test_any_text_gives_a_result(text: str) -> None:
    imported = import_dialect(text)
    assert imported.result is None or not imported.result.is_ok
    assert imported.notes or imported.result is not None
