"""The caps that keep every file readable; ruff has those on functions, complexity and lines."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "kernelwright"
MODULES = sorted(SOURCE.rglob("*.py"))
HEADERS = sorted((SOURCE / "emulator").rglob("*.h"))

MODULE_LINES = 400
HEADER_LINES = 220
CLASS_LINES = 200
POSITIONAL_ARGUMENTS = 5
VAGUE_NAMES = {"utils", "util", "helpers", "common", "manager", "service", "base", "misc"}


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def place(path: Path, node: ast.stmt) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def test_there_is_something_to_check() -> None:
    assert len(MODULES) > 10


def test_no_module_is_longer_than_its_cap() -> None:
    long = {str(path.relative_to(ROOT)): lines_of(path) for path in MODULES}
    assert {name: count for name, count in long.items() if count > MODULE_LINES} == {}


def test_no_emulator_header_is_longer_than_its_cap() -> None:
    assert [path.name for path in HEADERS if lines_of(path) > HEADER_LINES] == []


def test_no_class_is_longer_than_its_cap() -> None:
    long = [
        f"{place(path, node)} {node.name}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and (node.end_lineno or 0) - node.lineno >= CLASS_LINES
    ]
    assert long == []


def test_no_function_takes_more_positional_arguments_than_one_can_remember() -> None:
    many = []
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if path.parent.name == "cli" and node.name.endswith("_command"):
                    continue  # one parameter an option: typer reads the signature
                if path.match("synth/aten_*.py"):
                    continue  # an operator's signature is PyTorch's
                names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
                names = names[1:] if names[:1] in (["self"], ["cls"]) else names
                if len(names) > POSITIONAL_ARGUMENTS:
                    many.append(f"{place(path, node)} {node.name}({', '.join(names)})")
    assert many == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if VAGUE_NAMES & {part.removesuffix(".py") for part in path.relative_to(SOURCE).parts}
    ]
    assert vague == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    tree = parsed(path)
    assert ast.get_docstring(tree), "a module starts with a docstring"


def test_the_frame_stays_a_frame_and_mini_stays_mini() -> None:
    assert lines_of(ROOT / "mini" / "mini.py") <= 300
