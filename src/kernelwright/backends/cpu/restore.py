"""An exported `model.py` read back as the candidate it was made from.

The loader that `export.py` put in is dropped whatever it says, and the names that it gave come from
`import kernel_ops` again. So an export can be verified like any candidate, and nobody can hide
anything in a loader.
"""

from __future__ import annotations

import ast

from kernelwright.backends.cpu.export import LOADER, NAMESPACE


def restored(source: str) -> str:
    """Return `model.py` without the loader of an export; other text comes back unchanged."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source  # The gates say what is wrong with it.
    if not any(_is_loader(node) for node in tree.body):
        return source
    lines = source.splitlines(keepends=True)
    for node in sorted(tree.body, key=lambda node: node.lineno, reverse=True):
        text = _replacement(node)
        if text is None:
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before = lines[first].encode()[: node.col_offset].decode()
        after = lines[last].encode()[node.end_col_offset :].decode()
        lines[first : last + 1] = [f"{before}{text}{after}"]
    return "".join(lines)


def _is_loader(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == LOADER


def _replacement(node: ast.stmt) -> str | None:
    """Return what stands in a statement's place, None if it stays."""
    if _is_loader(node):
        return ""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return None
    name = node.targets[0].id
    match node.value:
        case ast.Call(func=ast.Name(id=called)) if called == LOADER and name == NAMESPACE:
            return ""
        case ast.Name(id=taken) if taken == NAMESPACE:
            return "import kernel_ops" + ("" if name == "kernel_ops" else f" as {name}")
        case ast.Attribute(value=ast.Name(id=taken), attr=kernel) if taken == NAMESPACE:
            return f"from kernel_ops import {kernel}" + ("" if name == kernel else f" as {name}")
    return None
