"""Calls of the project's library in `model_src`, brought into the one form the rules follow."""

from __future__ import annotations

import ast
from collections.abc import Collection

LIBRARY = "custom_ops_lib"


def resolved(tree: ast.Module, functions: Collection[str]) -> ast.Module:
    """Return a file in which every way to name a function of the library is the plain one.

    `getattr(custom_ops_lib, "f")`, also with a constant of the file as the name, and
    `torch.ops.SPACE.f` become `custom_ops_lib.f`, so that the rules need to know one form only.

    Args:
        tree: The file; changed in place.
        functions: What the binding offers.
    """
    constants = {
        target.id: statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        for target in statement.targets
        if isinstance(target, ast.Name) and isinstance(statement.value.value, str)
    }
    plain: ast.Module = _Plain(constants, functions).visit(tree)
    ast.fix_missing_locations(plain)
    for node in ast.walk(plain):
        if isinstance(node, ast.FunctionDef):
            _without_aliases(node)
    return plain


def _without_aliases(function: ast.FunctionDef) -> None:
    """Put `custom_ops_lib.f` in the place of a local name that is bound once, and to that."""
    bound: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] = bound.get(node.id, 0) + 1
    aliases: dict[str, ast.Attribute] = {}
    kept: list[ast.stmt] = []
    for statement in function.body:
        name = _alias(statement)
        if name is not None and bound[name[0]] == 1:
            aliases[name[0]] = name[1]
        else:
            kept.append(statement)
    if aliases and kept:
        function.body = kept
        _Substituted(aliases).visit(function)


def _alias(statement: ast.stmt) -> tuple[str, ast.Attribute] | None:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    is_function = isinstance(value, ast.Attribute) and ast.unparse(value.value) == LIBRARY
    if isinstance(target, ast.Name) and is_function:
        assert isinstance(value, ast.Attribute)
        return target.id, value
    return None


def unknown_functions(tree: ast.Module, functions: Collection[str]) -> list[tuple[ast.AST, str]]:
    """Return where a resolved file names a function that the library does not have."""
    return [
        (node, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == LIBRARY
        and node.attr not in functions
    ]


class _Plain(ast.NodeTransformer):
    def __init__(self, constants: dict[str, str], functions: Collection[str]) -> None:
        self._constants = constants
        self._functions = functions

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        is_getattr = isinstance(node.func, ast.Name) and node.func.id == "getattr"
        if not is_getattr or len(node.args) != 2 or ast.unparse(node.args[0]) != LIBRARY:
            return node
        name = self._text(node.args[1])
        return node if name is None else _of_library(node, name)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        parts = ast.unparse(node).split(".")
        is_registered = parts[:2] == ["torch", "ops"] and len(parts) == 4
        return (
            _of_library(node, parts[3]) if is_registered and parts[3] in self._functions else node
        )

    def _text(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return self._constants.get(node.id) if isinstance(node, ast.Name) else None


class _Substituted(ast.NodeTransformer):
    def __init__(self, names: dict[str, ast.Attribute]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self._names.get(node.id)
        return node if found is None else _of_library(node, found.attr)


def _of_library(node: ast.expr, name: str) -> ast.expr:
    library = ast.copy_location(ast.Name(LIBRARY, ast.Load()), node)
    return ast.copy_location(ast.Attribute(library, name, ast.Load()), node)
