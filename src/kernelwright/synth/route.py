"""Which way each kernel is printed: by the kernel language's printer, or as C++ directly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelwright.core.errors import NotCovered
from kernelwright.dsl import check_source
from kernelwright.dsl.lower import Role, Signature, lower_cpp
from kernelwright.synth.accumulate import kind_of
from kernelwright.synth.expr import walk
from kernelwright.synth.nest import size_name
from kernelwright.synth.program import Kernel, Program
from kernelwright.synth.source import kernel_source, parameters
from kernelwright.synth.tile_source import TileProgram, WrittenWrong, tile_program

DSL, CPP = "dsl", "cpp"
"""Values of the choice `route`."""


@dataclass(frozen=True, slots=True)
class Printed:
    """The C++ of a program.

    Attributes:
        files: Content by part.
        calls: (function, arguments as Python text), in the order in which they must run.
    """

    files: Mapping[str, str]
    calls: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Routes:
    """A program and those of its kernels that the kernel language has.

    Attributes:
        program: The program.
        entry: Name of the C++ entry point.
        tiles: For each kernel its program in the kernel language, None where it has none.
        stopped: (place, construct) of each kernel that has none.
    """

    program: Program
    entry: str
    tiles: tuple[TileProgram | None, ...]
    stopped: tuple[tuple[int, str], ...] = ()
    _lowered: dict[tuple[int, tuple[tuple[str, int], ...]], tuple[str, Signature]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def choices(self) -> tuple[str, ...]:
        """Return the values of the choice `route`, the faster one first; none without a choice.

        `benchmarks/routes.py` measures it: direct C++ is faster for exp(x) - 1, which is one
        function there and several operations in the kernel language. For softmax neither is
        faster outside the noise; it stays with direct C++.
        """
        if not any(self.tiles):
            return ()
        is_direct_faster = any(map(_is_direct_faster, self.program.kernels))
        return (CPP, DSL) if is_direct_faster else (DSL, CPP)

    def printed(self, schedule: Mapping[str, str]) -> Printed:
        """Print the program under a schedule."""
        if schedule.get("route", CPP) == CPP or not any(self.tiles):
            names, axes = parameters(self.program)
            arguments = (*names, *(size_name(axis) for axis in axes))
            text = kernel_source(self.program, schedule, name=self.entry)
            return Printed({"kernel.cpp": self._why_direct() + text}, ((self.entry, arguments),))
        return self._by_kernel(schedule)

    def _by_kernel(self, schedule: Mapping[str, str]) -> Printed:
        files: dict[str, str] = {}
        calls: list[tuple[str, tuple[str, ...]]] = []
        names, axes = parameters(self.program)
        direct = [place for place, tile in enumerate(self.tiles) if tile is None]
        if direct:
            files["direct.cpp"] = self._why_direct() + kernel_source(
                self.program, schedule, name=self.entry, only=direct
            )
        for place, tile in enumerate(self.tiles):
            if tile is None:
                arguments = (*names, *(size_name(axis) for axis in axes))
                calls.append((f"{self.entry}_{place}", arguments))
                continue
            text, signature = self._cpp(place, tile, schedule)
            files["kernel.cpp" if not files.get("kernel.cpp") else f"part_{place}.cpp"] = text
            calls.append((signature.name, _arguments(tile, signature)))
        return Printed(files, tuple(calls))

    def _why_direct(self) -> str:
        """Say of each kernel without a program of the kernel language what stops it."""
        lines = [
            f"// Kernel {place} is written as C++ directly; the kernel language stops at: {why}"
            for place, why in self.stopped
        ]
        return "".join(f"{line}\n" for line in lines)

    def _cpp(
        self, place: int, tile: TileProgram, schedule: Mapping[str, str]
    ) -> tuple[str, Signature]:
        holes = _holes(tile, schedule, is_columns=self.program.kernels[place].is_columns)
        key = (place, tuple(sorted(holes.items())))
        if key not in self._lowered:
            checked = check_source(tile.text).program
            assert checked is not None
            lowered = lower_cpp(checked, tile.host, holes)
            text = f"{_comment(tile.text, holes)}\n{lowered.files['kernel.cpp']}"
            self._lowered[key] = (text, lowered.signature)
        return self._lowered[key]


def routes_of(program: Program, *, entry: str) -> Routes:
    """Write every kernel that the kernel language has as a program of it."""
    tiles: list[TileProgram | None] = []
    stopped: list[tuple[int, str]] = []
    for place in range(len(program.kernels)):
        found = _tile(program, place, entry)
        tiles.append(found if isinstance(found, TileProgram) else None)
        if isinstance(found, str):
            stopped.append((place, found))
    return Routes(program, entry, tuple(tiles), tuple(stopped))


def _tile(program: Program, place: int, entry: str) -> TileProgram | str:
    """Return the program of a kernel, or what the kernel language lacks for it."""
    if program.canonical.counters:
        return "a buffer that counts calls is written by the host side"
    name = entry if len(program.kernels) == 1 else f"{entry}_{place}"
    try:
        return tile_program(program, program.kernels[place], name=name)
    except NotCovered as fault:
        return fault.what
    except WrittenWrong as fault:  # the tests hold every template against this
        return f"its program is refused: {fault}"


def _is_direct_faster(kernel: Kernel) -> bool:
    stores = [store.value for store in (*kernel.row_stores, *kernel.full_stores)]
    if any(value.op == "expm1" for value in walk(stores)):
        return True
    kinds = {kind_of(value) for group in kernel.passes for value in group}
    return bool(kernel.full_stores) and "sumexp" in kinds


def _holes(tile: TileProgram, schedule: Mapping[str, str], *, is_columns: bool) -> dict[str, int]:
    """Return values of a program's schedule holes."""
    wanted = int(schedule["tile"]) * 4 if is_columns else int(schedule["block"])
    holes = {"TILE": min(wanted, tile.tile)}
    if "ROWS" in tile.holes:
        holes["ROWS"] = int(schedule["rows"])
    return holes


def _arguments(tile: TileProgram, signature: Signature) -> tuple[str, ...]:
    tensors = {tensor.name: tensor.buffer for tensor in tile.loaded}
    outputs = {f"out{place}": tensor.buffer for place, tensor in enumerate(tile.returned)}
    dims = {axis.dim: axis.loop.size for tensor in tile.loaded for axis in tensor.axes}
    numbers = iter(tile.numbers)
    found = []
    for item in signature.arguments:
        if item.role is Role.TENSOR:
            found.append(tensors[item.name])
        elif item.role is Role.OUTPUT:
            found.append(outputs[item.name])
        else:
            found.append(dims[item.name] if item.role is Role.DIM else next(numbers))
    return tuple(found)


def _comment(text: str, holes: Mapping[str, int]) -> str:
    chosen = ", ".join(f"{name}={value}" for name, value in holes.items())
    lines = [f"Printed from this program of the kernel language, with {chosen}:", ""]
    return "\n".join(f"// {line}".rstrip() for line in [*lines, *text.strip().splitlines()])
