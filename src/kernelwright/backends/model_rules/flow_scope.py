"""One function body that is being followed: its names, and how names are bound."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kernelwright.backends.model_rules import torch_names as names
from kernelwright.backends.model_rules.flow_values import (
    PLAIN,
    Flow,
    Kind,
    Value,
    element_of,
    origins_of,
)

IN_KERNEL = "do it in kernel.cpp"


@dataclass(slots=True)
class Scope:
    """One function body that is being followed.

    Attributes:
        flow: What all bodies share.
        class_name: Class of `self`, empty in a plain function.
        variables: Local names.
        follow: Runs the body of another function with these arguments.
        handlers: How each kind of expression is followed.
    """

    flow: Flow
    class_name: str
    variables: dict[str, Value]
    follow: Callable[[ast.FunctionDef, str, list[Value], Mapping[str, Value]], Value]
    handlers: Mapping[type[ast.expr], Callable[[Scope, ast.expr], Value]]

    def complain(self, rule: str, node: ast.AST, message: str) -> Value:
        """Note a finding and return a value that causes no others."""
        self.flow.report.add(rule, node, message)
        return self.flow.excused()

    def value(self, node: ast.expr) -> Value:
        """Return what an expression is when it is used as a value."""
        found = self.raw(node)
        if found.kind is Kind.NAMESPACE:
            if found.name in names.PLAIN_VALUES or found.name.startswith("builtins."):
                return PLAIN
            return self.complain(
                "alias", node, f"`{found.name}` is passed around as a value: call it by its name"
            )
        if found.kind is Kind.FUNCTION:
            return self.complain(
                "alias", node, f"the function `{found.name}` is used as a value: call it directly"
            )
        return found

    def raw(self, node: ast.expr) -> Value:
        """Return what an expression is, also where it only names something to call."""
        handler = self.handlers.get(type(node))
        if handler is None:
            return self.complain(
                "unsupported",
                node,
                f"`{ast.unparse(node)[:60]}`: {type(node).__name__} cannot be followed here;"
                " write it plainly",
            )
        return handler(self, node)

    def plain(self, node: ast.expr, what: str) -> Value:
        """Evaluate something that must not be a tensor."""
        value = self.value(node)
        if value.has_tensor:
            return self.complain("torch-compute", node, f"{what}: {IN_KERNEL}")
        return value


def own_attribute(scope: Scope, class_name: str, attr: str) -> Value:
    """Return what an attribute of an object of the file's class holds."""
    if attr == "training":
        return PLAIN
    if attr in scope.flow.file.methods(class_name):
        return Value(Kind.FUNCTION, name=attr)
    key = (class_name, attr)
    if key not in scope.flow.attributes:
        scope.flow.attributes[key] = scope.flow.fresh()
    return scope.flow.attributes[key]


def any_tensor(values: list[Value]) -> bool:
    """Return whether one of the values is, or holds, a tensor."""
    return any(value.has_tensor for value in values)


def iterated(scope: Scope, node: ast.expr) -> Value:
    """Return what a loop over an expression gets; looping over a tensor's data is computation."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        inner = [arg for arg in node.args if not isinstance(arg, ast.Starred)]
        if node.func.id == "enumerate" and inner:
            return Value(Kind.PLAIN, items=(PLAIN, iterated(scope, inner[0])))
        if node.func.id == "zip":
            return Value(Kind.PLAIN, items=tuple(iterated(scope, arg) for arg in inner))
    value = scope.value(node)
    if value.kind is Kind.TENSOR:
        return scope.complain("python-loop", node, f"a Python loop over a tensor: {IN_KERNEL}")
    return element_of(value)


def bind(scope: Scope, target: ast.expr, value: Value) -> None:
    """Give a value to a name, or to each name of a tuple."""
    if isinstance(target, ast.Name):
        scope.variables[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        items = value.items
        if items is None or len(items) != len(target.elts):
            items = tuple(element_of(value) for _ in target.elts)
        for part, item in zip(target.elts, items, strict=True):
            bind(scope, part.value if isinstance(part, ast.Starred) else part, item)
    elif isinstance(target, ast.Attribute):
        _bind_attribute(scope, target, value)
    elif isinstance(target, ast.Subscript):
        _bind_element(scope, target, value)


def _bind_attribute(scope: Scope, target: ast.Attribute, value: Value) -> None:
    base = scope.raw(target.value)
    if base.kind is not Kind.SELF:
        scope.complain(
            "patch", target, f"`{ast.unparse(target)[:60]} = ...` changes another object"
        )
        return
    key = (scope.class_name, target.attr)
    if target.attr in scope.flow.file.methods(scope.class_name):
        scope.complain("patch", target, f"the method {target.attr} is replaced at run time")
    if value.has_tensor:
        scope.flow.assigned[key] = value
    scope.flow.attributes[key] = value


def _bind_element(scope: Scope, target: ast.Subscript, value: Value) -> None:
    base = scope.raw(target.value)
    if base.kind is Kind.TENSOR:
        scope.plain(target.slice, "indexing with a tensor scatters in PyTorch")
        if value.has_tensor:
            scope.complain(
                "torch-compute", target, f"storing into a tensor moves data in PyTorch: {IN_KERNEL}"
            )
        return
    scope.value(target.slice)
    if not value.has_tensor:
        return
    held = Value(Kind.MANY, frozenset([*origins_of(base), *origins_of(value)]))
    if isinstance(target.value, ast.Attribute):
        key = (scope.class_name, target.value.attr)
        scope.flow.assigned[key] = scope.flow.attributes[key] = held
    elif isinstance(target.value, ast.Name):
        scope.variables[target.value.id] = held
