"""One kernel in the kernel language: maps, rows, columns, and reductions of everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelwright.synth.accumulate import kind_of
from kernelwright.synth.expr import Expr
from kernelwright.synth.program import Kernel, Program
from kernelwright.synth.tile_columns import column_pass
from kernelwright.synth.tile_layout import Axis, Layout, Tensor, layout_of
from kernelwright.synth.tile_rules import SUMS, letter, reduce_of, start_of, stepped
from kernelwright.synth.tile_scope import Lines, Step, moved
from kernelwright.synth.tile_stores import Stores
from kernelwright.synth.tile_values import Values

PARTS = "P"
"""Dimension of what each core leaves behind in a reduction of everything."""


@dataclass(slots=True)
class TileKernel:
    """Writes one kernel.

    Attributes:
        program: What it belongs to.
        kernel: The kernel.
        name: Name of the kernel in the language.
    """

    program: Program
    kernel: Kernel
    name: str
    layout: Layout = field(init=False)
    values: Values = field(init=False)
    stores: Stores = field(init=False)

    def __post_init__(self) -> None:
        self.layout = layout_of(self.program, self.kernel)
        self.values = Values(self.program, self.kernel, self.layout)
        self.stores = Stores(self.layout, self.values)

    @property
    def is_rows(self) -> bool:
        """Whether the innermost axis is reduced."""
        return self.layout.inner.loop.is_reduced

    @property
    def is_whole(self) -> bool:
        """Whether one row is all there is, so that cores must share it."""
        return self.is_rows and not self.layout.outer(is_reduced=False)

    @property
    def has_parts(self) -> bool:
        """Whether sums over many rows are folded every `ROWS` rows."""
        kinds = {kind_of(value) for group in self.kernel.passes for value in group}
        return self.kernel.is_columns and bool(kinds & SUMS)

    def cores(self) -> str:
        """Return how many cores the launch asks for."""
        axes = self.layout.outer(is_reduced=False) if self.is_rows else self._kept()
        return f"tl.min(tl.num_cores(), {' * '.join(axis.dim for axis in axes)})"

    def _kept(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.layout.axes if not axis.loop.is_reduced)

    def lines(self) -> Lines:
        """Return the kernel's text.

        Raises:
            NotCovered: naming what is not covered.
        """
        self.values.open([], set(), extent="", is_leaf=False)
        if self.is_rows:
            self._rows()
        else:
            self._tiles()
        body = self.values.close()
        return [
            "@tl.kernel",
            f"def {self.name}({', '.join(self._parameters())}):",
            *moved([*self.values.buffers.lines(), *body]),
        ]

    def _parameters(self) -> list[str]:
        layout = self.layout
        tensors = (*layout.loaded, *layout.stored)
        given = [f'{tensor.name}: "{tensor.type}"' for tensor in tensors]
        given += [f"{number}: tl.f32" for number in layout.numbers.values()]
        return given + [f"{hole}: tl.const" for hole in self.holes()]

    def holes(self) -> list[str]:
        """Return the names of its compile-time parameters."""
        return ["TILE", "ROWS"] if self.has_parts else ["TILE"]

    def _rows(self) -> None:
        axes = self.layout.outer(is_reduced=False)
        header = core_loop(axes, None)
        self.values.open(header, {axis.var for axis in axes}, extent="", is_leaf=False)
        for group in self.kernel.passes:
            self._row_pass(group)
        row = self.values.here
        for store in self.kernel.row_stores:
            value, tensor = self.values.value(store.value), self.stores.target(store)
            steps, out = self.stores.single(value, tensor)
            row.steps += steps
            row.stores.append(f"tl.store({tensor.name}[{one(tensor)}], {out})")
        row.flush(self.values.buffers)
        if self.kernel.full_stores:
            opened = self.open_reduced()
            self.full_stores()
            self.close(opened)
        self.values.close()

    def _row_pass(self, group: Sequence[Expr]) -> None:
        row = self.values.here
        names = {}
        for reduction in group:
            names[reduction.uid] = self.values.bound(start_of(reduction), row, letter(reduction))
        opened = self.open_reduced()
        for reduction in group:
            self.fold(reduction, names[reduction.uid])
        self.close(opened)
        row.names.update(names)
        self.values.forget()

    def fold(self, reduction: Expr, name: str) -> None:
        """Write the step that joins a tile to a scalar of an outer level."""
        leaf = self.values.here
        tile = self.values.tile(self.values.value(self.term(reduction)), leaf)
        text = stepped(reduction, name, f"tl.reduce_{reduce_of(reduction)}({{0}})")
        leaf.steps.append(Step(text, None, (tile,)))

    def _tiles(self) -> None:
        """Write a map, or columns: cores share tiles of the inner axis."""
        layout, kept = self.layout, self._kept()
        header = core_loop(kept[:-1], layout.inner)
        variables = {axis.var for axis in kept}
        is_map = not self.kernel.passes and not layout.outer(is_reduced=True)
        self.values.open(header, variables, extent="n", is_leaf=is_map)
        tile = self.values.here
        for group in self.kernel.passes:
            column_pass(self, group)
        for store in self.kernel.row_stores:
            self.stores.tile(store)
        if self.kernel.full_stores and is_map:
            self.full_stores()
        elif self.kernel.full_stores:
            tile.flush(self.values.buffers)
            opened = self.open_reduced()
            self.full_stores()
            self.close(opened)
        self.values.close()

    def term(self, reduction: Expr) -> Expr:
        """Return what is joined up: for m2 and sumexp it depends on an earlier reduction."""
        make = self.program.canonical.make
        if kind_of(reduction) == "m2":
            return make.apply("square", make.apply("sub", *reduction.args))
        if kind_of(reduction) == "sumexp":
            return make.apply("exp_down", make.apply("sub", *reduction.args))
        return reduction.args[0]

    def open_reduced(self) -> int:
        """Open all reduced loops; return how many levels that are."""
        outer = self.layout.outer(is_reduced=True)
        if not self.is_rows:
            return self.open_loops(outer, with_leaf=True)
        inner = self.layout.inner
        count = self.open_loops(outer)
        header = [f"for {inner.var}, n in tl.tiles({inner.dim}, TILE):"]
        self.values.open(header, {inner.var}, extent="n", is_leaf=True)
        return count + 1

    def open_loops(self, axes: Sequence[Axis], *, with_leaf: bool = False) -> int:
        """Open loops over `axes`; the last is a leaf if asked; return how many they are."""
        extent = "" if self.is_rows else "n"
        for axis in axes:
            header = [f"for {axis.var} in range({axis.dim}):"]
            is_leaf = with_leaf and axis is axes[-1]
            self.values.open(header, {axis.var}, extent=extent, is_leaf=is_leaf)
        return len(axes)

    def full_stores(self) -> None:
        """Write an element for every position, a tile at a time."""
        for store in self.kernel.full_stores:
            self.stores.tile(store)

    def close(self, count: int) -> None:
        """Close as many levels."""
        for _ in range(count):
            self.values.close()


def core_loop(outer: Sequence[Axis], inner: Axis | None) -> Lines:
    """Return the head of a loop over this core's share, and what its variables are."""
    if inner is not None and not outer:
        return [f"for {inner.var}, n in tl.core_tiles({inner.dim}, TILE):"]
    dims = [axis.dim for axis in outer]
    if inner is None and len(outer) == 1:
        return [f"for {outer[0].var} in tl.core_range({dims[0]}):"]
    rest, found = "t", []
    if inner is not None:
        tiles = f"tl.cdiv({inner.dim}, TILE)"
        dims.append(tiles)
        rest = f"t // {tiles}"
        found = [
            f"{inner.var} = t % {tiles} * TILE",
            f"n = tl.min(TILE, {inner.dim} - {inner.var})",
        ]
    lines = []
    for axis in reversed(outer[1:]):
        lines.append(f"{axis.var} = {rest} % {axis.dim}")
        rest = f"{rest} // {axis.dim}"
    lines.append(f"{outer[0].var} = {rest}")
    return [f"for t in tl.core_range({' * '.join(dims)}):", *reversed(lines), *found]


def one(tensor: Tensor) -> str:
    """Return the index of one element, as a slice."""
    *outer, last = tensor.axes
    return ", ".join([*(axis.var for axis in outer), f"{last.var}:{last.var} + 1"])
