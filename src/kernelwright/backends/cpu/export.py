"""Artifacts: a candidate as files that need PyTorch and a compiler, and nothing of this product."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Mapping, Sequence

from kernelwright.backends.cpu.declarations import kernels_in
from kernelwright.backends.cpu.parts import MODEL, cpp_parts, is_inline
from kernelwright.backends.cpu.shim import between, filled, shim_lines
from kernelwright.backends.cpu.vector_extensions import X86_FLAGS
from kernelwright.core.candidate import Candidate
from kernelwright.core.task import Task

_IMPORTS = """\
import contextlib
import ctypes
import fcntl
import hashlib
import operator
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import torch
"""
NAMESPACE = "_KERNEL_OPS"
LOADER = "_load_kernels"
_RETURN = """\
shared = _library()
kernels = {name: _kernel(shared, name, rows) for name, rows in _SIGNATURES.items()}
return SimpleNamespace(**kernels)
"""


def exported(candidate: Candidate, task: Task, *, flags: Sequence[str]) -> Mapping[str, str]:
    """Return the files of an artifact: the C++ parts as they are, and a `model.py` that runs.

    Args:
        candidate: What to export.
        task: What it solves; its name stands in the file.
        flags: Compiler flags without those of the processor, which the export finds out itself.
    """
    files = candidate.files
    if is_inline(candidate):
        return {MODEL: next(iter(files.values()))}
    parts = cpp_parts(candidate)
    build = filled(
        "build_library.py",
        {
            "_SOURCES: list[str] = []": f"_SOURCES = {json.dumps([path for path, _ in parts])}",
            "_FLAGS: list[str] = []": f"_FLAGS = {_listed(flags)}",
            "_VECTOR_FLAGS: dict[str, str] = {}": f"_VECTOR_FLAGS = {_mapped(X86_FLAGS)}",
        },
    )
    # Inside a function, so that no name of the loader meets a name of the candidate.
    loader = "\n".join(
        [
            _IMPORTS,
            shim_lines(kernels_in(parts)),
            "",
            between(build, "# begin build", "# end build"),
            "",
            _RETURN,
        ]
    )
    prelude = "\n".join(
        [
            f"# Candidate {candidate.candidate_id} for the task {_one_line(task.name)}.",
            f"def {LOADER}():",
            '    """Compile the kernels for this machine on first import; return them to call."""',
            textwrap.indent(loader, "    "),
            "",
            f"{NAMESPACE} = {LOADER}()",
            "",
        ]
    )
    head, body = _split(_without_import(files[MODEL]))
    return {**dict(parts), MODEL: f"{head}{prelude}\n{body}"}


def _split(source: str) -> tuple[str, str]:
    """Split after the docstring and the `__future__` imports, which must stay first."""
    end = 0
    for index, node in enumerate(ast.parse(source).body):
        is_docstring = index == 0 and isinstance(node, ast.Expr)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if is_docstring or is_future:
            end = node.end_lineno or end
    lines = source.splitlines(keepends=True)
    head = "".join(lines[:end])
    if "from __future__ import annotations" not in head:
        head += "from __future__ import annotations\n"
    return f"{head}\n", "".join(lines[end:])


def _without_import(source: str) -> str:
    """Take names from the loader instead of importing `kernel_ops`, which is not there."""
    lines = source.splitlines(keepends=True)
    found = [
        node
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.ImportFrom) and node.module == "kernel_ops")
        or (isinstance(node, ast.Import) and any(a.name == "kernel_ops" for a in node.names))
    ]
    for node in sorted(found, key=lambda node: node.lineno, reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before = lines[first][: node.col_offset]
        after = lines[last][node.end_col_offset :]
        lines[first : last + 1] = [f"{before}{_replacement(node)}{after}"]
    return "".join(lines)


def _replacement(node: ast.Import | ast.ImportFrom) -> str:
    if isinstance(node, ast.ImportFrom):
        return "; ".join(f"{a.asname or a.name} = {NAMESPACE}.{a.name}" for a in node.names)
    others = [alias for alias in node.names if alias.name != "kernel_ops"]
    ours = [alias for alias in node.names if alias.name == "kernel_ops"]
    statements = [f"{alias.asname or alias.name} = {NAMESPACE}" for alias in ours]
    if others:
        statements.insert(0, ast.unparse(ast.Import(names=others)))
    return "; ".join(statements)


def _listed(items: Sequence[str]) -> str:
    return "\n".join(["[", *(f"    {json.dumps(item)}," for item in items), "]"])


def _mapped(items: Mapping[str, str]) -> str:
    rows = (f"    {json.dumps(name)}: {json.dumps(value)}," for name, value in items.items())
    return "\n".join(["{", *rows, "}"])


def _one_line(text: str) -> str:
    return " ".join(text.split())[:80]
