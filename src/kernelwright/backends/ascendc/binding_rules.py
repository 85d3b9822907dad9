"""What the binding of an Ascend C project may do: allocate, look at shapes, and dispatch.

The three rules of EvoKernel's appendix C.1 for `python_bind_src`, on the syntax tree instead of
substrings: every function that Python can call dispatches the project's own operator, and nothing
in the file computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from kernelwright.backends.cpp_rules import HEADERS, screen_binding
from kernelwright.backends.cpp_syntax import parsed, text_of, walked
from kernelwright.core.execution import Finding

_DISPATCH = frozenset({"EXEC_NPU_CMD", "EXEC_NPU_CMD_EXT", "ACLRT_LAUNCH_KERNEL"})
_HEADERS = frozenset({"pytorch_npu_helper.hpp"})
_REGISTER = frozenset({"def", "impl"})
_DATA = frozenset(
    "data_ptr mutable_data_ptr const_data_ptr data accessor packed_accessor32 packed_accessor64"
    " unsafeGetTensorImpl storage".split()
)
_ACLNN = re.compile(r"\baclnn(\w+)")


def screen_dispatch(
    path: str, source: str, operators: Sequence[str], *, kernels: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Return what the rules find in a binding.

    Args:
        path: Name of the part.
        source: Its text.
        operators: The project's own operators, such as `TanhCustom`.
        kernels: Kernels that are launched directly by name, where the project does that.
    """
    root = parsed(source)
    found = [
        *screen_binding(path, source, headers=HEADERS | _HEADERS),
        *_undispatched(root, path, kernels),
        *_of_the_vendor(root, path, operators),
        *_data(root, path),
    ]
    unique = {(item.rule, item.line, item.message): item for item in found}
    return tuple(sorted(unique.values(), key=lambda item: item.line))


def bound_functions(source: str) -> Mapping[str, str]:
    """Return what Python can call: its name to the C++ function behind it, empty for a lambda."""
    return {name: function for name, function, _ in _registrations(parsed(source))}


def _registrations(root: Node) -> Iterator[tuple[str, str, Node]]:
    """Yield (name for Python, C++ function or empty, node of the second argument)."""
    for node in walked(root):
        if node.type != "call_expression":
            continue
        called = node.child_by_field_name("function")
        field = None if called is None else called.child_by_field_name("field")
        given = node.child_by_field_name("arguments")
        if field is None or given is None or text_of(field) not in _REGISTER:
            continue
        arguments = given.named_children
        if len(arguments) > 1 and arguments[0].type == "string_literal":
            target = arguments[1]
            name = text_of(target).lstrip("& ") if target.type != "lambda_expression" else ""
            yield text_of(arguments[0]).strip('"').split("(")[0], name, target


def _undispatched(root: Node, path: str, kernels: Sequence[str]) -> Iterator[Finding]:
    bodies = {name: node for node in walked(root) if (name := _defined(node))}
    registered = list(_registrations(root))
    if not registered:
        yield Finding(
            "no-dispatch", path, 1, "nothing is bound for Python: PYBIND11_MODULE needs m.def(...)"
        )
    for name, function, target in registered:
        start = bodies.get(function, target)
        if not _dispatches(start, bodies, kernels, seen=set()):
            yield _finding(
                "no-dispatch",
                path,
                start,
                f"{name} never dispatches the kernel: call EXEC_NPU_CMD(aclnn..., ...) in it",
            )


def _dispatches(
    node: Node, bodies: Mapping[str, Node], kernels: Sequence[str], *, seen: set[str]
) -> bool:
    for inner in walked(node):
        if inner.type != "call_expression":
            continue
        called = text_of(inner.child_by_field_name("function") or inner).split("(")[0].strip()
        if called in _DISPATCH or called.split("<")[0] in kernels:
            return True
        if called in bodies and called not in seen:
            seen.add(called)
            if _dispatches(bodies[called], bodies, kernels, seen=seen):
                return True
    return False


def _defined(node: Node) -> str:
    if node.type != "function_definition":
        return ""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator") or next(
            (child for child in declarator.named_children if "declarator" in child.type), None
        )
    name = None if declarator is None else declarator.child_by_field_name("declarator")
    return "" if name is None else text_of(name)


def _of_the_vendor(root: Node, path: str, operators: Sequence[str]) -> Iterator[Finding]:
    own = {operator.lower() for operator in operators}
    for node in walked(root):
        match = _ACLNN.fullmatch(text_of(node)) if node.type == "identifier" else None
        if match is not None:
            name = match[1].removesuffix("GetWorkspaceSize").lower()
            if name not in own:
                listed = ", ".join(f"aclnn{operator}" for operator in operators) or "none"
                yield _finding(
                    "vendor-operator",
                    path,
                    node,
                    f"`{match[0]}` is not this project's operator (it has: {listed})",
                )


def _data(root: Node, path: str) -> Iterator[Finding]:
    for node in walked(root):
        if node.type == "field_expression":
            field = node.child_by_field_name("field")
            name = "" if field is None else text_of(field).split("<")[0]
            if name in _DATA:
                yield _finding(
                    "binding-data",
                    path,
                    node,
                    f"`.{name}` reaches the elements: a binding allocates and dispatches only",
                )


def _finding(rule: str, path: str, node: Node, message: str) -> Finding:
    return Finding(rule, path, node.start_point[0] + 1, message)
