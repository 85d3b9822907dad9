"""C++ that the device's compiler forbids and g++ accepts: found in the kernel's text.

The rules are those of the Ascend C programming guide: no virtual functions, no recursion, no
dynamic memory, no exceptions, no run-time type information and no standard library on the device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from kernelwright.backends.cpp_syntax import parsed, text_of, walked
from kernelwright.core.execution import Finding

_QUALIFIERS = re.compile(
    r"\b(?:__aicore__|__global__|__gm__|__ubuf__|__cbuf__|__ca__|__cb__|__cc__|__fbuf__|__ssbuf__"
    r"|__inline__|__mix__\s*\(\s*\d+\s*,\s*\d+\s*\)|__vector__|__cube__)|\[\s*aicore\s*\]"
)
_ALLOCATION = frozenset(
    "malloc calloc realloc free alloca aligned_alloc posix_memalign __builtin_alloca".split()
)
_TYPE_TRAITS = re.compile(
    r"(?:is_\w+|enable_if(?:_t)?|conditional(?:_t)?|remove_\w+|add_\w+|decay(?:_t)?|true_type"
    r"|false_type|integral_constant|declval|void_t|conjunction\w*|disjunction\w*|negation\w*"
    r"|u?int(?:8|16|32|64)_t|size_t|nullptr_t|numeric_limits|integer_sequence|index_sequence"
    r"|make_index_sequence|forward|move|bool_constant|underlying_type(?:_t)?)"
)
_ALWAYS: Mapping[str, tuple[str, str]] = {
    "virtual": ("virtual", "virtual functions do not exist on the device: use a template"),
    "new_expression": ("dynamic-memory", "the device has no heap: use TPipe buffers"),
    "delete_expression": ("dynamic-memory", "the device has no heap: use TPipe buffers"),
    "try_statement": ("exceptions", "the device has no exceptions"),
    "throw_statement": ("exceptions", "the device has no exceptions"),
    "co_await_expression": ("coroutine", "the device has no coroutines"),
}


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the kernel's text.

    Attributes:
        owner: Its class, empty for a free function.
        name: Its name.
        arity: How many parameters it has.
        node: Its definition.
    """

    owner: str
    name: str
    arity: int
    node: Node = field(compare=False, hash=False)


def device_text(source: str) -> str:
    """Return a kernel's text without the device's qualifiers, every line and column in place."""
    return _QUALIFIERS.sub(lambda found: " " * len(found[0]), source)


def screen_device(path: str, source: str) -> tuple[Finding, ...]:
    """Return what the device forbids in a kernel's text, in order of its lines."""
    root = parsed(device_text(source))
    found = [*_forbidden(root, path), *_standard_library(root, path), *_recursion(root, path)]
    unique = {(item.rule, item.line): item for item in found}
    return tuple(sorted(unique.values(), key=lambda item: item.line))


def _forbidden(root: Node, path: str) -> Iterator[Finding]:
    for node in walked(root):
        known = _ALWAYS.get(node.type)
        if known is not None and not _is_placement(node):
            yield _finding(known[0], path, node, known[1])
        elif node.type == "call_expression":
            name = text_of(node.child_by_field_name("function") or node).removeprefix("std::")
            if name in _ALLOCATION:
                yield _finding(
                    "dynamic-memory", path, node, f"`{name}`: the device has no heap: use TPipe"
                )
            elif name == "typeid" or name.startswith("dynamic_cast"):
                yield _finding("rtti", path, node, "the device has no run-time type information")
        elif node.type == "function_definition" and _is_variadic(node):
            yield _finding("variadic", path, node, "C variadic functions do not exist there")


def _is_placement(node: Node) -> bool:
    return node.type == "new_expression" and node.child_by_field_name("placement") is not None


def _is_variadic(node: Node) -> bool:
    declarator = _declarator(node)
    listed = None if declarator is None else declarator.child_by_field_name("parameters")
    return listed is not None and any(child.type == "..." for child in listed.children)


def _standard_library(root: Node, path: str) -> Iterator[Finding]:
    for node in walked(root):
        text = text_of(node)
        if node.type != "qualified_identifier" or not text.lstrip(":").startswith("std::"):
            continue
        member = text.lstrip(":").removeprefix("std::")
        if not _TYPE_TRAITS.match(member):
            name = member.split("<")[0].split("(")[0][:40]
            yield _finding(
                "standard-library",
                path,
                node,
                f"`std::{name}` does not exist on the device: use arrays, TPipe buffers and the"
                " Ascend C calls",
            )


def _recursion(root: Node, path: str) -> Iterator[Finding]:
    functions = list(_functions(root))
    calls = {function: set(_callees(function, functions)) for function in functions}
    for function in functions:
        if _reaches(function, function, calls):
            yield _finding(
                "recursion",
                path,
                function.node,
                f"{function.name} calls itself: the device has no recursion, use a loop",
            )


def _functions(root: Node) -> Iterator[_Function]:
    for node in walked(root):
        declarator = _declarator(node) if node.type == "function_definition" else None
        if declarator is None:
            continue
        name = declarator.child_by_field_name("declarator")
        listed = declarator.child_by_field_name("parameters")
        text = "" if name is None else text_of(name)
        scope, _, own = text.rpartition("::")
        arity = 0 if listed is None else len(_parameters(listed))
        yield _Function(scope or _class_of(node), own or text, arity, node)


def _parameters(listed: Node) -> list[Node]:
    named = [child for child in listed.named_children if child.type != "comment"]
    return [child for child in named if text_of(child) != "void"]


def _declarator(node: Node) -> Node | None:
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type != "function_declarator":
        inner = inner.child_by_field_name("declarator")
    return inner


def _class_of(node: Node) -> str:
    parent = node.parent
    while parent is not None:
        if parent.type in {"class_specifier", "struct_specifier"}:
            name = parent.child_by_field_name("name")
            return "" if name is None else text_of(name).split("<")[0]
        parent = parent.parent
    return ""


def _callees(function: _Function, functions: list[_Function]) -> Iterator[_Function]:
    """Yield what a function calls by plain name: members of its own class and free functions."""
    for node in walked(function.node):
        if node.type != "call_expression":
            continue
        called = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if called is None or arguments is None:
            continue
        text = text_of(called).removeprefix("this->").removeprefix(f"{function.owner}::")
        if not re.fullmatch(r"\w+", text):
            continue  # another object's method, or a template that is chosen at compile time
        arity = len(_parameters(arguments))
        for other in functions:
            if other.name == text and other.arity == arity and other.owner in {"", function.owner}:
                yield other


def _reaches(start: _Function, goal: _Function, calls: Mapping[_Function, set[_Function]]) -> bool:
    pending, seen = list(calls[start]), set[_Function]()
    while pending:
        current = pending.pop()
        if current == goal:
            return True
        if current not in seen:
            seen.add(current)
            pending.extend(calls.get(current, ()))
    return False


def _finding(rule: str, path: str, node: Node, message: str) -> Finding:
    return Finding(f"device:{rule}", path, node.start_point[0] + 1, message)
