"""Follows the expressions of `forward`: what each value is, and whether PyTorch computes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from kernelwright.backends.model_rules import torch_names as names
from kernelwright.backends.model_rules.flow_calls import followed_call
from kernelwright.backends.model_rules.flow_scope import (
    IN_KERNEL,
    Scope,
    any_tensor,
    bind,
    iterated,
    own_attribute,
)
from kernelwright.backends.model_rules.flow_values import (
    PLAIN,
    Kind,
    Value,
    element_of,
    merged,
    origins_of,
)

_LAYER_TENSOR = re.compile(names.LAYER_TENSOR)


def _name(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, ast.Name)
    file, name = scope.flow.file, node.id
    if name in scope.variables:
        return scope.variables[name]
    if name in file.inline:
        return Value(Kind.NAMESPACE, name="kernel_ops!inline")
    if name in file.imports:
        return Value(Kind.NAMESPACE, name=file.imports[name])
    if name in file.functions:
        return Value(Kind.FUNCTION, name=name)
    if name in file.classes:
        return Value(Kind.NAMESPACE, name=f"class.{name}")
    if name in file.constants:
        return PLAIN
    return Value(Kind.NAMESPACE, name=f"builtins.{name}")


def _attribute(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, ast.Attribute)
    base, attr = scope.raw(node.value), node.attr
    if base.kind is Kind.NAMESPACE:
        return Value(Kind.NAMESPACE, name=f"{base.name}.{attr}")
    if base.kind is Kind.TENSOR:
        if attr in names.TENSOR_FACTS:
            return PLAIN
        if attr in names.TENSOR_VIEW_FACTS:
            return base
        return scope.complain("torch-compute", node, f"tensor attribute .{attr}: {IN_KERNEL}")
    if base.kind is Kind.SELF:
        return own_attribute(scope, scope.class_name, attr)
    if base.kind is Kind.LAYER:
        return _layer_attribute(scope, base, attr)
    return Value(base.kind, base.origins)


def _layer_attribute(scope: Scope, layer: Value, attr: str) -> Value:
    if layer.name in scope.flow.file.classes:
        return own_attribute(scope, layer.name, attr)
    if _LAYER_TENSOR.fullmatch(attr):
        # One identity a layer and attribute would be finer; no rule needs it.
        return Value(Kind.TENSOR, layer.origins or scope.flow.fresh().origins)
    if attr in {"all_weights", "_flat_weights"}:
        return Value(Kind.MANY, layer.origins or scope.flow.fresh().origins)
    return Value(Kind.LAYER, layer.origins) if attr == "out_proj" else PLAIN


def _operation(scope: Scope, node: ast.expr) -> Value:
    """Judge an operator: on plain values it is shape arithmetic, on tensors it is computation."""
    operands = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    values = [scope.value(operand) for operand in operands]
    is_concatenation = isinstance(node, ast.BinOp) and all(v.items is not None for v in values)
    if is_concatenation:
        return Value(Kind.PLAIN, items=tuple(item for v in values for item in v.items or ()))
    if any_tensor(values):
        text = ast.unparse(node)[:60]
        return scope.complain(
            "torch-compute", node, f"`{text}` computes with a tensor in PyTorch: {IN_KERNEL}"
        )
    return PLAIN


def _comparison(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, ast.Compare)
    if all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
        for operand in (node.left, *node.comparators):
            scope.value(operand)
        return PLAIN
    return _operation(scope, node)


def _subscript(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, ast.Subscript)
    base = scope.raw(node.value)
    if base.kind is Kind.NAMESPACE:
        return PLAIN
    scope.plain(node.slice, "indexing with a tensor gathers in PyTorch")
    if base.items is not None:
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(index, int) and -len(base.items) <= index < len(base.items):
            return base.items[index]
        if isinstance(node.slice, ast.Slice):
            return Value(Kind.MANY, frozenset(origins_of(base))) if base.has_tensor else PLAIN
    return element_of(base)


def _slice(scope: Scope, node: ast.expr) -> Value:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            scope.plain(child, "a slice bound is a tensor")
    return PLAIN


def _sequence(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, (ast.Tuple, ast.List))
    items: list[Value] = []
    is_open = False
    for item in node.elts:
        if isinstance(item, ast.Starred):
            inner = scope.value(item.value)
            is_open |= inner.items is None
            items.extend(inner.items if inner.items is not None else [element_of(inner)])
        else:
            items.append(scope.value(item))
    whole = Value(Kind.PLAIN, items=tuple(items))
    if is_open:
        return Value(Kind.MANY, frozenset(origins_of(whole))) if whole.has_tensor else PLAIN
    return whole


def _dictionary(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, ast.Dict)
    values = [scope.value(item) for item in node.values]
    for key in node.keys:
        if key is not None:
            scope.value(key)
    return Value(Kind.PLAIN, items=tuple(values)) if any_tensor(values) else PLAIN


def _choice(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, ast.IfExp)
    scope.plain(node.test, "a condition reads a tensor")
    return merged([scope.value(node.body), scope.value(node.orelse)])


def _logic(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, ast.BoolOp)
    for operand in node.values[:-1]:
        scope.plain(operand, "a condition reads a tensor")
    return scope.value(node.values[-1])


def _comprehension(scope: Scope, node: ast.expr) -> Value:
    assert isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp))
    kept = dict(scope.variables)
    for generator in node.generators:
        bind(scope, generator.target, iterated(scope, generator.iter))
        for test in generator.ifs:
            scope.plain(test, "a condition reads a tensor")
    value = scope.value(node.elt)
    scope.variables.clear()
    scope.variables.update(kept)
    return Value(Kind.MANY, frozenset(origins_of(value))) if value.has_tensor else PLAIN


def _text(scope: Scope, node: ast.expr) -> Value:
    for child in ast.walk(node):
        if isinstance(child, ast.FormattedValue):
            scope.plain(child.value, "the text of a tensor reads its values")
    return PLAIN


HANDLERS: Mapping[type[ast.expr], Callable[[Scope, ast.expr], Value]] = {
    ast.Attribute: _attribute,
    ast.BinOp: _operation,
    ast.BoolOp: _logic,
    ast.Call: followed_call,
    ast.Compare: _comparison,
    ast.Constant: lambda scope, node: PLAIN,
    ast.Dict: _dictionary,
    ast.GeneratorExp: _comprehension,
    ast.IfExp: _choice,
    ast.JoinedStr: _text,
    ast.List: _sequence,
    ast.ListComp: _comprehension,
    ast.Name: _name,
    ast.SetComp: _comprehension,
    ast.Slice: _slice,
    ast.Subscript: _subscript,
    ast.Tuple: _sequence,
    ast.UnaryOp: _operation,
}
"""How each kind of expression is followed; others are complained about."""
