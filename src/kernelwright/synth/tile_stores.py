"""What a kernel leaves in global memory: tiles, and single elements."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.core.errors import NotCovered
from kernelwright.synth.expr import BOOL, INDEX
from kernelwright.synth.program import Store
from kernelwright.synth.tile_layout import FIX, Layout, Tensor
from kernelwright.synth.tile_scope import Step, Tile
from kernelwright.synth.tile_values import Values, at


@dataclass(slots=True)
class Stores:
    """Writes stores into the innermost level.

    Attributes:
        layout: Names of the kernel.
        values: Its values.
    """

    layout: Layout
    values: Values

    def single(self, value: Tile | str, tensor: Tensor) -> tuple[list[Step], str]:
        """Return the steps that put a scalar into a tile of one element, and the tile's name."""
        out = Tile(tensor.dtype, self._out(tensor, capacity="64"))
        if tensor.dtype == "f32":
            return [Step(f"tl.fill({{d}}, {value}, 1)", out, ())], out.name
        wide = Tile("f32", self.values.buffers.make("one_ub", "f32", capacity="64"))
        fill = Step(f"tl.fill({{d}}, {value}, 1)", wide, ())
        return [fill, Step('tl.cast({d}, {0}, round="rint")', out, (wide,))], out.name

    def tile(self, store: Store) -> None:
        """Write a value to memory, a tile at a time."""
        scope, tensor = self.values.here, self.target(store)
        value = self.values.tile(self.values.value(store.value), scope)
        out = Tile(tensor.dtype, self._out(tensor))
        if value.dtype == tensor.dtype:
            self._into(value, out)
        else:
            scope.steps.append(Step('tl.cast({d}, {0}, round="rint")', out, (value,)))
        place = at(tensor, self.layout, scope)
        scope.stores.append(f"tl.store({tensor.name}[{place}], {out.name})")

    def _into(self, value: Tile, out: Tile) -> None:
        """Let the operation that makes a value write to the output, or copy it there."""
        scope = self.values.here
        if not value.name and any(step.dest is value for step in scope.steps):
            value.name = out.name
        else:
            scope.steps.append(Step("tl.copy({d}, {0})", out, (value,)))

    def target(self, store: Store) -> Tensor:
        """Return the tensor that a store writes.

        Raises:
            NotCovered: if it has no type that floats can be cast to.
        """
        if store.value.kind in {BOOL, INDEX}:
            raise NotCovered(f"an output of {store.value.kind}", fix=FIX)
        tensor = self.layout.tensor(store.buffer)
        if tensor.dtype not in {"f32", "f16", "bf16"}:
            raise NotCovered(f"an output of {tensor.dtype}", fix=FIX)
        return tensor

    def _out(self, tensor: Tensor, *, capacity: str = "TILE") -> str:
        name = f"{tensor.name}_ub"
        return self.values.buffers.make(name, tensor.dtype, depth=2, capacity=capacity)
