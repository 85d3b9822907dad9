"""Snippets of the language page: completed to programs, checked, and run against NumPy.

A mark stands above a `python` block:

    <!-- dsl program NAME.py -->         a whole program, kept in the page's folder; accepted
    <!-- dsl program NAME.py E503 -->    the same, refused with exactly this code
    <!-- dsl kernel -->                  statements of a kernel on rows (see `_KERNEL`); accepted
    <!-- dsl kernel E306 -->             the same, refused
    <!-- dsl compute: NUMPY -->          statements of one compute region on vectors; they run, and
                                         `d` must be what the NumPy expression gives
    <!-- dsl rows: NUMPY -->             the same on tiles of rows, for `D`

What a refused snippet prints is its diagnostics, with the snippet's own lines and columns.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from math import erf
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.dsl import CheckResult, Diagnostic, Severity, check_source
from kernelwright.dsl.interpret import run

HEAD = "import kernelwright.language as tl\n\n\n@tl.kernel\n"
_KERNEL = (
    HEAD
    + """def k(x: "f32[R, C]", g: "f32[C]", y: "f32[R, C]", TILE: tl.const = 1024):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    t_ub = tl.ub(TILE, "f32")
    a_ub = tl.ub(TILE, "f32")
"""
)
_MARK = re.compile(r"(?P<kind>program|kernel|compute|rows)(?: (?P<words>[\w. ]+)|: (?P<numpy>.+))?")


def printed(mark: str, text: str, folder: Path) -> str:
    """Check one snippet; what it prints.

    Raises:
        ValueError: where the mark cannot be read.
        AssertionError: where the snippet is not what its mark says.
    """
    match = _MARK.fullmatch(mark)
    if match is None:
        raise ValueError(f"the mark {mark!r} cannot be read")
    words = (match["words"] or "").split()
    match match["kind"]:
        case "program":
            name, *codes = words
            (folder / name).write_text(text, encoding="utf-8")
            return _checked(check_source(text, file=name), codes)
        case "kernel":
            body = textwrap.indent(text, "    ")
            result = check_source(_KERNEL + body, file="example.py")
            return _checked(result, words, text, _KERNEL.count("\n"), 4)
        case "compute":
            _run_vectors(text, match["numpy"])
        case _:
            _run_rows(text, match["numpy"])
    return ""


def _checked(
    result: CheckResult, codes: list[str], text: str = "", lines: int = 0, columns: int = 0
) -> str:
    found = [item for item in result.diagnostics if item.severity is Severity.ERROR]
    assert [item.code for item in found] == codes, result.to_text() or "it is accepted"
    source = text.split("\n") if text else result.source.lines
    moved = [_moved(item, lines, columns) for item in result.diagnostics]
    return "".join(f"{item.to_text(result.file, source)}\n" for item in moved)


def _moved(item: Diagnostic, lines: int, columns: int) -> Diagnostic:
    at = replace(
        item.at,
        line=item.at.line - lines,
        end_line=item.at.end_line - lines,
        col=item.at.col - columns,
        end_col=item.at.end_col - columns,
    )
    what, numbers = (
        re.sub(r"\bline (\d+)", lambda m: f"line {int(m[1]) - lines}", text)
        for text in (item.what, item.numbers)
    )
    fix = tuple(replace(edit, line=edit.line - lines) for edit in item.fix)
    return replace(item, at=at, what=what, numbers=numbers, fix=fix)


# --- snippets that compute -----------------------------------------------------------------------

_VECTORS = (
    HEAD
    + """def k({params}TILE: tl.const = 256):
{buffers}
    for i, n in tl.core_tiles(N, TILE):
{loads}        with tl.compute():
{body}
        with tl.copyout():
            tl.store(gd[i:i + n], d)
"""
)
_ROWS = (
    HEAD
    + """def k({params}ROWS: tl.const = 8, COLS: tl.const = 64):
    tl.require(C <= COLS)
{buffers}
    for r, nr in tl.core_tiles(R, ROWS):
{loads}        with tl.compute():
{body}
        with tl.copyout():
            tl.store(gD[r:r + nr, 0:C], D)
