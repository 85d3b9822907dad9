"""Reductions of columns: a tile of them side by side, sums folded every `ROWS` rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kernelwright.synth.accumulate import kind_of
from kernelwright.synth.expr import Expr
from kernelwright.synth.tile_layout import Axis, Layout
from kernelwright.synth.tile_rules import JOIN, SUMS, start_of
from kernelwright.synth.tile_scope import Step, Tile
from kernelwright.synth.tile_values import Values


class Writer(Protocol):
    """What these loops need of the kernel's writer."""

    layout: Layout
    values: Values

    def term(self, reduction: Expr) -> Expr:
        """Return what is joined up."""
        ...

    def open_reduced(self) -> int:
        """Open all reduced loops; return how many levels that are."""
        ...

    def open_loops(self, axes: Sequence[Axis]) -> int:
        """Open loops over `axes`; return how many they are."""
        ...

    def close(self, count: int) -> None:
        """Close as many levels."""
        ...


def column_pass(writer: Writer, group: Sequence[Expr]) -> None:
    """Write the loops of one pass: columns are reduced side by side."""
    tile = writer.values.here
    wholes = {value.uid: _accumulator(writer, value, "") for value in group}
    parts: dict[int, Tile] = {}
    if any(kind_of(value) in SUMS for value in group):
        *outer, last = writer.layout.outer(is_reduced=True)
        opened = writer.open_loops(outer)
        writer.values.open([f"for q, m in tl.tiles({last.dim}, ROWS):"], set(), extent="n",
                         is_leaf=False)  # fmt: skip
        sums = [value for value in group if kind_of(value) in SUMS]
        parts = {value.uid: _accumulator(writer, value, "part_") for value in sums}
        writer.values.open([f"for {last.var} in range(q, q + m):"], {last.var}, extent="n",
                         is_leaf=True)  # fmt: skip
    else:
        opened = writer.open_reduced()
    for value in group:
        _join(writer, value, {**wholes, **parts}[value.uid])
    if parts:
        writer.close(1)
        for value in group:
            if value.uid in parts:
                whole = wholes[value.uid]
                writer.values.here.steps.append(
                    Step("tl.add({d}, {d}, {0})", whole, (parts[value.uid],))
                )
        writer.close(1)
    writer.close(opened)
    tile.names.update(wholes)
    writer.values.forget()


def _accumulator(writer: Writer, reduction: Expr, prefix: str) -> Tile:
    start = start_of(reduction)
    name = writer.layout.names.fresh(f"{prefix}{kind_of(reduction)}")
    made = Tile("f32", writer.values.buffers.make(f"{name}_ub", "f32"))
    writer.values.here.steps.append(Step(f"tl.fill({{d}}, {start}, n)", made, ()))
    return made


def _join(writer: Writer, reduction: Expr, whole: Tile) -> None:
    leaf = writer.values.here
    tile = writer.values.tile(writer.values.value(writer.term(reduction)), leaf)
    join = JOIN[kind_of(reduction)]
    leaf.steps.append(Step(f"tl.{join}({{d}}, {{d}}, {{0}})", whole, (tile,)))
