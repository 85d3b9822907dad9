"""Kernels of several forms, drawn at random."""

from __future__ import annotations

import random

from support.dsl_fuzz.maker import WEIGHTED, Maker
from support.dsl_fuzz.operations import steps
from support.dsl_fuzz.writer import FLOATS, MOVED, Extent, Writer

ROW = {"n": "TILE", "TILE": "TILE", "1": "1", "8": "8"}
"""Capacities of a kernel of rank 1."""


def flat(rng: random.Random, first_input: str = "") -> Maker:
    """Tiles of a long row, shared out; the first tensor may be asked to have a type."""
    w = Writer(rng, dict(ROW))
    make = Maker(w, "N", "i:i + n", ("n",))
    if first_input:
        make.input(first_input, make.dims, make.place, make.extent)
    inputs(make)
    scalars(w)
    with w.body("for i, n in tl.core_tiles(N, TILE):", ("i", "n")):
        make.tile()
        if w.chance(0.3):
            make.tile()
    return make


def rows(rng: random.Random) -> Maker:
    """Rows shared out, each in tiles, with what goes on from tile to tile."""
    w = Writer(rng, dict(ROW))
    make = Maker(w, "R, C", "r, c:c + n", ("n",))
    inputs(make)
    if w.chance(0.4):
        make.input(rng.choice(WEIGHTED), "C", "c:c + n", ("n",))
    scalars(w)
    scalar_of_row = w.fresh("g") if w.chance(0.4) else ""
    if scalar_of_row:
        w.params.append((scalar_of_row, f'"{rng.choice(["f32", "i32", "i64"])}[R]"'))
    with w.body("for r in tl.core_range(R):", ("r",)):
        if scalar_of_row:
            name = w.fresh("s")
            with w.block("with tl.copyin():"):
                w.emit(f"{name} = tl.load_scalar({scalar_of_row}[r])")
            w.reals.append(f"({name} * 1.0)")
        _pass_over_row(make)
        if w.chance(0.35):
            with w.body(_tiles_of(w), ("c", "n")):
                make.tile()
    return make


def _tiles_of(w: Writer) -> str:
    word = ", reverse=True" if w.chance(0.25) else ""
    return f"for c, n in tl.tiles(C, TILE{word}):"


def _pass_over_row(make: Maker) -> None:
    w = make.w
    running, total = w.fresh("s"), w.fresh("s")
    acc, kind = w.buffer("f32", ("TILE",), "a"), w.rng.choice(["add", "max", "min"])
    w.emit(f"{running} = {w.rng.choice(['0.0', '-3.0e38', '1.0'])}")
    carry = w.buffer("f32", ("1",), "q") if w.chance(0.4) else ""
    with w.block("with tl.compute():"):
        w.emit(
            f"tl.fill({acc}, {'0.0' if kind == 'add' else w.rng.choice(['1.0', '-3.0e38'])}, TILE)"
        )
        if carry:
            w.emit(f"tl.fill({carry}, 0.0, 1)")
    w.reals.append(running)
    with w.body(_tiles_of(w), ("c", "n")):
        make.load(w.rng.randint(1, len(make.inputs)))
        make.compute(w.rng.randint(2, 7))
        with w.block("with tl.compute():"):
            value = w.some(("f32",), make.extent)
            if value is not None:
                if carry:
                    d = w.dest("f32", make.extent, avoid=(value.buffer,))
                    w.emit(f"tl.cumsum({d}, {value.text}, {carry})")
                    w.holds(d, "f32", make.extent)
                w.emit(f"tl.{kind}({acc}[0:n], {acc}[0:n], {value.text})")
                if w.chance(0.6):
                    form = w.rng.choice(["{0} = tl.max({0}, tl.reduce_max({1}))",
                                         "{0} = tl.min({0}, tl.reduce_min({1}))",
                                         "{0} = {0} + tl.reduce_sum({1})"])  # fmt: skip
                    w.emit(form.format(running, value.text))
            done = make.results(w.rng.choice([1, 1, 2]))
        make.store(done, [make.output(v.dtype, make.dims, make.place) for v, _ in done])
    with w.block("with tl.compute():"):
        out = w.buffer("f32", ("8",), "o")
        w.emit(f"{total} = tl.reduce_{w.rng.choice(['sum', 'max', 'min'])}({acc})")
        w.emit(f"tl.fill({out}, {running} + {total} * 0.5, 8)")
    w.reals += [total]
    with w.block("with tl.copyout():"):
        w.emit(f"tl.store({make.output('f32', 'R, 8', 'r, 0:8')}, {out})")


def squares(rng: random.Random) -> Maker:
    """Tiles of rank 2."""
    capacity = {"n": "COLS", "m": "ROWS", "1": "1", "8": "8", "COLS": "COLS"}
    w = Writer(rng, capacity)
    make = Maker(w, "R, C", "r:r + m, c:c + n", ("m", "n"))
    inputs(make)
    if w.chance(0.6):
        make.input(rng.choice(WEIGHTED), "C", "c:c + n", ("n",))
    if w.chance(0.6):
        make.input(rng.choice(WEIGHTED), "R, 1", "r:r + m, 0:1", ("m", "1"))
    if w.chance(0.2):
        make.input(rng.choice(WEIGHTED), "1, C", "0:1, c:c + n", ("1", "n"))
    scalars(w)
    with (
        w.body("for r, m in tl.core_tiles(R, ROWS):", ("r", "m")),
        w.body(f"for c, n in tl.tiles(C, COLS{', reverse=True' if w.chance(0.2) else ''}):",
               ("c", "n")),
    ):  # fmt: skip
        make.tile()
    return make


