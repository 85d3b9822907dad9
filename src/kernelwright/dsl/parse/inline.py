"""`@tl.inline` functions: a call is replaced by the body, on Python's syntax tree.

Parameters are replaced by the arguments' text, and names the body assigns get fresh names, so that
nothing of the caller is captured.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from kernelwright.dsl.parse.expression import ExpressionParser


@dataclass(frozen=True, slots=True)
class InlineFunction:
    """One inline function of the file.

    Attributes:
        name: Its name.
        params: Names of its parameters.
        body: Its statements.
    """

    name: str
    params: tuple[str, ...]
    body: tuple[ast.stmt, ...]


class _Substitution(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr], fresh: dict[str, str]) -> None:
        self.values = values
        self.fresh = fresh

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace a parameter or a local name."""
        if node.id in self.values:
            return copy.deepcopy(self.values[node.id])
        if node.id in self.fresh:
            return ast.copy_location(ast.Name(self.fresh[node.id], node.ctx), node)
        return node


def expanded(
    function: InlineFunction, call: ast.Call, number: int, parser: ExpressionParser
) -> list[ast.stmt]:
    """Return the statements that stand for `call`.

    Args:
        number: Number of this expansion in the file; part of the fresh names.

    Raises:
        Rejected: where the arguments do not match the parameters, or the body assigns one.
    """
    given = dict(zip(function.params, call.args, strict=False))
    for word in call.keywords:
        if word.arg is None or word.arg in given or word.arg not in function.params:
            raise parser.reject("E103", call, f"{function.name} has no parameter {word.arg!r} left")
        given[word.arg] = word.value
    if len(call.args) > len(function.params) or set(given) != set(function.params):
        raise parser.reject(
            "E103",
            call,
            f"{function.name} takes {len(function.params)} operands",
            numbers=f"{len(call.args) + len(call.keywords)} given",
        )
    local = {
        node.id
        for item in function.body
        for node in ast.walk(item)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    if local & set(function.params):
        name = sorted(local & set(function.params))[0]
        raise parser.reject(
            "E104",
            call,
            f"{function.name} assigns its parameter {name!r}",
            why="inline functions: a parameter stands for the caller's expression",
        )
    fresh = {name: f"{function.name}_{number}_{name}" for name in local}
    change = _Substitution(given, fresh)
    return [change.visit(copy.deepcopy(item)) for item in function.body]
