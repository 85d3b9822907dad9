"""Reads a task file without running it: what can be said from its text alone.

The trusted process never executes a task. It parses the file, looks for the names that make it a
task, and looks whether the modules that it imports exist on this machine.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from kernelwright.core.errors import TaskInvalid, UsageMistake

_NEEDED = ("Model", "get_inputs")
_EXAMPLE = "see examples/tasks/softmax.py for the smallest task"
_MOST_BYTES = 4 << 20


def read_source(path: Path) -> str:
    """Return the text of a task file.

    Raises:
        UsageMistake: if there is no such file.
        TaskInvalid: if it is no UTF-8 text or larger than 4 MiB.
    """
    if not path.is_file():
        raise UsageMistake(f"there is no file {path}", fix=_nearby(path))
    data = path.read_bytes()
    if len(data) > _MOST_BYTES:
        raise TaskInvalid(
            f"{len(data)} bytes are too many for a task file",
            path=str(path),
            fix="keep weights and data out of the file",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data[: fault.start].count(b"\n") + 1
        raise TaskInvalid(
            "this is no UTF-8 text", path=str(path), line=line, fix="save the file as UTF-8"
        ) from fault


def check_source(source: str, *, path: str) -> ast.Module:
    """Return the parsed task, after checking everything that its text shows.

    Raises:
        TaskInvalid: for a syntax error, a missing `Model` or `get_inputs`, a `Model` that is no
            class, or an import that is not installed.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as fault:
        line = fault.lineno if isinstance(fault, SyntaxError) else None
        what = fault.msg if isinstance(fault, SyntaxError) else str(fault)
        raise TaskInvalid(
            f"syntax error: {what}", path=path, line=line, fix="correct the line"
        ) from fault
    _check_names(tree, path)
    for module, line in _imports(tree):
        _check_import(module, line, path)
    return tree


def defined_names(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return what a module's top level binds, also inside `if` and `try`, by name."""
    names: dict[str, ast.stmt] = {}
    for statement in _statements(tree.body):
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names[statement.name] = statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                names[alias.asname or alias.name.partition(".")[0]] = statement
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                for node in ast.walk(target):
                    if isinstance(node, ast.Name):
                        names[node.id] = statement
    return names


def _check_names(tree: ast.Module, path: str) -> None:
    names = defined_names(tree)
    for needed in _NEEDED:
        if needed not in names:
            close = difflib.get_close_matches(needed, names, n=1, cutoff=0.6)
            line = names[close[0]].lineno if close else None
            hint = f"; did you mean {close[0]!r}?" if close else ""
            kind = "class Model(nn.Module)" if needed == "Model" else "function get_inputs()"
            raise TaskInvalid(
                f"there is no {needed}{hint}",
                path=path,
                line=line,
                fix=f"define a {kind}; {_EXAMPLE}",
            )
    model = names["Model"]
    if isinstance(model, (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise TaskInvalid(
            "Model is a function",
            path=path,
            line=model.lineno,
            fix="make it a class that inherits from torch.nn.Module",
        )


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for part in ("body", "orelse", "finalbody"):
            inner = getattr(statement, part, None)
            if inner and isinstance(statement, (ast.If, ast.Try, ast.With)):
                yield from _statements(inner)


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield (top-level module, line) of each import that must succeed: not those in a `try`."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield alias.name.partition(".")[0], statement.lineno
        elif isinstance(statement, ast.ImportFrom):
            if statement.level or not statement.module:
                yield "." * statement.level, statement.lineno
            else:
                yield statement.module.partition(".")[0], statement.lineno


def _check_import(module: str, line: int, path: str) -> None:
    if module.startswith("."):
        raise TaskInvalid(
            "a task file stands alone and cannot import its neighbours",
            path=path,
            line=line,
            fix="copy what it needs into the file",
        )
    if module in sys.modules or module in sys.builtin_module_names:
        return
    try:
        is_there = importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        is_there = False
    if not is_there:
        raise TaskInvalid(
            f"there is no module {module!r}",
            path=path,
            line=line,
            fix=f"install {module} into the environment of kernelwright, or remove the import",
        )


def _nearby(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder} either; check the path"
    names = [entry.name for entry in folder.glob("*.py")]
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {folder / close[0]}?" if close else "check the path"
