"""What a kernel is in the kernel language: names of loops, sizes and tensors, and their types."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelwright.core.errors import NotCovered
from kernelwright.synth.emit import scalars
from kernelwright.synth.nest import Loop, Nest, leaves_of, nest_of
from kernelwright.synth.program import Buffer, Kernel, Program, Use

DTYPES = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "bool",
    "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "int64": "i64",
}  # fmt: skip
FIX = "this kernel is written in C++ directly"


@dataclass(slots=True)
class Namer:
    """Gives every name once."""

    used: set[str] = field(
        default_factory=lambda: {"tl", "n", "t", "TILE", "ROWS", "P", "p", "q", "m"}
    )

    def fresh(self, wanted: str) -> str:
        """Return the name, with a number where it is taken."""
        name, count = wanted, 1
        while name in self.used or keyword.iskeyword(name):
            count += 1
            name = f"{wanted}_{count}"
        self.used.add(name)
        return name


@dataclass(frozen=True, slots=True)
class Axis:
    """One loop of the kernel.

    Attributes:
        loop: The loop.
        dim: Name of its size.
        var: Name of its variable; of a tile's start for the inner loop.
    """

    loop: Loop
    dim: str
    var: str


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor parameter of the kernel.

    Attributes:
        buffer: Name of the buffer in the program.
        name: Name in the kernel.
        dtype: Element type.
        axes: One a dimension, outermost first; none for a tensor of one element.
    """

    buffer: str
    name: str
    dtype: str
    axes: tuple[Axis, ...]

    @property
    def type(self) -> str:
        """Its annotation."""
        return f"{self.dtype}[{', '.join(axis.dim for axis in self.axes) or '1'}]"


@dataclass(frozen=True, slots=True)
class Layout:
    """Names and types of one kernel.

    Attributes:
        nest: Its loops.
        axes: One a loop, outermost first.
        loaded: Tensors that it reads, then
        stored: those that it writes.
        numbers: Names of scalar parameters, by buffer.
        names: For further names.
    """

    nest: Nest
    axes: tuple[Axis, ...]
    loaded: tuple[Tensor, ...]
    stored: tuple[Tensor, ...]
    numbers: dict[str, str]
    names: Namer

    @property
    def inner(self) -> Axis:
        """The loop that is walked in tiles."""
        return self.axes[-1]

    def outer(self, *, is_reduced: bool) -> tuple[Axis, ...]:
        """Return the kept or the reduced loops except the inner one."""
        return tuple(axis for axis in self.axes[:-1] if axis.loop.is_reduced == is_reduced)

    def tensor(self, buffer: str) -> Tensor:
        """Return the tensor of a buffer."""
        return next(t for t in (*self.stored, *self.loaded) if t.buffer == buffer)

    def product(self, primes: Sequence[int]) -> str:
        """Return the size of several prime axes.

        Raises:
            NotCovered: if they are no whole loops of this kernel.
        """
        rest, dims = set(primes), []
        for axis in self.axes:
            if rest & set(axis.loop.axes):
                if not set(axis.loop.axes) <= rest:
                    raise NotCovered("a size inside a merged loop", fix=FIX)
                rest -= set(axis.loop.axes)
                dims.append(axis.dim)
        if rest:
            raise NotCovered("a size that no loop of the kernel has", fix=FIX)
        return " * ".join(dims) or "1"


def layout_of(program: Program, kernel: Kernel) -> Layout:
    """Return the names and types of a kernel.

    Raises:
        NotCovered: if a buffer has no type in the language or is walked through with a stride.
    """
    nest = nest_of(program, kernel)
    if not kernel.order:
        raise NotCovered("a kernel without loops", fix=FIX)
    names = Namer()
    axes = tuple(_axes(nest, names))
    stores = list(dict.fromkeys(s.buffer for s in (*kernel.row_stores, *kernel.full_stores)))
    loads = list(dict.fromkeys(name for _, name in sorted(
        leaves_of(program, kernel), key=lambda leaf: leaf[0].uid
    )))  # fmt: skip
    numbers = {
        name: names.fresh(name.removesuffix("_in")) for name in loads if name in scalars(program)
    }
    loaded = tuple(
        _tensor(program.buffers[name], axes, names) for name in loads if name not in numbers
    )
    stored = tuple(_tensor(program.buffers[name], axes, names) for name in stores)
    if set(loads) & set(stores) or any(program.buffers[s].use is Use.STATE for s in stores):
        raise NotCovered("a tensor that is read and written", fix=FIX)
    known = {axis for tensor in loaded for axis in tensor.axes}
    if set(axes) - known:
        raise NotCovered("a size that no operand has", fix=FIX)
    return Layout(nest, axes, loaded, stored, numbers, names)


def _axes(nest: Nest, names: Namer) -> list[Axis]:
    made = []
    outer = nest.loops[:-1]
    for loop in nest.loops:
        letter = "R" if loop.is_reduced else "A"
        alike = [other for other in outer if other.is_reduced == loop.is_reduced]
        if loop is nest.inner:
            dim = "N" if not outer else "C" if loop.is_reduced or not nest.outer_reduced else "B"
        else:
            dim = letter if len(alike) == 1 else f"{letter}{alike.index(loop)}"
        var = "i" if dim == "N" else dim.lower()
        made.append(Axis(loop, names.fresh(dim), names.fresh(var)))
    return made


def _tensor(buffer: Buffer, axes: Sequence[Axis], names: Namer) -> Tensor:
    if buffer.dtype not in DTYPES:
        raise NotCovered(f"{buffer.name} of {buffer.dtype}", fix=FIX)
    found: list[Axis] = []
    place = 0
    while place < len(buffer.axes):
        axis = next(a for a in axes if buffer.axes[place] in a.loop.axes)
        found.append(axis)
        place += len(axis.loop.axes)
    if axes[-1] in found[:-1]:
        raise NotCovered(f"{buffer.name} is walked through with a stride", fix=FIX)
    if len(found) > 5:
        raise NotCovered(f"{buffer.name} has more than five dimensions", fix=FIX)
    wanted = buffer.name.removesuffix("_in")
    return Tensor(buffer.name, names.fresh(wanted), DTYPES[buffer.dtype], tuple(found))
