"""Amounts and complaints read the same in every command."""

from __future__ import annotations

import json

import pytest

from kernelwright.cli.app import run
from kernelwright.cli.options import amount
from kernelwright.core.errors import UsageMistake


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64MB", 64_000_000),
        ("1GiB", 1 << 30),
        ("2e9", 2_000_000_000),
        ("500M", 500_000_000),
        ("1.5k", 1500),
        ("4096", 4096),
        (" 3 kib ", 3072),
    ],
)
def test_an_amount_may_carry_a_unit(text: str, value: int) -> None:
    assert amount(text, option="--max-bytes") == value


@pytest.mark.parametrize("text", ["", "zz", "-5", "0", "1e", "5 apples", "1e30"])
def test_what_is_no_amount_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageMistake, match="--max-bytes 64MB"):
        amount(text, option="--max-bytes")


def test_no_amount_is_no_bound() -> None:
    assert amount(None, option="--max-flops") is None


@pytest.mark.parametrize(
    "arguments",
    [
        ["bogus"],
        ["solve"],
        ["solve", "task.py", "--budget", "many"],
        ["solve", "task.py", "--budget", "0"],
        ["solve", "task.py", "--tolerance", "loose"],
        ["solve", "there-is-no-such-file.py"],
        ["solve", "task.py", "--backend", "abacus"],
        ["verify", "task.py", "there-is-no-such-candidate"],
        ["tasks", "list", "there-is-no-such-folder"],
        ["runs", "show", "no-such-run"],
        ["memory", "show", "no-such-item"],
    ],
)
def test_a_mistake_is_two_lines_and_exit_status_two(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    said = capsys.readouterr()
    what, fix = said.err.splitlines()
    assert what.startswith("error: ")
    assert fix.startswith("fix: ")
    assert said.out == ""


def test_with_json_a_mistake_is_also_an_object_on_stdout(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["runs", "show", "no-such-run", "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert said["exit_code"] == 2
    assert "no-such-run" in said["error"]
    assert said["fix"]


@pytest.mark.parametrize(
    "command", [[], ["solve"], ["verify"], ["tasks"], ["runs"], ["memory"], ["doctor"]]
)
def test_every_command_explains_itself(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--help"]) == 0
    assert "Usage: kernelwright" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["solve"], ["verify"], ["doctor"], ["tasks", "list"]])
def test_help_has_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run([*command, "--help"])
    assert f"kernelwright {' '.join(command)}" in capsys.readouterr().out.split("Example", 1)[1]


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("kernelwright 0.")
