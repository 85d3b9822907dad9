"""`dsl run` on the interpreter and `dsl lower`: what they print, save and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.cli.app import run
from kernelwright.dsl.interpret import from_bf16, to_bf16

EXAMPLES = Path(__file__).parents[3] / "examples" / "dsl"
SOFTMAX = str(EXAMPLES / "softmax.py")
MAXPOOL = str(EXAMPLES / "maxpool.py")

HEAD = "import kernelwright.language as tl\n\n\n"
SCALE = (
    HEAD
    + """@tl.kernel
def k(p: "bf16[N] inout", s: tl.f32, TILE: tl.const):
    b_ub = tl.ub(TILE, "bf16")
    x_ub = tl.ub(TILE, "f32")
    o_ub = tl.ub(TILE, "bf16")
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(b_ub, p[i:i + n])
        with tl.compute():
            tl.cast(x_ub, b_ub)
            tl.muls(x_ub, x_ub, s)
            tl.cast(o_ub, x_ub)
        with tl.copyout():
            tl.store(p[i:i + n], o_ub)


@tl.host
def scale(p: "bf16[N] inout", s: tl.f32 = 2.0) -> "bf16[N]":
    k[tl.num_cores()](p, s, TILE=256)
    return p
"""
)
UNWRITTEN = (
    HEAD
    + """@tl.kernel
def k(x: "f32[N]", y: "f32[N]", TILE: tl.const):
    x_ub = tl.ub(TILE, "f32")
    y_ub = tl.ub(TILE, "f32")
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.exp(y_ub, x_ub)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)


@tl.host
def f(x: "f32[N]") -> "f32[N]":
    hole = tl.empty("f32[N]")
    y = tl.empty("f32[N]")
    k[tl.num_cores()](hole, y, TILE=256)
    return y
