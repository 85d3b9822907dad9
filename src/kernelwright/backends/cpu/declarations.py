"""Which functions a candidate's C++ offers: the `extern "C" void NAME(...)` in its parts.

Parsed, not searched, so that comments, strings and dead preprocessor text do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from kernelwright.backends.cpp_syntax import parsed, text_of, walked

POINTER_DTYPES: Mapping[str, tuple[str, ...]] = {
    "float": ("float32",),
    "double": ("float64",),
    "int64_t": ("int64",),
    "int32_t": ("int32",),
    "int16_t": ("int16",),
    "int8_t": ("int8",),
    "uint8_t": ("uint8", "bool"),
    "char": ("int8", "uint8", "bool"),
    "bool": ("bool",),
    "uint16_t": ("float16", "bfloat16"),
    "_Float16": ("float16",),
    "__fp16": ("float16",),
    "__bf16": ("bfloat16",),
    "std::complex<float>": ("complex64",),
    "std::complex<double>": ("complex128",),
    "void": (),
}
"""Tensor dtypes that a pointer to each C++ type may get; empty means any."""

SCALARS: Mapping[str, str] = {
    "int64_t": "int64",
    "uint64_t": "int64",
    "size_t": "int64",
    "ptrdiff_t": "int64",
    "int32_t": "int32",
    "uint32_t": "int32",
    "double": "double",
    "float": "float",
    "bool": "bool",
}
"""How a Python number is passed for each C++ type of a by-value parameter."""

_SPELLINGS: Mapping[str, str] = {
    "long": "int64_t",
    "long int": "int64_t",
    "long long": "int64_t",
    "long long int": "int64_t",
    "int": "int32_t",
    "short": "int16_t",
    "signed char": "int8_t",
    "unsigned char": "uint8_t",
    "unsigned short": "uint16_t",
    "unsigned": "uint32_t",
    "unsigned int": "uint32_t",
    "unsigned long": "uint64_t",
    "unsigned long long": "uint64_t",
}
_POINTERS = frozenset({"pointer_declarator", "abstract_pointer_declarator"})
_ARRAYS = frozenset({"array_declarator", "abstract_array_declarator"})
_REFERENCES = frozenset({"reference_declarator", "abstract_reference_declarator"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    Attributes:
        name: Its name in the source, or its position where it has none.
        ctype: Its C++ type in one spelling, without `const` and the star.
        is_pointer: Whether it takes a tensor.
        is_const: Whether what it points to may not be written.
    """

    name: str
    ctype: str
    is_pointer: bool
    is_const: bool


@dataclass(frozen=True, slots=True)
class Kernel:
    """One `extern "C"` function.

    Attributes:
        name: Its name, by which `kernel_ops` offers it.
        parameters: Its parameters, in order.
        path: The part that declares it.
        line: 1-based line.
        complaint: Why it cannot be called from Python, or empty.
    """

    name: str
    parameters: tuple[Parameter, ...]
    path: str
    line: int
    complaint: str = ""


def kernels_in(parts: Sequence[tuple[str, str]]) -> tuple[Kernel, ...]:
    """Return the kernels that C++ parts, given as (path, content), declare; each name once."""
    found: dict[str, Kernel] = {}
    for path, source in parts:
        root = parsed(source)
        aliases = _aliases(root)
        for node in walked(root):
            if node.type == "linkage_specification" and _is_c(node):
                for function in _functions(node):
                    kernel = _kernel(function, path, aliases)
                    found.setdefault(kernel.name, kernel)
    return tuple(found.values())


def _is_c(node: Node) -> bool:
    value = node.child_by_field_name("value")
    return value is not None and text_of(value) == '"C"'


def _functions(linkage: Node) -> Iterator[Node]:
    body = linkage.child_by_field_name("body")
    if body is None:
        return
    members = body.children if body.type == "declaration_list" else [body]
    for member in members:
        if member.type in {"function_definition", "declaration"}:
            is_static = any(
                child.type == "storage_class_specifier" and text_of(child) == "static"
                for child in member.children
            )
            declarator = member.child_by_field_name("declarator")
            if not is_static and declarator is not None and _function_declarator(declarator):
                yield member


