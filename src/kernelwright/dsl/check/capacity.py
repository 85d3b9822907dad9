"""Capacity of every on-chip memory, temporaries included: E301 with the largest legal tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelwright.core.target import Target
from kernelwright.dsl.bind import Number
from kernelwright.dsl.diagnostics import Diagnostic
from kernelwright.dsl.evaluate import LaunchRefused, evaluate
from kernelwright.dsl.legalise import Legal
from kernelwright.dsl.nodes import Buffer, Kernel, Op, statements
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.tree import names_in
from kernelwright.dsl.types import Name, Space, row_bytes

TILE_STEP = 64


@dataclass(frozen=True, slots=True)
class Use:
    """Bytes that one memory of a kernel takes.

    Attributes:
        name: Buffer or reason.
        size_bytes: All copies of it.
        formula: How the size comes about.
        is_temporary: The compiler's own.
    """

    name: str
    size_bytes: int
    formula: str
    is_temporary: bool


def uses(
    legal: Legal, space: Space, consts: Mapping[str, Number], target: Target
) -> tuple[Use, ...]:
    """Everything a kernel keeps in one on-chip memory.

    Args:
        consts: Values of the compile-time parameters.

    Raises:
        LaunchRefused: where a size cannot be computed.
    """
    users = {item.buffer.name: item.users for item in legal.temporaries}
    found = []
    for buffer in legal.kernel.buffers:
        if buffer.space is not space:
            continue
        size, formula = _footprint(buffer, consts)
        temporary = buffer.name in users
        name = (
            f"{buffer.name.text} ({', '.join(users[buffer.name])})"
            if temporary
            else buffer.name.text
        )
        found.append(Use(name, size, formula, temporary))
    reserve = _vector_fact(target, "select_reserve_bytes")
    if space is Space.UB and reserve and _selects(legal.kernel):
        found.append(Use("tl.select", reserve, "reserved by the target", True))
    return tuple(found)


def _selects(kernel: Kernel) -> bool:
    return any(isinstance(item, Op) and item.name == "select" for item in statements(kernel.body))


def _footprint(buffer: Buffer, consts: Mapping[str, Number]) -> tuple[int, str]:
    sizes = [int(evaluate(axis, consts)) for axis in buffer.shape]
    depth = int(evaluate(buffer.depth, consts))
    rows = sizes[0] if len(sizes) == 2 else 1
    pitch = row_bytes(sizes[-1], buffer.dtype)
    shape = " x ".join(str(size) for size in sizes)
    formula = f"{shape} {buffer.dtype}" + (f", {depth} copies" if depth != 1 else "")
    return depth * rows * pitch, formula


def capacity_bytes(target: Target, space: Space) -> int:
    """Bytes of one on-chip memory of the target; 0 where it has none."""
    memory = target.facts.get("memory")
    value = memory.get(f"{space}_bytes") if isinstance(memory, Mapping) else None
    return value if isinstance(value, int) else 0


def _vector_fact(target: Target, name: str) -> int:
    vector = target.facts.get("vector")
    value = vector.get(name) if isinstance(vector, Mapping) else None
    return value if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True)
class Excess:
    """A memory that is too small, and the largest value of a constant that would fit."""

    finding: Diagnostic
    const: Name | None
    largest: int | None


def check_capacity(
    legal: Legal, consts: Mapping[str, Number], target: Target
) -> tuple[Excess, ...]:
    """Findings for memories that are too small."""
    return tuple(
        excess for space in Space if (excess := _excess(legal, space, consts, target)) is not None
    )


def check_sizes(kernel: Kernel, consts: Mapping[str, Number]) -> list[Diagnostic]:
    """Findings for buffers whose sizes are not positive numbers."""
    return [item for buffer in kernel.buffers for item in _bad_size(buffer, consts)]


def _bad_size(buffer: Buffer, consts: Mapping[str, Number]) -> list[Diagnostic]:
    for part in (*buffer.shape, buffer.depth):
        try:
            value = int(evaluate(part, consts))
        except LaunchRefused as error:
            return [
                Diagnostic(
                    "E101",
                    buffer.at,
                    f"the size of {buffer.name.text} is not known",
                    error.what,
                    "memory: capacities are constants",
                )
            ]
        if not 1 <= value <= 1 << 31:
            return [
                Diagnostic(
                    "E301",
                    buffer.at,
                    f"{buffer.name.text} has an impossible size",
                    f"{expression_text(part)} = {value}",
                    "memory: sizes and buf= are at least 1",
                )
            ]
    return []


def _excess(
    legal: Legal, space: Space, consts: Mapping[str, Number], target: Target
) -> Excess | None:
    parts = uses(legal, space, consts, target)
    most, total = capacity_bytes(target, space), sum(part.size_bytes for part in parts)
    if total <= most:
        return None
    const = _tile_const(legal.kernel, space, consts)
    largest = None if const is None else _largest(legal, space, consts, target, const)
    named = sorted(parts, key=lambda part: -part.size_bytes)
    listed = "; ".join(
        f"{'temporary ' if part.is_temporary else ''}{part.name}: {part.size_bytes} B "
        f"({part.formula})"
        for part in named[:8]
    )
    advice = ""
    if const is not None:
        advice = (
            f"; the largest legal {const.text} is {largest}"
            if largest
            else f"; no value of {const.text} fits"
        )
    first = next(one for one in legal.kernel.buffers if one.space is space)
    return Excess(
        Diagnostic(
            "E301",
            first.at,
            f"{space.upper()} is too small: {total} B needed, {most} B there",
            listed + advice,
            "capacity: buf copies of every buffer, rows padded to 32 B, and the compiler's "
            "temporaries share one core's memory",
        ),
        const,
        largest,
    )


def _tile_const(kernel: Kernel, space: Space, consts: Mapping[str, Number]) -> Name | None:
    """The constant that makes most of the memory: the one in most buffers' shapes."""
    counts: dict[Name, int] = {}
    for buffer in kernel.buffers:
        if buffer.space is space:
            for axis in buffer.shape:
                for name in names_in(axis):
                    counts[name] = counts.get(name, 0) + 1
    known = [name for name in counts if isinstance(consts.get(name.text), int)]
    return max(known, key=lambda name: (counts[name], int(consts[name.text])), default=None)


def _largest(
    legal: Legal, space: Space, consts: Mapping[str, Number], target: Target, const: Name
) -> int | None:
    most = capacity_bytes(target, space)

    def fits(value: int) -> bool:
        changed = {**consts, const.text: value}
        return sum(part.size_bytes for part in uses(legal, space, changed, target)) <= most

    start = int(consts[const.text])
    step = TILE_STEP if start > TILE_STEP else 1
    low, high = 0, start // step
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle * step):
            low = middle
        else:
            high = middle - 1
    return low * step or None
