"""Checks of host functions: schedule defaults (E601) and core counts (E503)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kernelwright.dsl.bind import EXPRESSIONS
from kernelwright.dsl.check.binding import host_statements
from kernelwright.dsl.diagnostics import Diagnostic
from kernelwright.dsl.host_nodes import Hole, Host, HostAssign, Launch, Program
from kernelwright.dsl.launch import hole_admits
from kernelwright.dsl.nodes import Apply, Expr, Literal, Ref, SyncAll, statements
from kernelwright.dsl.parse.source import Source
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.print_program import hole_text
from kernelwright.dsl.types import Name


def check_host(source: Source, program: Program, host: Host) -> list[Diagnostic]:
    """Findings of one host function."""
    found: list[Diagnostic] = []
    names: dict[Name, list[Expr]] = {}
    for item in host_statements(host.body):
        found += [_default(source, hole) for hole in _holes(item) if not _is_legal(hole)]
        if isinstance(item, HostAssign) and isinstance(item.value, EXPRESSIONS):
            names.setdefault(item.name, []).append(item.value)
        if isinstance(item, Launch):
            kernel = program.kernel(item.kernel.text)
            has_sync = any(isinstance(one, SyncAll) for one in statements(kernel.body))
            if has_sync and not _fits(item.cores, names):
                found.append(_too_many(source, item))
    return found


def _holes(item: HostAssign | Launch) -> Iterator[Hole]:
    values = [item.value] if isinstance(item, HostAssign) else [v for _, v in item.arguments]
    yield from (value for value in values if isinstance(value, Hole))


def _is_legal(hole: Hole) -> bool:
    return hole_admits(hole, hole.default)


def _default(source: Source, hole: Hole) -> Diagnostic:
    candidates = list(hole.choices or ())
    if not candidates:
        step = hole.multiple_of or 1
        if step > 0:
            least = max(hole.minimum or step, 1)
            candidates = [max(hole.default // step, 1) * step, -(-least // step) * step]
            if hole.maximum is not None:
                candidates.append(hole.maximum // step * step)
    legal = [value for value in candidates if hole_admits(hole, value) and value > 0]
    fix = source.replace(hole.at, hole_text(replace(hole, default=legal[0]))) if legal else ()
    return Diagnostic(
        "E601",
        hole.at,
        f"the default of {hole.name} breaks the hole's own limits",
        f"default={hole.default}",
        "schedules: a program with all defaults passes every check",
        fix,
    )


def _fits(cores: Expr, names: Mapping[Name, list[Expr]]) -> bool:
    """True where a core count is at most that of the device."""
    match cores:
        case Apply(function="num_cores"):
            return True
        case Apply(function="min", operands=operands):
            return any(_fits(item, names) for item in operands)
        case Apply(function="max", operands=operands):
            return all(_fits(item, names) for item in operands)
        case Ref(name=name) if name in names:
            # The name is left out of what follows, so that `n = n + 1` ends the search.
            rest = {key: values for key, values in names.items() if key != name}
            return all(_fits(value, rest) for value in names[name])
        case Literal(value=value):
            return value <= 1
    return False


def _too_many(source: Source, launch: Launch) -> Diagnostic:
    text = expression_text(launch.cores)
    return Diagnostic(
        "E503",
        launch.cores.at,
        f"{launch.kernel.text} syncs, but may be launched on more cores than the device has",
        f"{text} <= tl.num_cores() is not known",
        "sync_all: cores that do not fit the device never start, so the others would wait for ever",
        source.replace(launch.cores.at, f"tl.min(tl.num_cores(), {text})"),
    )
