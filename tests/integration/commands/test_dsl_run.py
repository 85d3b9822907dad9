"""`dsl run` with compiled C++: built by the toolchain, called in the sandbox, compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.backends.cpu.program import call_lowered
from kernelwright.backends.cpu.toolchain import Toolchain
from kernelwright.cli.app import run
from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category
from kernelwright.dsl import check_file
from kernelwright.dsl.lower import CppFiles, lower_cpp
from kernelwright.sandbox import Limits, Sandbox

EXAMPLES = Path(__file__).parents[3] / "examples" / "dsl"


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> dict[str, Any]:
    assert run(["dsl", "run", *words, "--json"]) == status
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_cpu_and_interpreter_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "y.npz"
    words = ["--inputs", "x=5x700", "--set", "TILE=128", "--cores", "2", "--compare"]
    answer = said(capsys, str(EXAMPLES / "softmax.py"), *words, "--out", str(out))
    assert [item["on"] for item in answer["runs"]] == ["interpreter", "cpu"]
    (found,) = answer["differences"]
    assert found["name"] == "y"
    assert found["count"] == 3500
    assert found["unlike"] == 0
    assert 0 < found["largest"] < 1e-6
    assert 0 < found["largest_ulp"] < 64
    assert answer["runs"][1]["counters"] is None
    assert answer["runs"][1]["wall_s"] > 0
    with np.load(out) as saved:  # what the interpreter says is what is kept
        assert float(saved["y"].max()) == answer["runs"][0]["outputs"][0]["max"]


def test_the_cpu_alone_tells_how_long_and_by_which_compiler(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [str(EXAMPLES / "maxpool.py"), "--inputs", "x=2x3x9x12:special", "--on", "cpu"]
    assert run(["dsl", "run", *words]) == 0
    captured = capsys.readouterr()
    assert "maxpool2d on cpu, 1 core" in captured.out
    assert "2x3x9x12" in captured.out
    assert "wall time" in captured.out
    assert "compiled by " in captured.err


def test_the_compiled_program_refuses_what_the_interpreter_refuses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [str(EXAMPLES / "layernorm.py"), "--inputs", "R=2,C=9000", "--on", "cpu"]
    answer = said(capsys, *words, status=1)
    fault = answer["runs"][0]["fault"]
    assert fault["code"] == "E702"
    line = (EXAMPLES / "layernorm.py").read_text().splitlines()[fault["line"] - 1]
    assert "tl.check(" in line


# --- code that does what printed code never does --------------------------------------------------


def broken(old: str, new: str) -> CppFiles:
    program = check_file(EXAMPLES / "gelu.py").program
    assert program is not None
    lowered = lower_cpp(program, "gelu")
    text = lowered.files["kernel.cpp"]
    assert old in text
    return CppFiles({"kernel.cpp": text.replace(old, new, 1)}, lowered.signature)


def called(lowered: CppFiles, tmp_path: Path) -> Any:
    x = np.ones((2, 5), np.float32)
    limits = Limits(wall_s=3.0, cpu_s=3.0, memory_bytes=2 << 30, processes=1)
    with Sandbox(warm=(), threads=1) as sandbox:
        toolchain = Toolchain(sandbox, cache_file=tmp_path / "toolchain.json")
        return call_lowered(lowered, [x], sandbox=sandbox, toolchain=toolchain, limits=limits)


ENTRY = 'extern "C" void gelu_host(const float* u_x, float* out0, int64_t u_A, int64_t u_B) {'


@pytest.mark.parametrize(
    ("body", "category"),
    [
        ("*(volatile int*)nullptr = 1;", Category.CRASH),
        ("for (volatile bool on = true; on;) {}", Category.TIMEOUT),
        ("exit(0);", Category.CRASH),
        ("not C++", Category.COMPILE_ERROR),
    ],
)
def test_a_crash_is_a_value_and_harms_nothing(
    body: str, category: Category, tmp_path: Path
) -> None:
    answer = called(broken(ENTRY, f"{ENTRY}\n  {body}"), tmp_path)
    assert isinstance(answer, Failure)
    assert answer.category is category


def test_the_compiled_program_sees_no_file_of_the_user(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    body = f'if (FILE* f = fopen("{secret}", "r")) {{ fclose(f); out0[0] = 7; return; }}'
    lowered = broken(ENTRY, f"{ENTRY}\n  {body}")
    text = "#include <cstdio>\n" + lowered.files["kernel.cpp"]
    answer = called(CppFiles({"kernel.cpp": text}, lowered.signature), tmp_path)
    assert answer.tensors["out0"][0, 0] == pytest.approx(0.8413447)
