"""Follows the calls of `forward`: kernels, allocation and views may be called, computation not."""

from __future__ import annotations

import ast

from kernelwright.backends.model_rules import torch_names as names
from kernelwright.backends.model_rules.flow_scope import IN_KERNEL, Scope, any_tensor, own_attribute
from kernelwright.backends.model_rules.flow_values import (
    PLAIN,
    Kind,
    Value,
    element_of,
    merged,
    origins_of,
)

_STORING = frozenset({"append", "extend", "insert", "setdefault", "update"})


def followed_call(scope: Scope, node: ast.expr) -> Value:
    """Follow a call: into the file's own functions, and by the tables everywhere else."""
    assert isinstance(node, ast.Call)
    if isinstance(node.func, ast.Attribute):
        base = scope.raw(node.func.value)
        if base.kind is not Kind.NAMESPACE:
            return _method_call(scope, node, base, node.func.attr)
    function = scope.raw(node.func)
    if function.kind is Kind.NAMESPACE:
        return _named_call(scope, node, function.name)
    if function.kind is Kind.FUNCTION:
        body = scope.flow.file.functions[function.name]
        return scope.follow(body, "", *_arguments(scope, node))
    if function.kind is Kind.LAYER:
        return _layer_call(scope, node, function)
    _arguments(scope, node)
    return scope.complain(
        "unsupported", node, f"`{ast.unparse(node.func)[:60]}` cannot be followed: call by name"
    )


