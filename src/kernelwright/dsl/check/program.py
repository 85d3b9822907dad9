"""All checks of a program, in order; the entry of the package for users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kernelwright.core.fingerprint import Json
from kernelwright.core.target import Target, load_target
from kernelwright.dsl.bind import Number
from kernelwright.dsl.check.binding import Binding, Origin, bindings_of
from kernelwright.dsl.check.capacity import Excess, check_capacity, check_sizes
from kernelwright.dsl.check.context import new_context
from kernelwright.dsl.check.flow import Flow
from kernelwright.dsl.check.host import check_host
from kernelwright.dsl.check.race import RaceCheck
from kernelwright.dsl.check.structure import StructureCheck
from kernelwright.dsl.check.tensors import check_tensors
from kernelwright.dsl.diagnostics import MOST_SHOWN, Diagnostic, Edit, Severity
from kernelwright.dsl.host_nodes import Hole, Program
from kernelwright.dsl.legalise import legalised
from kernelwright.dsl.nodes import Kernel, stored_tensors
from kernelwright.dsl.parse.file import parse, too_deep
from kernelwright.dsl.parse.source import Source, source_of
from kernelwright.dsl.print_program import hole_text
from kernelwright.dsl.types import Name

DEFAULT_TARGET = "ascend910b"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What checking a program gave.

    Attributes:
        program: The program, where no error was found. Its kernels carry extents for the first
            binding of their compile-time parameters (see `specialised`).
        diagnostics: Errors and warnings, in source order, at most five errors.
        file: Name of the file.
        source: The text.
    """

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    file: str
    source: Source

    @property
    def is_ok(self) -> bool:
        """True where the program is accepted; it may have warnings."""
        return self.program is not None

    def to_json(self) -> dict[str, Json]:
        """`{"ok": bool, "diagnostics": [...]}`."""
        found: list[Json] = [item.to_json(self.file) for item in self.diagnostics]
        return {"ok": self.is_ok, "diagnostics": found}

    def to_text(self) -> str:
        """The diagnostics for a reader; empty where there are none."""
        return "\n".join(item.to_text(self.file, self.source.lines) for item in self.diagnostics)


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """One kernel under one binding.

    Attributes:
        kernel: The kernel with the extents of its operands.
        diagnostics: Findings.
    """

    kernel: Kernel
    diagnostics: tuple[Diagnostic, ...]

    @property
    def is_ok(self) -> bool:
        """True where there is no error."""
        return all(item.severity is not Severity.ERROR for item in self.diagnostics)


@cache
def _target(name: str) -> Target:
    return load_target(name)


def check_file(path: Path | str, *, target: str = DEFAULT_TARGET) -> CheckResult:
    """Check the program in a file.

    Raises:
        OSError: if the file cannot be read.
    """
    data = Path(path).read_bytes()
    return check_source(data.decode("utf-8", errors="replace"), file=str(path), target=target)


def check_source(
    text: str, *, file: str = "program.py", target: str = DEFAULT_TARGET
) -> CheckResult:
    """Check the program in `text`; every text gives a result, nothing in it is executed.

    Args:
        file: Name shown in diagnostics.
        target: Chip whose sizes the program must fit, a file of `core/targets`.
    """
    parsed = parse(text)
    if parsed.program is None:
        return CheckResult(None, _shown(parsed.found), file, parsed.source)
    try:
        return _checked(parsed.program, parsed.source, file, _target(target))
    except RecursionError:
        return CheckResult(None, (too_deep(),), file, parsed.source)


def check_program(program: Program, *, target: str = DEFAULT_TARGET) -> CheckResult:
    """Check a program tree that was not parsed, such as a generator's."""
    return _checked(program, source_of(""), "program", _target(target))


def _checked(program: Program, source: Source, file: str, target: Target) -> CheckResult:
    found: list[Diagnostic] = []
    kernels: list[Kernel] = []
    for kernel in program.kernels:
        checked = [
            _check_kernel(source, kernel, binding, target)
            for binding in bindings_of(program, kernel)
        ]
        found += [item for one in checked for item in one.diagnostics]
        kernels.append(checked[0].kernel)
    for host in program.hosts:
        found += check_host(source, program, host)
        found += check_tensors(source, program, host)
    found = sorted(dict.fromkeys(found), key=lambda item: (item.at.line, item.at.col))
    has_error = any(item.severity is Severity.ERROR for item in found)
    result = None if has_error else replace(program, kernels=tuple(kernels))
    return CheckResult(result, _shown(found), file, source)


