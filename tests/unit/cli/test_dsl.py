"""The language's commands: a verdict for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.cli.app import run

EXAMPLES = Path(__file__).parents[3] / "examples" / "dsl"
WRONG = (EXAMPLES / "softmax.py").read_text().replace("x[r, c:c + n]", "x[r, c:c + TILE]", 1)


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_accepted(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["dsl", "check", str(example), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_a_wrong_program_is_refused_with_code_place_and_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    assert run(["dsl", "check", str(file), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    first = said["diagnostics"][0]
    assert said["ok"] is False
    assert first["code"] == "E303"
    assert WRONG.splitlines()[first["line"] - 1].strip() == "tl.load(x_ub, x[r, c:c + TILE])"
    assert {"code", "severity", "file", "line", "col", "message", "fix"} <= set(first)


def test_the_text_shows_the_line_and_a_caret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    run(["dsl", "check", str(file)])
    text = capsys.readouterr().out
    assert "E303" in text
    assert "^" in text
    assert "fix:" in text


def test_a_code_is_explained_and_an_unknown_one_is_a_mistake(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["dsl", "explain", "E303"]) == 0
    assert "right:" in capsys.readouterr().out
    assert run(["dsl", "explain", "E999"]) == 2
    assert "E303" in capsys.readouterr().err


def test_a_missing_file_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["dsl", "check", "there-is-no-such-file.py"]) == 2
    assert "fix:" in capsys.readouterr().err