"""
)
_VECTOR_BUFFERS = {
    "a": 'tl.ub(TILE, "f32")', "b": 'tl.ub(TILE, "f32")', "d": 'tl.ub(TILE, "f32")',
    "t": 'tl.ub(TILE, "f32")', "m": 'tl.ub(TILE, "mask")', "h": 'tl.ub(TILE, "f16")',
    "j": 'tl.ub(TILE, "i32")', "q": 'tl.ub(TILE, "i32")', "c": 'tl.ub(8, "f32")',
}  # fmt: skip
_ROW_BUFFERS = {
    "A": 'tl.ub((ROWS, COLS), "f32")', "B": 'tl.ub((ROWS, COLS), "f32")',
    "D": 'tl.ub((ROWS, COLS), "f32")', "T": 'tl.ub((ROWS, COLS), "f32")',
    "v": 'tl.ub(COLS, "f32")', "col": 'tl.ub((ROWS, 1), "f32")', "row": 'tl.ub((1, COLS), "f32")',
}  # fmt: skip


def _run_vectors(text: str, expected: str) -> None:
    loaded = [name for name in "ab" if re.search(rf"\b{name}\b", text)]
    params = "".join(f'g{name}: "f32[N]", ' for name in [*loaded, "d"])
    loads = [f"tl.load({name}, g{name}[i:i + n])" for name in loaded]
    program = _program(_VECTORS, text, params, loads, _VECTOR_BUFFERS)
    rng = np.random.default_rng(1)
    values = {name: rng.uniform(0.1, 3.0, 1000).astype(np.float32) for name in "ab"}
    _compare(program, "gd", expected, values, loaded)


def _run_rows(text: str, expected: str) -> None:
    loaded = [name for name in "ABv" if re.search(rf"\b{name}\b", text)]
    types = {"A": "R, C", "B": "R, C", "v": "C"}
    params = "".join(f'g{name}: "f32[{types[name]}]", ' for name in loaded) + 'gD: "f32[R, C]", '
    slices = {"A": "r:r + nr, 0:C", "B": "r:r + nr, 0:C", "v": "0:C"}
    loads = [f"tl.load({name}, g{name}[{slices[name]}])" for name in loaded]
    program = _program(_ROWS, text, params, loads, _ROW_BUFFERS)
    rng = np.random.default_rng(1)
    shapes = {"A": (19, 45), "B": (19, 45), "v": (45,)}
    values = {name: rng.uniform(0.1, 3.0, shapes[name]).astype(np.float32) for name in shapes}
    _compare(program, "gD", expected, values, loaded)


def _program(frame: str, text: str, params: str, loads: list[str], buffers: dict[str, str]) -> str:
    used = [name for name in buffers if re.search(rf"\b{name}\b", text)]
    lines = [f"            {line}" for line in loads]
    return frame.format(
        params=params,
        buffers="\n".join(f"    {name} = {buffers[name]}" for name in used),
        loads="        with tl.copyin():\n" + "\n".join(lines) + "\n" if loads else "",
        body=textwrap.indent(text.rstrip("\n"), " " * 12),
    )


def _compare(
    text: str, output: str, expected: str, values: dict[str, Any], loaded: list[str]
) -> None:
    result = check_source(text)
    assert result.program is not None, f"{text}\n{result.to_text()}"
    given = {f"g{name}": values[name] for name in loaded}
    given[output] = np.zeros_like(values["a" if output == "gd" else "A"])
    outcome = run(result.program, "k", given, cores=3, order="interleaved")
    assert outcome.fault is None, outcome.fault.to_text()
    wide = {name: array.astype(np.float64) for name, array in values.items()}
    names = {"np": np, "erf": np.vectorize(erf), **wide}
    wants = np.broadcast_to(eval(expected, names), given[output].shape)
    np.testing.assert_allclose(outcome.tensors[output], wants, rtol=2e-3 if "h" in text else 2e-5)
