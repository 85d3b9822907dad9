"""Who may import whom: the exact table, a row a package.

`.importlinter` holds the layers, which forbid every import upwards; this table is stricter. A new
top-level package fails here until it has a row. Why: docs/adr/0004-import-contracts.md.
"""

from __future__ import annotations

import ast
import configparser
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "kernelwright"

ALL = {
    "artifacts", "backends", "core", "dsl", "emulator", "engine", "generation", "language",
    "llm", "memory", "pool", "sandbox", "search", "store", "synth", "tasks", "verify",
}  # fmt: skip
MAY_IMPORT: dict[str, set[str]] = {
    "cli": {"mcp", "dashboard", "wiring", "engine", "core"},
    "mcp": {"wiring", "engine", "core"},
    "dashboard": {"wiring", "engine", "core"},
    "wiring": ALL,
    "engine": {"core"},
    "search": {"core"},
    "memory": {"core"},
    "verify": {"core"},
    "artifacts": {"core"},
    "generation": {"dsl", "core"},
    "backends": {"dsl", "emulator", "sandbox", "core"},
    "synth": {"dsl", "sandbox", "core"},
    "language": {"dsl", "core"},
    "tasks": {"sandbox", "core"},
    "emulator": {"sandbox", "core"},
    "pool": {"sandbox", "core"},
    "store": {"core"},
    "llm": {"core"},
    "dsl": {"core"},
    "sandbox": {"core"},
    "testing": {"core"},
    "core": set(),
}

RUNS_IN_A_CHILD = (
    "*_host.py",
    "backends/*/runtime/*",
    "sandbox/module_args.py",
    "sandbox/module_result.py",
    "sandbox/run_watch.py",
    "sandbox/torch_tree.py",
    "tasks/inside/*",
)
"""Code that only ever runs in a sandboxed child; paths below the package, as shell patterns."""

TORCH_ON_DEMAND = ("dsl/interpret*",)
"""Where torch is imported inside a function: for bfloat16, when a program uses that."""


def packages() -> list[str]:
    names = {
        path.name if path.is_dir() else path.stem
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py")))
    }
    return sorted(names - {"__init__", "__main__"})


def modules_of(package: str) -> list[Path]:
    folder = SOURCE / package
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{package}.py"]


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of every import in a file, also of those inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def test_every_package_has_a_row_and_a_layer() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    text = contracts["importlinter:contract:layers"]["layers"]
    layers = {name.strip(" ()") for line in text.split() for name in line.split("|")} - {""}
    assert set(packages()) <= set(MAY_IMPORT), "a new package needs a row in MAY_IMPORT"
    assert layers == set(MAY_IMPORT), "the table and .importlinter must name the same packages"


@pytest.mark.parametrize("package", packages())
def test_a_package_imports_only_what_its_row_allows(package: str) -> None:
    allowed = MAY_IMPORT[package] | {package, "__version__"}
    wrong = []
    for path in modules_of(package):
        for line, name in imports_of(path):
            parts = name.split(".")
            if parts[0] == "kernelwright" and not allowed.intersection(parts[1:2] or allowed):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert wrong == []


def test_core_imports_the_standard_library_only() -> None:
    foreign = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in modules_of("core")
        for line, name in imports_of(path)
        if name.split(".")[0] not in {*sys.stdlib_module_names, "kernelwright"}
    ]
    assert foreign == []


def is_any_of(path: Path, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(path.relative_to(SOURCE).as_posix(), pattern) for pattern in patterns)


def test_torch_is_imported_only_by_code_that_runs_in_a_sandbox() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, name in imports_of(path)
        if name.split(".")[0] == "torch"
        and not is_any_of(path, (*RUNS_IN_A_CHILD, *TORCH_ON_DEMAND))
    ]
    assert wrong == []


def test_the_trusted_process_imports_nothing_that_is_meant_for_a_child() -> None:
    inside = {
        ".".join(("kernelwright", *path.relative_to(SOURCE).with_suffix("").parts))
        for path in SOURCE.rglob("*.py")
        if is_any_of(path, RUNS_IN_A_CHILD) and path.name != "__init__.py"
    }
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not is_any_of(path, RUNS_IN_A_CHILD)
        for line, name in imports_of(path)
        if name in inside or name.rpartition(".")[0] in inside
    ]
    assert wrong == []


def test_sql_has_one_address() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for package in packages()
        if package != "store"
        for path in modules_of(package)
        for line, name in imports_of(path)
        if name.split(".")[0] in {"sqlite3", "sqlalchemy", "alembic"}
    ]
    assert wrong == []


@pytest.mark.parametrize("module", ["kernelwright.wiring", "kernelwright.cli.app"])
def test_the_trusted_process_starts_without_torch(module: str) -> None:
    code = f"import sys, {module}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "False\n"
