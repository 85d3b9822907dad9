"""Which tensors a host function's launches read and write: E506 and E507."""

from __future__ import annotations

from kernelwright.dsl.check.binding import host_statements
from kernelwright.dsl.diagnostics import Diagnostic
from kernelwright.dsl.host_nodes import (
    Host,
    HostAssign,
    HostValue,
    Launch,
    Program,
    Reshape,
    TensorRef,
)
from kernelwright.dsl.nodes import TensorParam, stored_tensors
from kernelwright.dsl.parse.source import Source
from kernelwright.dsl.types import Name


def check_tensors(source: Source, program: Program, host: Host) -> list[Diagnostic]:
    """Findings: one tensor given twice to a kernel that writes it; an input that is written."""
    roots: dict[Name, Name] = {}
    found: list[Diagnostic] = []
    for item in host_statements(host.body):
        if isinstance(item, HostAssign):
            root = _root(item.value, roots)
            roots[item.name] = item.name if root is None else root
        else:
            found += _aliased(program, item, roots)
            found += _written(source, program, host, item, roots)
    return found


def _root(value: HostValue, roots: dict[Name, Name]) -> Name | None:
    """The tensor whose memory a value is; None for new memory and numbers."""
    match value:
        case TensorRef(name=name) | Reshape(source=TensorRef(name=name)):
            return roots.get(name, name)
    return None


def _aliased(program: Program, launch: Launch, roots: dict[Name, Name]) -> list[Diagnostic]:
    stored = stored_tensors(program.kernel(launch.kernel.text))
    seen: dict[Name, Name] = {}
    found = []
    for param, value in launch.arguments:
        root = _root(value, roots)
        if root is None:
            continue
        other = seen.setdefault(root, param)
        if other != param and (other in stored or param in stored):
            found.append(
                Diagnostic(
                    "E507",
                    value.at,
                    f"{root.text} is given as {other.text} and as {param.text}",
                    f"{launch.kernel.text} writes {(param if param in stored else other).text}",
                    "tensors: the tensors of a launch are distinct memories; a kernel that works "
                    "in place has one inout parameter",
                )
            )
    return found


def _written(
    source: Source, program: Program, host: Host, launch: Launch, roots: dict[Name, Name]
) -> list[Diagnostic]:
    inputs = {
        param.name: param
        for param in host.params
        if isinstance(param, TensorParam) and not param.type.is_inout
    }
    stored = stored_tensors(program.kernel(launch.kernel.text))
    found = []
    for param, value in launch.arguments:
        root = _root(value, roots)
        if param not in stored or root not in inputs:
            continue
        assert root is not None
        at = inputs[root].at
        text = source.cut(at)
        fix = source.replace(at, f'{text[:-1]} inout"') if text.endswith(']"') else ()
        found.append(
            Diagnostic(
                "E506",
                value.at,
                f"{root.text} is written by {launch.kernel.text}, but not declared inout",
                f"as {param.text}",
                "tensors: a host function changes only what its types say it changes",
                fix,
            )
        )
    return found