def _arguments(scope: Scope, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    positional: list[Value] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            inner = scope.value(arg.value)
            positional.extend(inner.items if inner.items is not None else [element_of(inner)])
        else:
            positional.append(scope.value(arg))
    return positional, {item.arg or "**": scope.value(item.value) for item in node.keywords}


def _method_call(scope: Scope, node: ast.Call, base: Value, method: str) -> Value:
    if base.kind is Kind.TENSOR:
        return _tensor_method(scope, node, base, method)
    if base.kind in (Kind.SELF, Kind.LAYER):
        return _module_method(scope, node, base, method)
    given, named = _arguments(scope, node)
    values = [*given, *named.values()]
    if not base.has_tensor and not any(value.has_tensor for value in values):
        return PLAIN
    is_known = base.has_tensor or base.items is not None
    if method in _STORING or (method == "add" and is_known):
        assert isinstance(node.func, ast.Attribute)
        held = Value(Kind.MANY, frozenset(o for v in (base, *values) for o in origins_of(v)))
        _keep(scope, node.func.value, held)
        return element_of(held) if method == "setdefault" else PLAIN
    if base.has_tensor:
        return element_of(base)
    if method == "get" and values and not values[0].has_tensor:
        return element_of(Value(Kind.MANY, frozenset(o for v in values for o in origins_of(v))))
    if method in {"index", "count"} and base.items is not None:
        return PLAIN
    return scope.complain(
        "unsupported",
        node,
        f"`{ast.unparse(node.func)[:60]}(...)` gets a tensor and cannot be followed: {IN_KERNEL}",
    )


def _keep(scope: Scope, target: ast.expr, held: Value) -> None:
    """Note that a container holds tensors from now on."""
    if isinstance(target, ast.Name):
        scope.variables[target.id] = held
    elif isinstance(target, ast.Attribute) and scope.raw(target.value).kind is Kind.SELF:
        key = (scope.class_name, target.attr)
        scope.flow.assigned[key] = scope.flow.attributes[key] = held
    else:
        what = f"`{ast.unparse(target)[:60]}` is given a tensor: keep tensors under a name"
        scope.complain("unsupported", target, what)


def _module_method(scope: Scope, node: ast.Call, base: Value, method: str) -> Value:
    class_name = scope.class_name if base.kind is Kind.SELF else base.name
    given, named = _arguments(scope, node)
    body = scope.flow.file.methods(class_name).get(method)
    if body is not None:
        return scope.follow(body, class_name, given, named)
    if method in {"eval", "train", "requires_grad_", "extra_repr"}:
        return base
    if method in {"parameters", "buffers"}:
        return scope.flow.fresh(Kind.MANY)
    if method in {"children", "modules", "values"} and base.kind is Kind.LAYER:
        return Value(Kind.LAYER, base.origins)
    if base.kind is Kind.SELF:
        called = own_attribute(scope, class_name, method)
        if called.kind is Kind.LAYER:
            return _layer_call(scope, node, called)
        if called.kind is Kind.NAMESPACE:
            return _named_call(scope, node, called.name)
    return scope.complain(
        "torch-compute",
        node,
        f"`{ast.unparse(node.func)[:60]}(...)` runs PyTorch code: a layer may own weights, but the"
        f" computation belongs in the kernel; {IN_KERNEL}",
    )


def _layer_call(scope: Scope, node: ast.Call, layer: Value) -> Value:
    given, named = _arguments(scope, node)
    body = scope.flow.file.methods(layer.name).get("forward")
    if body is not None:
        return scope.follow(body, layer.name, given, named)
    return scope.complain(
        "layer-call",
        node,
        f"`{ast.unparse(node.func)[:60]}(...)` calls a PyTorch layer: pass its weights to a kernel"
        " and compute there",
    )


def _tensor_method(scope: Scope, node: ast.Call, base: Value, method: str) -> Value:
    given, named = _arguments(scope, node)
    values = [*given, *named.values()]
    if method in names.TENSOR_ANSWERS:
        return PLAIN
    if method in names.TENSOR_FRESH:
        return scope.flow.fresh()
    if method in names.TENSOR_VIEWS:
        kind = Kind.MANY if method in names.MANY_VIEWS else Kind.TENSOR
        return Value(kind, base.origins)
    if method in names.TENSOR_FILLS and (method == "copy_" or not any_tensor(values)):
        return base
    return scope.complain(
        "torch-compute", node, f"`.{method}(...)` computes in PyTorch: {IN_KERNEL}"
    )


def _named_call(scope: Scope, node: ast.Call, name: str) -> Value:
    root, _, rest = name.partition(".")
    if root in {"kernel_ops", "kernel_ops!inline"}:
        return _kernel_call(scope, node, rest, is_inline=root != "kernel_ops")
    given, named = _arguments(scope, node)
    values = [*given, *named.values()]
    if root == "builtins":
        return _builtin_call(scope, node, rest, values)
    if name in names.ALLOCATING:
        return scope.flow.fresh()
    if name == "torch.broadcast_tensors":
        return Value(Kind.MANY, frozenset(o for value in values for o in origins_of(value)))
    if name in names.VIEWING and given:
        kind = Kind.MANY if rest in names.MANY_VIEWS else Kind.TENSOR
        return Value(kind, frozenset(origins_of(given[0])))
    if name in names.ASKING:
        return PLAIN
    if root == "math" and not any_tensor(values):
        return PLAIN
    if root == "class":
        return scope.complain("layer-call", node, f"construct {rest} in __init__, not in forward")
    return scope.complain("torch-compute", node, f"`{name}(...)` computes: {IN_KERNEL}")


def _kernel_call(scope: Scope, node: ast.Call, kernel: str, *, is_inline: bool) -> Value:
    flow = scope.flow
    flow.kernel_calls += 1
    given, named = _arguments(scope, node)
    declared = flow.kernels.get(kernel)
    if is_inline:
        result = flow.fresh(Kind.TENSOR)
        flow.written |= result.origins
    else:
        result = PLAIN
        if declared is None:
            known = ", ".join(sorted(flow.kernels)) or "none"
            scope.complain(
                "format:unknown-kernel",
                node,
                f'kernel.cpp declares no `extern "C" void {kernel}(...)`; it declares: {known}',
            )
        if named:
            scope.complain("kernel-call", node, "kernel_ops takes positional arguments only")
    has_star = any(isinstance(arg, ast.Starred) for arg in node.args)
    for index, value in enumerate([*given, *named.values()]):
        is_input = False
        if declared is not None and not has_star and index < len(declared):
            is_input = declared[index]
        if not is_input:
            flow.written |= frozenset(origins_of(value))
    return result


def _builtin_call(scope: Scope, node: ast.Call, name: str, values: list[Value]) -> Value:
    if name not in names.BUILTINS and not name.endswith(("Error", "Exception")):
        return scope.complain("unsupported", node, f"`{name}` is not known in this file")
    if not any_tensor(values):
        return merged(values) if name in {"list", "tuple", "reversed"} and values else PLAIN
    if name in names.BLIND_BUILTINS:
        if name in {"list", "tuple", "dict", "reversed", "enumerate", "zip", "set"}:
            return Value(Kind.MANY, frozenset(o for value in values for o in origins_of(value)))
        return PLAIN
    return scope.complain(
        "torch-compute", node, f"`{name}(...)` of a tensor computes in PyTorch: {IN_KERNEL}"
    )
