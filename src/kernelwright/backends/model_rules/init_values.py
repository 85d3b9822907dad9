"""What `__init__` gives to `self`: layers that own weights, parameters, buffers, plain values.

Constructors may create anything; they may not run layers, because what they compute is computed
before the weights and inputs are known.
"""

from __future__ import annotations

import ast

from kernelwright.backends.model_rules import torch_names as names
from kernelwright.backends.model_rules.flow_values import PLAIN, FileFacts, Kind, Report, Value

_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_PLAIN_ATTRIBUTES = names.TENSOR_FACTS | names.TENSOR_ANSWERS
_ORDER = (Kind.LAYER, Kind.NAMESPACE, Kind.TENSOR)
_LAYER = Value(Kind.LAYER)
_TENSOR = Value(Kind.TENSOR)


def attributes_of(facts: FileFacts, found: ast.ClassDef, report: Report) -> dict[str, Value]:
    """Return what a class's constants and `__init__` put on `self`, by attribute."""
    table: dict[str, Value] = {}
    for member in found.body:
        if isinstance(member, ast.Assign):
            table.update({t.id: PLAIN for t in member.targets if isinstance(t, ast.Name)})
        elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
            table[member.target.id] = PLAIN
    for method in facts.methods(found.name).values():
        if method.name == "__init__" or method.name.startswith("_init"):
            _read(facts, method, table, report)
    return table


def _read(
    facts: FileFacts, method: ast.FunctionDef, table: dict[str, Value], report: Report
) -> None:
    local = {
        arg.arg: _annotated(arg)
        for arg in (*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs)
    }
    for node in _in_order(method):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            value = _kind(facts, node.value, table, local)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                _give(target, value, table, local)
        elif isinstance(node, ast.Call):
            _registered(node, table)
            _not_called(facts, node, table, local, report)


def _in_order(method: ast.FunctionDef) -> list[ast.AST]:
    nodes = [node for node in ast.walk(method) if hasattr(node, "lineno")]
    return sorted(nodes, key=lambda node: (node.lineno, isinstance(node, ast.Call)))


def _annotated(arg: ast.arg) -> Value:
    text = "" if arg.annotation is None else ast.unparse(arg.annotation)
    return _TENSOR if "Tensor" in text else PLAIN


def _give(target: ast.expr, value: Value, table: dict[str, Value], local: dict[str, Value]) -> None:
    if isinstance(target, ast.Name):
        local[target.id] = value
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        if target.value.id == "self":
            known = table.get(target.attr, PLAIN)
            table[target.attr] = value if known == PLAIN else known
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            _give(part, value, table, local)


def _registered(node: ast.Call, table: dict[str, Value]) -> None:
    function = node.func
    if not (isinstance(function, ast.Attribute) and node.args):
        return
    name = node.args[0]
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        if function.attr in {"register_buffer", "register_parameter"}:
            table[name.value] = _TENSOR
        elif function.attr in {"add_module", "register_module"}:
            table[name.value] = _LAYER


def _not_called(
    facts: FileFacts,
    node: ast.Call,
    table: dict[str, Value],
    local: dict[str, Value],
    report: Report,
) -> None:
    function = node.func
    called = _kind(facts, function, table, local)
    is_forward = isinstance(function, ast.Attribute) and function.attr == "forward"
    is_layer = called.kind is Kind.LAYER and isinstance(function, (ast.Name, ast.Attribute))
    if is_forward or (is_layer and _is_held(function, table, local)):
        report.add(
            "layer-call",
            node,
            f"`{ast.unparse(function)[:60]}(...)` runs a layer in the constructor: layers may own"
            " weights, the kernel computes",
        )


def _is_held(node: ast.expr, table: dict[str, Value], local: dict[str, Value]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in local
    is_self = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return is_self and ast.unparse(node).partition(".")[2] in table


def _kind(
    facts: FileFacts, node: ast.expr, table: dict[str, Value], local: dict[str, Value]
) -> Value:
    if isinstance(node, ast.Name):
        if node.id in facts.inline:
            return Value(Kind.NAMESPACE, name="kernel_ops!inline")
        return local.get(node.id, PLAIN)
    if isinstance(node, ast.Attribute):
        return _attribute_kind(facts, node, table, local)
    if isinstance(node, ast.Call):
        return _call_kind(facts, node, table, local)
    if isinstance(node, (ast.Constant, ast.Compare, ast.JoinedStr)):
        return PLAIN
    children = [child for child in ast.walk(node) if child is not node]
    kinds = [
        _kind(facts, child, table, local)
        for child in children
        if isinstance(child, (ast.Name, ast.Attribute, ast.Call))
    ]
    for wanted in _ORDER:
        for value in kinds:
            if value.kind is wanted:
                return value
    return PLAIN


def _attribute_kind(
    facts: FileFacts, node: ast.Attribute, table: dict[str, Value], local: dict[str, Value]
) -> Value:
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        return table.get(node.attr, PLAIN)
    base = _kind(facts, node.value, table, local)
    if node.attr in _PLAIN_ATTRIBUTES:
        return PLAIN
    if base.kind is Kind.LAYER:
        return _TENSOR if node.attr in {"weight", "bias"} else PLAIN
    return base


def _call_kind(
    facts: FileFacts, node: ast.Call, table: dict[str, Value], local: dict[str, Value]
) -> Value:
    name = facts.dotted(node.func)
    if isinstance(node.func, ast.Name) and node.func.id in facts.classes:
        return Value(Kind.LAYER, name=node.func.id)
    if name in _PARAMETERS or name in names.ALLOCATING:
        return _TENSOR
    if name in names.ASKING or name.startswith("math."):
        return PLAIN
    if name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper():
        held = [_kind(facts, arg, table, local) for arg in node.args]
        own = [value for value in held if value.kind is Kind.LAYER and value.name]
        return own[0] if own else _LAYER
    if name.startswith("torch."):
        return _TENSOR
    if isinstance(node.func, ast.Attribute):
        base = _kind(facts, node.func.value, table, local)
        return PLAIN if node.func.attr in _PLAIN_ATTRIBUTES else base
    return PLAIN