def _function_declarator(node: Node) -> Node | None:
    inner: Node | None = node
    while inner is not None and inner.type != "function_declarator":
        inner = inner.child_by_field_name("declarator")
    return inner


def _kernel(member: Node, path: str, aliases: Mapping[str, str]) -> Kernel:
    outer = member.child_by_field_name("declarator")
    declarator = None if outer is None else _function_declarator(outer)
    assert declarator is not None and outer is not None  # _functions let only these through
    name_node = declarator.child_by_field_name("declarator")
    name = "" if name_node is None else text_of(name_node)
    listed = declarator.child_by_field_name("parameters")
    nodes = [] if listed is None else [c for c in listed.children if c.is_named or c.type == "..."]
    parameters, complaint = [], ""
    result = _type_name(member.child_by_field_name("type"), aliases)
    if result != "void" or outer.type != "function_declarator":
        complaint = f"{name} must return void: write its result through a pointer"
    for index, node in enumerate(nodes):
        parameter, problem = _parameter(node, index, aliases)
        if parameter is not None:
            parameters.append(parameter)
        complaint = complaint or (problem and f"parameter {index + 1} of {name} {problem}")
    return Kernel(name, tuple(parameters), path, member.start_point[0] + 1, complaint)


def _parameter(node: Node, index: int, aliases: Mapping[str, str]) -> tuple[Parameter | None, str]:
    if node.type == "comment":
        return None, ""
    if node.type != "parameter_declaration":
        return None, f"is written `{text_of(node)}`: give it a plain type"
    ctype = _type_name(node.child_by_field_name("type"), aliases)
    declarator = node.child_by_field_name("declarator")
    name, depth, is_reference = _declared(declarator, f"#{index + 1}")
    if ctype == "void" and declarator is None:
        return None, ""
    is_const = any(
        child.type == "type_qualifier" and text_of(child) == "const" for child in node.children
    )
    if is_reference or depth > 1:
        return None, f"is `{text_of(node)}`: pass tensors as one pointer and numbers by value"
    if depth == 0 and ctype not in SCALARS:
        return None, (
            f"has type `{ctype}`: numbers are passed as int64_t or double, tensors as pointers"
        )
    return Parameter(name, ctype, depth == 1, is_const), ""


def _declared(declarator: Node | None, name: str) -> tuple[str, int, bool]:
    """Return a declarator's name, how many pointers deep it is, and whether it is a reference."""
    depth, is_reference, node = 0, False, declarator
    while node is not None:
        if node.type in _POINTERS or node.type in _ARRAYS:
            depth += 1
        elif node.type in _REFERENCES:
            is_reference = True
            node = next((c for c in node.named_children if "identifier" in c.type), None)
            continue
        elif node.type == "identifier":
            name = text_of(node)
        node = node.child_by_field_name("declarator")
    return name, depth, is_reference


def _type_name(node: Node | None, aliases: Mapping[str, str]) -> str:
    if node is None:
        return "void"
    name = " ".join(text_of(node).split())
    if name.startswith("std::") and "<" not in name:
        name = name.removeprefix("std::")
    for _ in range(8):
        name = _SPELLINGS.get(name, name)
        if name not in aliases:
            break
        name = aliases[name]
    return name


def _aliases(root: Node) -> dict[str, str]:
    """Return the simple type aliases of a file: `using f32 = float;` and `typedef int i32;`."""
    found = {}
    for node in walked(root):
        if node.type == "alias_declaration":
            name, target = node.child_by_field_name("name"), node.child_by_field_name("type")
        elif node.type == "type_definition":
            name, target = node.child_by_field_name("declarator"), node.child_by_field_name("type")
        else:
            continue
        if name is not None and target is not None:
            found[text_of(name)] = " ".join(text_of(target).split())
    return found