def specialised(
    kernel: Kernel, consts: Mapping[str, Number], *, target: str = DEFAULT_TARGET
) -> CheckedKernel:
    """Check a kernel under other values of its compile-time parameters, and write extents into it.

    Extents depend on these values: a schedule with another tile length needs this before lowering.

    Args:
        consts: A value a parameter name; one not named here takes its default.
    """
    defaults = {p.name.text: p.default for p in kernel.consts if p.default is not None}
    binding = Binding({**defaults, **consts})
    return _check_kernel(source_of(""), kernel, binding, _target(target))


def _check_kernel(
    source: Source, kernel: Kernel, binding: Binding, target: Target
) -> CheckedKernel:
    missing = [p for p in kernel.consts if p.name.text not in binding.values]
    if missing:
        finding = Diagnostic(
            "E101",
            missing[0].at,
            f"the constant {missing[0].name.text} has no value",
            "no launch in this file gives one that is known at compile time",
            "constants: give the parameter a default, or launch the kernel with tl.param",
            _with_default(source, kernel, missing[0].name),
        )
        return CheckedKernel(kernel, (finding,))
    structure = StructureCheck(source, kernel)
    roles = structure.check()
    if structure.found:
        return CheckedKernel(kernel, tuple(structure.found))
    sizes = check_sizes(kernel, binding.values)
    if sizes:
        return CheckedKernel(kernel, tuple(sizes))
    consts = {Name(name): value for name, value in binding.values.items()}
    context = new_context(source, kernel, consts, roles.loaded)
    races = RaceCheck(stored_tensors(kernel))
    body = Flow(context, races.visit).block(kernel.body)
    found = list(context.found)
    if all(item.severity is not Severity.ERROR for item in found):
        races.finish(context)
        found += races.found
    checked = replace(kernel, body=body)
    if all(item.severity is not Severity.ERROR for item in found):
        excesses = check_capacity(legalised(checked), binding.values, target)
        found += [_with_fix(source, excess, binding) for excess in excesses]
    return CheckedKernel(checked, tuple(dict.fromkeys(found)))


def _with_default(source: Source, kernel: Kernel, name: Name) -> tuple[Edit, ...]:
    """A default for a constant, where no parameter without one follows."""
    places = [param.name for param in kernel.params]
    later = kernel.params[places.index(name) + 1 :]
    if any(getattr(param, "default", None) is None for param in later):
        return ()
    param = next(param for param in kernel.params if param.name == name)
    return source.replace(param.at, f"{name.text}: tl.const = 64")


def _with_fix(source: Source, excess: Excess, binding: Binding) -> Diagnostic:
    """The finding, with an edit that writes the largest legal value where the present one is."""
    finding = excess.finding
    origin = binding.origins.get(excess.const) if excess.const is not None else None
    if origin is None or not excess.largest:
        return finding
    value = excess.largest
    if isinstance(origin, Hole):
        step = origin.multiple_of or 1
        value = value // step * step if step > 0 else 0
    if value < 1:
        return finding
    return replace(finding, fix=_written(source, origin, value))


def _written(source: Source, origin: Origin, value: int) -> tuple[Edit, ...]:
    if isinstance(origin, Hole):
        return source.replace(origin.at, hole_text(replace(origin, default=value)))
    if not 1 <= origin.at.line <= len(source.lines):
        return ()
    old = f"{origin.name.text}: tl.const = {origin.default}"
    line = source.lines[origin.at.line - 1].strip()
    new = line.replace(old, f"{origin.name.text}: tl.const = {value}", 1)
    return (Edit(origin.at.line, new),) if new != line else ()


def _shown(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """At most five errors: later ones are usually echoes; warnings all."""
    shown: list[Diagnostic] = []
    errors = 0
    for item in found:
        errors += item.severity is Severity.ERROR
        if item.severity is Severity.WARNING or errors <= MOST_SHOWN:
            shown.append(item)
    return tuple(shown)
