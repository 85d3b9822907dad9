"""Values of the compile-time parameters that a program's own launches give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kernelwright.dsl.bind import Number
from kernelwright.dsl.evaluate import LaunchRefused, evaluate
from kernelwright.dsl.host_nodes import (
    Empty,
    Hole,
    Host,
    HostAssign,
    HostBlock,
    HostIf,
    HostValue,
    Launch,
    Program,
    Reshape,
    TensorRef,
    Workspace,
)
from kernelwright.dsl.nodes import ConstParam, Kernel, Ref
from kernelwright.dsl.types import Name

Origin = Hole | ConstParam
"""Where a value is written: a schedule hole, or a default of the host function or kernel."""
TENSORS = (Empty, Workspace, TensorRef, Reshape)


@dataclass(frozen=True, slots=True)
class Binding:
    """Values for one kernel's compile-time parameters; one missing has none.

    Attributes:
        values: Values by parameter name.
        origins: Where each is written, where that is known.
    """

    values: Mapping[str, Number]
    origins: Mapping[Name, Origin] = field(default_factory=dict)


def host_statements(block: HostBlock) -> Iterator[HostAssign | Launch]:
    """Yield the assignments and launches of a host function, branches included."""
    for item in block:
        if isinstance(item, HostAssign | Launch):
            yield item
        elif isinstance(item, HostIf):
            yield from host_statements(item.then)
            yield from host_statements(item.orelse)


def bindings_of(program: Program, kernel: Kernel) -> tuple[Binding, ...]:
    """The distinct bindings of the program's launches of `kernel`; that of its defaults where no
    launch is in the program."""
    found: list[Binding] = []
    for host in program.hosts:
        for binding in _launches(host, kernel):
            if all(binding.values != other.values for other in found):
                found.append(binding)
    return tuple(found) or (_defaults(kernel),)


def _defaults(kernel: Kernel) -> Binding:
    values = {p.name.text: p.default for p in kernel.consts if p.default is not None}
    return Binding(values, {p.name: p for p in kernel.consts})


def _launches(host: Host, kernel: Kernel) -> Iterator[Binding]:
    names: dict[str, Number] = {}
    origins: dict[str, Origin] = {}
    for param in host.params:
        if isinstance(param, ConstParam) and param.default is not None:
            names[param.name.text] = param.default
            origins[param.name.text] = param
    for item in host_statements(host.body):
        if isinstance(item, HostAssign):
            value = _value(item.value, names)
            if value is not None:
                names[item.name.text] = value
            if isinstance(item.value, Hole):
                origins[item.name.text] = item.value
        elif item.kernel == kernel.name:
            yield _binding(kernel, item, names, origins)


def _binding(
    kernel: Kernel, launch: Launch, names: Mapping[str, Number], origins: Mapping[str, Origin]
) -> Binding:
    base = _defaults(kernel)
    values, places = dict(base.values), dict(base.origins)
    consts = {param.name for param in kernel.consts}
    for name, given in launch.arguments:
        if name not in consts:
            continue
        value = _value(given, names)
        if value is not None:
            values[name.text] = value
        if isinstance(given, Hole):
            places[name] = given
        elif isinstance(given, Ref) and given.name.text in origins:
            places[name] = origins[given.name.text]
    return Binding(values, places)


def _value(node: HostValue, names: Mapping[str, Number]) -> Number | None:
    if isinstance(node, Hole):
        return node.default
    if isinstance(node, TENSORS):
        return None
    try:
        return evaluate(node, names)
    except (LaunchRefused, KeyError):
        return None
