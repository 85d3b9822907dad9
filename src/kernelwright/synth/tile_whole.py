"""A reduction of everything: each core reduces its share, a second kernel joins what they found."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.core.errors import NotCovered
from kernelwright.synth.expr import Expr
from kernelwright.synth.tile_kernel import PARTS, TileKernel, core_loop
from kernelwright.synth.tile_layout import FIX
from kernelwright.synth.tile_rules import letter, start_of, stepped
from kernelwright.synth.tile_scope import Lines, Step, Tile, moved


@dataclass(slots=True)
class WholeKernels:
    """Writes the two kernels of a reduction of everything.

    Attributes:
        writer: Names, values and rules of the kernel.
    """

    writer: TileKernel

    def __post_init__(self) -> None:
        kernel = self.writer.kernel
        if len(kernel.passes) != 1 or kernel.full_stores:
            raise NotCovered("a reduction of everything in several passes", fix=FIX)

    @property
    def _reductions(self) -> tuple[Expr, ...]:
        return self.writer.kernel.passes[0]

    def work(self) -> Lines:
        """Return what the host function makes: a place for every core."""
        places = [f"{PARTS} = tl.num_cores()"]
        return places + [f'{ws} = tl.workspace("f32[{PARTS}, 8]")' for ws in self._places()]

    def _places(self) -> list[str]:
        return [f"ws{place}" for place in range(len(self._reductions))]

    def launches(self) -> Lines:
        """Return the two launches."""
        layout = self.writer.layout
        numbers = [f"{number}={number}" for number in layout.numbers.values()]
        loaded = [tensor.name for tensor in layout.loaded]
        stored = [tensor.name for tensor in layout.stored]
        first = ", ".join([*loaded, *self._places(), *numbers, "TILE=TILE"])
        last = ", ".join([*loaded, *self._places(), *stored, *numbers])
        return [f"{self.writer.name}[{PARTS}]({first})", f"{self.writer.name}_join[1]({last})"]

    def kernels(self) -> list[Lines]:
        """Return both kernels."""
        return [self._first(), self._last()]

    def _parameters(self, *, is_first: bool) -> str:
        layout = self.writer.layout
        given = [f'{tensor.name}: "{tensor.type}"' for tensor in layout.loaded]
        given += [f'{ws}: "f32[{PARTS}, 8]"' for ws in self._places()]
        if not is_first:
            given += [f'{tensor.name}: "{tensor.type}"' for tensor in layout.stored]
        given += [f"{number}: tl.f32" for number in layout.numbers.values()]
        return ", ".join(given + (["TILE: tl.const"] if is_first else []))

    def _first(self) -> Lines:
        writer, values = self.writer, self.writer.values
        outer = writer.layout.axes[:-1]
        core = values.open([], set(), extent="", is_leaf=False)
        names = [values.bound(start_of(item), core, letter(item)) for item in self._reductions]
        variables = {axis.var for axis in writer.layout.axes}
        values.open(core_loop(outer, writer.layout.inner), variables, extent="n", is_leaf=True)
        for reduction, name in zip(self._reductions, names, strict=True):
            writer.fold(reduction, name)
        values.close()
        for place, name in zip(self._places(), names, strict=True):
            out = values.buffers.make(f"{place}_ub", "f32", depth=2, capacity="64")
            core.steps.append(Step(f"tl.fill({{d}}, {name}, 8)", Tile("f32", out), ()))
            core.stores.append(f"tl.store({place}[tl.core_id(), 0:8], {out})")
        body = values.close()
        head = [f"tl.require(tl.num_cores() <= {PARTS})", *values.buffers.lines()]
        parameters = self._parameters(is_first=True)
        return [
            "@tl.kernel", f"def {writer.name}({parameters}):", *moved([*head, *body]),
        ]  # fmt: skip

    def _last(self) -> Lines:
        writer = TileKernel(self.writer.program, self.writer.kernel, f"{self.writer.name}_join")
        values = writer.values
        core = values.open([], set(), extent="", is_leaf=False)
        for place, reduction in zip(self._places(), self._reductions, strict=True):
            total = values.bound(start_of(reduction), core, letter(reduction))
            values.open([f"for p in range({PARTS}):"], {"p"}, extent="", is_leaf=True)
            part = f"{place}_v"
            values.here.loads.append(f"{part} = tl.load_scalar({place}[p, 0])")
            values.here.scalars.append(stepped(reduction, total, part))
            values.close()
            core.names[reduction.uid] = total
        values.forget()
        for store in writer.kernel.row_stores:
            value, tensor = values.value(store.value), writer.stores.target(store)
            steps, out = writer.stores.single(value, tensor)
            core.flush(values.buffers)
            core.lines += [
                "if tl.core_id() == 0:",
                *moved(["with tl.compute():", *moved([str(step) for step in steps])]),
                *moved(["with tl.copyout():", *moved([f"tl.store({tensor.name}[0:1], {out})"])]),
            ]
        body = values.close()
        parameters = self._parameters(is_first=False)
        return [
            "@tl.kernel", f"def {writer.name}({parameters}):",
            *moved([*values.buffers.lines(), *body]),
        ]  # fmt: skip