def columns(rng: random.Random) -> Maker:
    """Columns shared out, rows gone through one after the other."""
    w = Writer(rng, dict(ROW))
    make = Maker(w, "C", "c:c + n", ("n",))
    for _ in range(rng.randint(1, 2)):
        make.input(rng.choice(WEIGHTED), "R, C", "k, c:c + n", ("n",))
    scalars(w)
    with w.body("for c, n in tl.core_tiles(C, TILE):", ("c", "n")):
        sums = [w.buffer("f32", ("n",), "a") for _ in range(rng.randint(1, 2))]
        with w.block("with tl.compute():"):
            for name in sums:
                w.emit(f"tl.fill({name}, {w.real()}, n)")
                w.holds(name, "f32", ("n",))
        with w.body("for k in range(R):", ("k",)):
            make.load(rng.randint(1, len(make.inputs)))
            with w.block("with tl.compute():"):
                make.use_loaded()
                steps(w, rng.randint(0, 5))
                for name in sums:
                    value = w.some(("f32",), ("n",))
                    if value is not None:
                        call = w.rng.choice(["add", "max", "min", "axpy"])
                        last = (
                            f"{value.text}, {w.real()}"
                            if call == "axpy"
                            else f"{name}, {value.text}"
                        )
                        if call == "axpy" and value.buffer == name:
                            continue
                        w.emit(f"tl.{call}({name}, {last})")
        with w.block("with tl.compute():"):
            steps(w, rng.randint(0, 4))
            done = make.results(rng.choice([1, 2]))
        make.store(done, [make.output(v.dtype, make.dims, make.place) for v, _ in done])
    return make


def _window_input(make: Maker) -> tuple[str, int]:
    """A tensor of which shifted windows are read: its type, and the step of picks on chip or 0."""
    w, rng = make.w, make.w.rng
    step, pad = rng.choice([1, 1, 2, 3]), rng.randint(0, 3)
    start = f"c * {step} + k - {pad}"
    is_wide = step > 1 and rng.random() < 0.4  # loaded whole, elements picked on chip
    extent: Extent = ("n",)
    if is_wide:
        w.capacity[f"n * {step}"] = f"TILE * {step}"
        place, extent = f"r, {start}:{start} + n * {step}", (f"n * {step}",)
    elif step > 1:
        place = f"r, {start}:{start} + (n - 1) * {step} + 1:{step}"
    else:
        place = f"r, {start}:{start} + n"
    dtype = rng.choice(["f32", "f32", "f16", "i32", *MOVED])
    dtype = "bf16" if is_wide and dtype in ("i8", "u8", "bool") else dtype
    make.input(dtype, f"R, C * {step} + {rng.randint(0, 4)}", place, extent)
    return dtype, step if is_wide else 0


def _window_step(make: Maker, acc: str, dtype: str, step: int) -> None:
    """One window, joined to what came before."""
    w, rng = make.w, make.w.rng
    fill = "-tl.inf" if dtype in FLOATS and w.chance(0.3) else rng.choice(["0", "1", "3"])
    fill = "0.0" if fill == "0" and dtype in (*FLOATS, "bf16") else fill
    make.load(1, f", fill={fill}")
    with w.block("with tl.compute():"):
        if step:
            picked = w.dest(dtype, ("n",))
            source = w.pool[-1].text
            w.emit(f"tl.strided({picked}, {source}, {rng.randrange(step)}, {step}, n)")
            w.holds(picked, dtype, ("n",))
            w.pool = [v for v in w.pool if v.text != source]
        else:
            make.use_loaded()
        steps(w, rng.randint(0, 3))
        value = w.some(("f32",), ("n",))
        if value is not None and value.buffer != acc:
            w.emit(f"tl.{rng.choice(['add', 'max', 'min'])}({acc}, {acc}, {value.text})")


def windows(rng: random.Random) -> Maker:
    """Shifted, filled and strided loads."""
    w = Writer(rng, dict(ROW))
    make = Maker(w, "R, C", "r, c:c + n", ("n",))
    dtype, step = _window_input(make)
    scalars(w)
    kind = rng.choice(["f32", "f16", "i32"])
    w.params.append(("h", f'"{kind}[C]"'))
    with w.body("for r in tl.core_range(R):", ("r",)), w.body(_tiles_of(w), ("c", "n")):
        side = w.buffer(kind, ("n",), "b", 2)
        with w.block("with tl.copyin():"):
            w.emit(f"tl.load({side}, h[c:c + n])")
        w.loaded.add(side)
        w.holds(side, kind, ("n",))
        acc = w.buffer("f32", ("n",), "a")
        with w.block("with tl.compute():"):
            w.emit(f"tl.fill({acc}, {rng.choice(['0.0', '-3.0e38', '1.0'])}, n)")
            make.use_loaded()
        w.holds(acc, "f32", ("n",))
        loop = rng.choice(["range({})", "tl.static_range({})", "range(0, {})"])
        with w.body(f"for k in {loop.format(rng.randint(1, 5))}:", ("k",)):
            _window_step(make, acc, dtype, step)
        with w.block("with tl.compute():"):
            steps(w, rng.randint(0, 4))
            done = make.results(rng.choice([1, 2]))
        make.store(done, [make.output(v.dtype, make.dims, make.place) for v, _ in done])
    return make


def inputs(make: Maker) -> None:
    for _ in range(make.w.rng.randint(1, 3)):
        make.input(make.w.rng.choice(WEIGHTED), make.dims, make.place, make.extent)


def scalars(w: Writer) -> None:
    if w.chance(0.4):
        w.params.append(("s", "tl.f32"))
        w.reals.append("s")
    if w.chance(0.3):
        w.params.append(("p", "tl.i64"))
        w.integers.append("p")
