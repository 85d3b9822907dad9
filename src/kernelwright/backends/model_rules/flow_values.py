"""What the screening of `model.py` knows of a value: its kind, and which memory it stands for."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from kernelwright.core.execution import Finding


class Kind(StrEnum):
    """What a value is, as far as the rules care."""

    PLAIN = "plain"
    """A number, text, shape, dtype, None, or a container of such."""
    TENSOR = "tensor"
    MANY = "many"
    """A container of tensors whose length is not known."""
    LAYER = "layer"
    """A module, or a container of modules."""
    SELF = "self"
    NAMESPACE = "namespace"
    """Something imported or built in, by its full name."""
    FUNCTION = "function"
    """A function of the file."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value.

    Attributes:
        kind: What it is.
        origins: Identities of the memory that it may stand for.
        items: Its elements where it is a tuple or list of known length.
        name: Full name of a namespace, the file's class of a layer, the name of a function.
    """

    kind: Kind
    origins: frozenset[int] = frozenset()
    items: tuple[Value, ...] | None = None
    name: str = ""

    @property
    def has_tensor(self) -> bool:
        """Whether it is, or holds, a tensor."""
        if self.items is not None:
            return any(item.has_tensor for item in self.items)
        return self.kind in (Kind.TENSOR, Kind.MANY)


PLAIN = Value(Kind.PLAIN)


def merged(values: Sequence[Value]) -> Value:
    """Return what is known of a value that is one of these."""
    if not values:
        return PLAIN
    first = values[0]
    if all(value == first for value in values):
        return first
    lengths = {None if value.items is None else len(value.items) for value in values}
    if len(lengths) == 1 and None not in lengths:
        columns = zip(*(value.items or () for value in values), strict=True)
        return Value(Kind.PLAIN, items=tuple(merged(column) for column in columns))
    origins = frozenset(itertools.chain.from_iterable(origins_of(value) for value in values))
    kinds = {Kind.MANY if v.items is not None and v.has_tensor else v.kind for v in values}
    for kind in (Kind.LAYER, Kind.SELF, Kind.FUNCTION, Kind.NAMESPACE, Kind.MANY, Kind.TENSOR):
        if kind in kinds:
            names = {value.name for value in values if value.kind is kind}
            return Value(kind, origins, name=names.pop() if len(names) == 1 else "")
    return PLAIN


def origins_of(value: Value) -> Iterator[int]:
    """Yield the identities of all memory that a value may stand for."""
    yield from value.origins
    for item in value.items or ():
        yield from origins_of(item)


def element_of(value: Value) -> Value:
    """Return what is known of one element of a container, or of one view along an axis."""
    if value.items is not None:
        return merged(value.items)
    if value.kind is Kind.MANY:
        return Value(Kind.TENSOR, value.origins)
    return value


@dataclass(slots=True)
class FileFacts:
    """What the structure of a `model.py` says, before any method is followed.

    Attributes:
        path: Name of the part.
        imports: Local name to full name of what it imports.
        functions: Module-level functions by name.
        classes: Classes by name.
        constants: Module-level names that hold plain values.
        inline: Names that hold a library whose functions return what a kernel has written: one
            built by `load_inline`, or a module that the backend offers.
        attributes: Class name to what its `__init__` assigns to `self`.
        libraries: Modules whose functions return what a kernel has written.
        also: Modules that may be imported, though nothing in them called.
    """

    path: str
    imports: dict[str, str] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)
    inline: set[str] = field(default_factory=set)
    attributes: dict[str, dict[str, Value]] = field(default_factory=dict)
    libraries: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()

    def methods(self, class_name: str) -> dict[str, ast.FunctionDef]:
        """Return the methods that a class of the file defines."""
        found = self.classes.get(class_name)
        members = [] if found is None else found.body
        return {item.name: item for item in members if isinstance(item, ast.FunctionDef)}

    def dotted(self, node: ast.expr) -> str:
        """Return the full name of an imported name or attribute of it, empty if it is none."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id, "")
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""


@dataclass(slots=True)
class Report:
    """Findings, each place and rule once.

    Attributes:
        path: Part that the findings are about.
        findings: What was found, in order.
    """

    path: str
    findings: list[Finding] = field(default_factory=list)
    _seen: set[tuple[str, int, str]] = field(default_factory=set)

    def add(self, rule: str, node: ast.AST, message: str) -> None:
        """Note a violation at a node."""
        line = getattr(node, "lineno", 1)
        if (rule, line, message) not in self._seen:
            self._seen.add((rule, line, message))
            self.findings.append(Finding(rule, self.path, line, message))


@dataclass(slots=True)
class Flow:
    """Everything that following `forward` shares.

    Attributes:
        file: Structure of the file.
        kernels: What the C++ declares, by name: whether each parameter is only read.
        report: Where findings go.
        attributes: What each attribute of each class may hold, by (class, name).
        written: Memory that a kernel has written on the path that is being followed.
        kernel_calls: How many calls of kernels were met.
        assigned: Attributes that were given a tensor outside `__init__`.
    """

    file: FileFacts
    kernels: Mapping[str, Sequence[bool]]
    report: Report
    attributes: dict[tuple[str, str], Value] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    kernel_calls: int = 0
    assigned: dict[tuple[str, str], Value] = field(default_factory=dict)
    active: list[str] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=itertools.count)

    def fresh(self, kind: Kind = Kind.TENSOR) -> Value:
        """Return a value that stands for memory of its own."""
        return Value(kind, frozenset({next(self._ids)}))

    def excused(self) -> Value:
        """Return a tensor that was complained about already: nobody complains twice."""
        value = self.fresh()
        self.written |= value.origins
        return value
