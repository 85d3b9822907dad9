"""What the drawn kernels have in common: tensors, tiles, bodies."""

from __future__ import annotations

from dataclasses import dataclass, field

from support.dsl_fuzz.operations import CASTS, in_place, steps
from support.dsl_fuzz.writer import FLOATS, MOVED, NUMBERS, Extent, Value, Writer

WEIGHTED = ("f32", "f32", "f32", "f32", "f16", "f16", "i32", "i32", *MOVED)


@dataclass
class Maker:
    """Makes the kernels of one program.

    Attributes:
        dims: Dimensions of the tensors that a tile is loaded from.
        place: How a tile is written as a slice.
        extent: Its sizes.
    """

    w: Writer
    dims: str
    place: str
    extent: Extent
    inputs: list[tuple[str, str, str, Extent]] = field(default_factory=list)
    outputs: list[tuple[str, str, str]] = field(default_factory=list)

    # --- tensors ---------------------------------------------------------------------------------

    def input(self, dtype: str, dims: str, place: str, extent: Extent) -> None:
        name = self.w.fresh("g")
        self.inputs.append((name, dtype, place, extent))
        self.w.params.append((name, f'"{dtype}[{dims}]"'))

    def output(self, dtype: str, dims: str, place: str) -> str:
        name = self.w.fresh("y")
        self.outputs.append((name, dtype, dims))
        self.w.params.append((name, f'"{dtype}[{dims}]"'))
        return f"{name}[{place}]"

    def load(self, count: int, fill: str = "") -> None:
        """Some of the inputs as values; a buffer of an earlier load may be used again."""
        w = self.w
        held = [v for v in w.pool if v.buffer in w.loaded and not v.is_fixed]
        with w.block("with tl.copyin():"):
            for name, dtype, place, extent in w.rng.sample(self.inputs, count):
                kind = "u8" if dtype == "bool" and w.chance(0.5) else dtype
                same = [v for v in held if (v.dtype, v.extent) == (kind, extent)]
                if same and w.chance(0.3):
                    buffer = w.rng.choice(same).buffer
                    held = [v for v in held if v.buffer != buffer]
                else:
                    buffer = w.buffer(kind, extent, "b", w.rng.choice([1, 2, 2]))
                w.loaded.add(buffer)
                w.emit(f"tl.load({buffer}, {name}[{place}]{fill})")
                w.holds(buffer, kind, extent)

    def use_loaded(self) -> None:
        """A reader for each loaded tile, so that none is loaded in vain; floats of each."""
        w = self.w
        for v in [v for v in w.pool if v.buffer in w.loaded and not v.is_fixed]:
            if v.dtype in ("bf16", "i8", "u8", "bool") or w.chance(0.15):
                goal = w.rng.choice([g for g in CASTS[v.dtype] if g in (*FLOATS, "i32")])
                word = ', round="trunc"' if v.dtype in (*FLOATS, "bf16") and goal == "i32" else ""
                d = w.dest(goal, v.extent)
                w.emit(f"tl.cast({d}, {v.text}{word})")
                w.holds(d, goal, v.extent)
            elif w.chance(0.5):
                d = w.dest(v.dtype, v.extent)
                w.emit(f"tl.adds({d}, {v.text}, {1 if v.dtype[0] == 'i' else 0.5})")
                w.holds(d, v.dtype, v.extent)
            else:
                d = w.dest(v.dtype, v.extent)
                w.emit(f"tl.copy({d}, {v.text})")
                w.holds(d, v.dtype, v.extent)

    def results(self, count: int) -> list[tuple[Value, str]]:
        """Values to be stored, newest first, each moved where a store may take it from."""
        w = self.w
        found: list[Value] = []
        for v in reversed(w.pool):
            if v.extent == self.extent and v.dtype in MOVED and v.text == v.buffer:
                found.append(v)
        if not found:  # everything was given up: a value from nothing
            name = w.buffer("f32", self.extent, "t")
            w.emit(f"tl.fill({name}, {w.real()}, {', '.join(self.extent)})")
            found.append(w.holds(name, "f32", self.extent))
        done: list[tuple[Value, str]] = []
        for v in found[:count]:
            buffer = w.buffer(v.dtype, v.extent, "o", w.rng.choice([1, 2]))
            call = "copy" if v.dtype not in FLOATS or w.chance(0.5) else "maxs"
            w.emit(f"tl.{call}({buffer}, {v.text}{', -3.0e38' if call == 'maxs' else ''})")
            done.append((v, buffer))
        return done

    def store(self, done: list[tuple[Value, str]], targets: list[str]) -> None:
        w = self.w
        with w.block("with tl.copyout():"):
            for (_, buffer), target in zip(done, targets, strict=True):
                w.emit(f"tl.store({target}, {buffer})")

    # --- bodies ----------------------------------------------------------------------------------

    def compute(self, count: int) -> None:
        """Operations in one or several regions, some under an if or in a short loop."""
        w = self.w
        with w.block("with tl.compute():"):
            self.use_loaded()
            steps(w, count)
        if w.chance(0.25):
            self._branch()
        if w.chance(0.2):
            self._short_loop()
        if w.chance(0.3):
            with w.block("with tl.compute():"):
                steps(w, max(1, count // 2))

    def _from_nothing(self) -> None:
        """A value where nothing is left to be loaded."""
        w = self.w
        with w.block("with tl.compute():"):
            name = w.dest("f32", self.extent)
            w.emit(f"tl.fill({name}, {w.real()}, {', '.join(self.extent)})")
            w.holds(name, "f32", self.extent)

    def _held(self) -> Value | None:
        held = [
            v
            for v in self.w.pool
            if not v.is_fixed
            and v.text == v.buffer
            and v.buffer not in self.w.loaded
            and v.dtype in NUMBERS
        ]
        return self.w.rng.choice(held) if held else None

    def _branch(self) -> None:
        w, value = self.w, self._held()
        if value is None:
            return
        conditions = [f"{w.integer()} {op} {w.integer()}" for op in ("<", "==", ">=")]
        if w.reals:
            conditions.append(f"{w.rng.choice(w.reals)} > 0.25")
            conditions.append(f"{w.rng.choice(w.reals)} < 1.5 and {w.integer()} % 2 == 0")
            conditions.append(f"not {w.rng.choice(w.reals)} <= 0.25")
        for word in ("if " + w.rng.choice(conditions) + ":", "else:"):
            with w.block(word), w.block("with tl.compute():"):
                in_place(w, value)
            if w.chance(0.5):
                return

    def _short_loop(self) -> None:
        w, value = self.w, self._held()
        if value is None:
            return
        k, count = w.fresh("k"), w.rng.choice([1, 2, 3, 5])
        form = w.rng.choice(["range({})", "tl.static_range({})", "range(1, {} + 1)"])
        with w.body(f"for {k} in {form.format(count)}:", (k,)), w.block("with tl.compute():"):
            in_place(w, value)

    def _target(self, dtype: str) -> str:
        """Where a tile is stored: in an output, or back to where an input was loaded from."""
        w = self.w
        own = [k for k, item in enumerate(self.inputs) if item[1:3] == (dtype, self.place)]
        if self.outputs and own and w.chance(0.3):
            name = self.inputs.pop(w.rng.choice(own))[0]
            kinds = dict(w.params)
            if " inout" not in kinds[name]:
                changed = kinds[name].replace(']"', '] inout"')
                w.params = [(p, changed if p == name else kind) for p, kind in w.params]
            return f"{name}[{self.place}]"
        return self.output(dtype, self.dims, self.place)

    def tile(self) -> None:
        """One tile: loads, operations, stores."""
        w = self.w
        if self.inputs:
            self.load(w.rng.randint(1, len(self.inputs)))
        else:
            self._from_nothing()
        self.compute(w.rng.randint(2, 9))
        with w.block("with tl.compute():"):
            done = self.results(w.rng.choice([1, 1, 2, 3]))
        self.store(done, [self._target(v.dtype) for v, _ in done])
