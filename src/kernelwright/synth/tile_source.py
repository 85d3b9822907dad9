"""The program text of one kernel in the kernel language, with its host function, checked."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.dsl import CheckResult, check_source
from kernelwright.synth.program import Kernel, Program
from kernelwright.synth.tile_kernel import TileKernel
from kernelwright.synth.tile_layout import Tensor
from kernelwright.synth.tile_scope import Lines, moved
from kernelwright.synth.tile_whole import WholeKernels

_TILES = (4096, 2048, 1024, 512, 256, 128, 64)
ROWS = 256


@dataclass(frozen=True, slots=True)
class TileProgram:
    """A kernel in the kernel language, accepted by its checks.

    Attributes:
        text: The program.
        host: Name of its host function.
        tile: Default of its hole `TILE`, and the largest value that was accepted.
        holes: Names of its schedule holes.
        loaded: The host function's tensor parameters, in order.
        numbers: Buffers behind its scalar parameters, which follow.
        returned: The tensors that it returns, in order.
    """

    text: str
    host: str
    tile: int
    holes: tuple[str, ...]
    loaded: tuple[Tensor, ...]
    numbers: tuple[str, ...]
    returned: tuple[Tensor, ...]


class WrittenWrong(AssertionError):
    """The checks refuse what was written here: a defect of this package."""


def tile_program(program: Program, kernel: Kernel, *, name: str) -> TileProgram:
    """Return a kernel as a program of the kernel language; `name` is its host function.

    Raises:
        NotCovered: naming what the language or this writer does not have.
        WrittenWrong: if the checks refuse the program at every tile size.
    """
    writer = TileKernel(program, kernel, f"{name}_k")
    kernels, launches, work = _kernels(writer)
    refused = None
    for tile in _TILES:
        text = "\n".join(_program(writer, name, kernels, [*work, *launches], tile))
        result = check_source(text)
        if result.is_ok:
            return _described(writer, text, name, tile)
        refused = result
        if {item.code for item in result.diagnostics} != {"E301"}:
            break
    raise WrittenWrong(_report(text, refused))


def _kernels(writer: TileKernel) -> tuple[list[Lines], Lines, Lines]:
    """Return the kernels, their launches, and what the host makes before."""
    if writer.is_whole:
        whole = WholeKernels(writer)
        return whole.kernels(), whole.launches(), whole.work()
    lines = writer.lines()
    layout = writer.layout
    given = [tensor.name for tensor in (*layout.loaded, *layout.stored)]
    given += [f"{n}={n}" for n in (*layout.numbers.values(), *writer.holes())]
    return [lines], [f"{writer.name}[{writer.cores()}]({', '.join(given)})"], []


def _program(writer: TileKernel, name: str, kernels: list[Lines], body: Lines, tile: int) -> Lines:
    layout = writer.layout
    given = [f'{tensor.name}: "{tensor.type}"' for tensor in layout.loaded]
    given += [f"{number}: tl.f32" for number in layout.numbers.values()]
    types = ", ".join(f'"{tensor.type}"' for tensor in layout.stored)
    result = types if len(layout.stored) == 1 else f"({types})"
    holes = [f'TILE = tl.param("TILE", default={tile}, multiple_of=64)']
    if writer.has_parts:
        holes.append(f'ROWS = tl.param("ROWS", default={ROWS}, min=1)')
    host = [
        *[f'{tensor.name} = tl.empty("{tensor.type}")' for tensor in layout.stored],
        *holes,
        *body,
        f"return {', '.join(tensor.name for tensor in layout.stored)}",
    ]
    lines = ["import kernelwright.language as tl", ""]
    for kernel in kernels:
        lines += ["", *kernel, ""]
    return [*lines, "", "@tl.host", f"def {name}({', '.join(given)}) -> {result}:", *moved(host),
            ""]  # fmt: skip


def _described(writer: TileKernel, text: str, name: str, tile: int) -> TileProgram:
    layout = writer.layout
    return TileProgram(
        text=text,
        host=name,
        tile=tile,
        holes=tuple(writer.holes()),
        loaded=layout.loaded,
        numbers=tuple(layout.numbers),
        returned=layout.stored,
    )


def _report(text: str, result: CheckResult | None) -> str:
    return f"{result.to_text() if result else ''}\n{text}"