"""
)


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> dict[str, Any]:
    assert run(["dsl", *words, "--json"]) == status
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_drawn_inputs_give_a_table_of_outputs_and_counters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["dsl", "run", SOFTMAX, "--inputs", "x=4x100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line.split() for line in lines if line.startswith("y "))
    assert row[:3] == ["y", "4x100", "f32"]
    assert row[5:] == ["0.01", "0", "0"]
    assert any(line.split()[-1] == "4,800" for line in lines if "bytes loaded" in line)
    assert any(line.startswith("wall time") for line in lines)


def test_files_go_in_and_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(5).standard_normal((3, 70)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    out = tmp_path / "out.npz"
    words = ["--inputs", str(tmp_path / "x.npy"), "--set", "TILE=64", "--cores", "2"]
    answer = said(capsys, "run", SOFTMAX, *words, "--order", "interleaved", "--out", str(out))
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    with np.load(out) as saved:
        assert saved.files == ["y"]
        np.testing.assert_allclose(saved["y"], e / e.sum(1, keepdims=True), rtol=1e-5)
        (shown,) = answer["runs"][0]["outputs"]
        assert shown["max"] == pytest.approx(saved["y"].max())
    assert (answer["cores"], answer["order"]) == (2, "interleaved")
    assert answer["runs"][0]["counters"]["loaded_bytes"] == 3 * x.nbytes
    assert answer["runs"][0]["fault"] is None


def test_bf16_changed_in_place_is_saved_as_numbers_that_can_go_in_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, first, second = tmp_path / "p.py", tmp_path / "1.npz", tmp_path / "2.npz"
    program.write_text(SCALE)
    p = np.linspace(-3, 3, 300, dtype=np.float32)
    np.save(tmp_path / "p.npy", to_bf16(p))
    said(capsys, "run", str(program), "--inputs", str(tmp_path / "p.npy"), "--out", str(first))
    answer = said(capsys, "run", str(program), "--inputs", f"{first},s=0.5", "--out", str(second))
    assert [item["name"] for item in answer["runs"][0]["outputs"]] == ["p"]
    assert answer["runs"][0]["outputs"][0]["dtype"] == "bf16"
    with np.load(first) as one, np.load(second) as two:
        assert one["p"].dtype == np.float32
        assert np.array_equal(one["p"], 2 * two["p"])
        assert np.array_equal(two["p"], from_bf16(to_bf16(p)))


def test_a_program_that_is_refused_is_shown_as_check_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(Path(SOFTMAX).read_text().replace("c:c + n", "c:c + TILE", 1))
    for command in ("run", "lower"):
        answer = said(capsys, command, str(program), status=1)
        assert answer["ok"] is False
        assert answer["diagnostics"][0]["code"] == "E303"
        assert run(["dsl", command, str(program)]) == 1
        assert "^^^" in capsys.readouterr().out


def test_a_fault_is_shown_with_code_caret_and_the_lines_that_made_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "unwritten.py"
    program.write_text(UNWRITTEN)
    assert run(["dsl", "run", str(program), "--inputs", "N=300", "--cores", "2"]) == 1
    text = capsys.readouterr().out
    assert f"E801 {program}:14:13: undefined data is stored" in text
    assert "  14 |             tl.store(y[i:i + n], y_ub)" in text
    assert "^^^" in text
    assert "made by lines 10, 12, 14" in text
    assert "on core 0" in text
    assert "kernelwright dsl explain E801" in text
    answer = said(capsys, "run", str(program), "--inputs", "N=300", status=1)
    fault = answer["runs"][0]["fault"]
    assert (fault["code"], fault["line"], fault["lines"]) == ("E801", 14, [10, 12, 14])
    assert answer["runs"][0]["outputs"] == []


def test_a_schedule_and_parameters_are_set(capsys: pytest.CaptureFixture[str]) -> None:
    answer = said(capsys, "run", MAXPOOL, "--inputs", "x=1x2x6x9:ones", "--set", "K=4,P=0,TILE=64")
    (shown,) = answer["runs"][0]["outputs"]
    assert shown["shape"] == [1, 2, 3, 6]
    assert (shown["min"], shown["max"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["run", "missing.py"], "missing.py cannot be read"),
        (["run", SOFTMAX], "the shape of x"),
        (["run", SOFTMAX, "--inputs", "x=3"], "E701"),
        (["run", SOFTMAX, "--inputs", "x=3x4", "--set", "TILE=100"], "E702 TILE=100"),
        (["run", SOFTMAX, "--inputs", "x=3x4", "--set", "TILE=640000"], "E301"),
        (["run", SOFTMAX, "--inputs", "x=3x4", "--host", "relu"], "no host function 'relu'"),
        (["run", SOFTMAX, "--inputs", "x=3x4", "--out", "y.txt"], "--out cannot be y.txt"),
        (["run", SOFTMAX, "--inputs", "x=3x4", "--out", "no/such/y.npz"], "cannot be written"),
        (["run", SOFTMAX, "--on", "cpu", "--order", "random"], "--order is for the interpreter"),
        (["lower", SOFTMAX, "--to", "fortran"], "no lowering called 'fortran'"),
    ],
)
def test_a_mistake_ends_with_two_and_a_fix(
    words: list[str], what: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["dsl", *words]) == 2
    captured = capsys.readouterr()
    assert what in captured.err
    assert "fix: " in captured.err
    assert "Traceback" not in captured.err


def test_several_host_functions_need_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "two.py"
    program.write_text(UNWRITTEN + UNWRITTEN[UNWRITTEN.index("\n@tl.host") :].replace("f(x", "g(x"))
    assert run(["dsl", "run", str(program), "--inputs", "N=8"]) == 2
    assert "--host f or --host g" in capsys.readouterr().err
    assert said(capsys, "lower", str(program), "--host", "g")["host"] == "g"


# --- lower ---------------------------------------------------------------------------------------


def test_lowering_prints_cpp_that_names_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["dsl", "lower", SOFTMAX, "--to", "cpp"]) == 0
    text = capsys.readouterr().out
    assert 'extern "C" void softmax_host(' in text
    assert "// @dsl:" in text


def test_lowering_tells_how_the_function_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "lowered"
    answer = said(capsys, "lower", MAXPOOL, "--set", "K=5,P=2", "--out", str(out))
    signature = json.loads((out / "signature.json").read_text())
    assert answer["signature"] == signature
    assert (out / "kernel.cpp").read_text() == answer["files"]["kernel.cpp"]
    assert signature["function"] == "maxpool2d_host"
    assert signature["consts"] == {"K": 5, "P": 2}
    assert [(a["name"], a["role"]) for a in signature["arguments"]] == [
        ("x", "tensor"), ("out0", "output"), ("N", "dim"), ("C", "dim"), ("H", "dim"), ("W", "dim")
    ]  # fmt: skip
    assert signature["arguments"][1]["shape"] == [
        "N",
        "C",
        "H + 2 * P - K + 1",
        "W + 2 * P - K + 1",
    ]
