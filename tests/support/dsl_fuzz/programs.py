"""Whole programs, drawn at random: every one should be accepted."""

from __future__ import annotations

import random
from dataclasses import dataclass

from support.dsl_fuzz.kernels import columns, flat, inputs, rows, squares, windows
from support.dsl_fuzz.maker import Maker
from support.dsl_fuzz.writer import Writer

HEAD = "import kernelwright.language as tl\n\n\n"
TILES = (8, 16, 24, 64, 72, 136, 200)
KINDS = {"flat": flat, "rows": rows, "squares": squares, "columns": columns, "windows": windows}


@dataclass(frozen=True)
class Drawn:
    """A program with its entry and the sizes to call it with.

    Attributes:
        sizes: Several choices of values for the dimension names.
    """

    text: str
    name: str
    sizes: tuple[dict[str, int], ...]


def edges(rng: random.Random, tile: int) -> int:
    """A size around the edges of a tile."""
    near = [1, 2, 7, 8, 9, tile - 1, tile, tile + 1, 2 * tile, 2 * tile + 5, 3 * tile + 1]
    return max(1, rng.choice(near))


def draw(rng: random.Random, kind: str = "") -> Drawn:
    """A program."""
    kind = kind or rng.choice([*KINDS, "rows", "squares", "flat", "sums", "chain"])
    if kind == "sums":
        return sums_over_cores(rng)
    if kind == "chain":
        return chain(rng)
    make = KINDS[kind](rng)
    consts = {"ROWS": rng.choice([1, 3, 4, 8]), "COLS": rng.choice([8, 16, 24, 72])}
    if kind != "squares":
        consts = {"TILE": rng.choice(TILES)}
    tile = consts.get("TILE", consts.get("COLS", 8))
    text = HEAD + make.w.kernel("k", consts) + "\n\n" + _host(rng, make, consts)
    return Drawn(text, "f", sizes(rng, tile))


def sizes(rng: random.Random, tile: int) -> tuple[dict[str, int], ...]:
    """Values of the dimension names for two calls."""
    return tuple(
        {"N": edges(rng, tile), "C": edges(rng, tile), "R": rng.choice([1, 2, 3, 5, 9])}
        for _ in range(2)
    )


def _cores(rng: random.Random) -> str:
    return rng.choice(["tl.num_cores()", "tl.num_cores()", "1", "2", "3"])


def _function(make: Maker, params: list[str], lines: list[str]) -> str:
    """A host function that makes the outputs, does what `lines` say and returns them."""
    kinds = [f'"{dtype}[{dims}]"' for _, dtype, dims in make.outputs]
    names = [name for name, _, _ in make.outputs]
    for name, kind in make.w.params:
        if " inout" in kind:
            names.append(name)
            kinds.append(kind.replace(" inout", ""))
    returns = f"({', '.join(kinds)})" if len(kinds) > 1 else kinds[0]
    made = [f'    {name} = tl.empty("{dtype}[{dims}]")' for name, dtype, dims in make.outputs]
    head = f"@tl.host\ndef f({', '.join(params)}) -> {returns}:"
    return "\n".join([head, *made, *lines, f"    return {', '.join(names)}"]) + "\n"


def _host(rng: random.Random, make: Maker, consts: dict[str, int]) -> str:
    outputs = {name for name, _, _ in make.outputs}
    params = [f"{name}: {kind}" for name, kind in make.w.params if name not in outputs]
    words = [f"{name}={value}" for name, value in consts.items()]
    if rng.random() < 0.3:
        words = [f'{n}=tl.param("{n}", default={v})' for n, v in consts.items()]
    given = ", ".join([*(name for name, _ in make.w.params), *words])
    return _function(make, params, [f"    k[{_cores(rng)}]({given})"])


def chain(rng: random.Random) -> Drawn:
    """Two launches, the second of which reads what the first one wrote, under another shape."""
    first = flat(rng)
    tile = rng.choice(TILES)
    dtype = first.outputs[0][1]
    middle = first.outputs[0][0]
    second = flat(rng, first_input=dtype)
    consts = f"TILE={tile}"
    text = first.w.kernel("k", {"TILE": tile}) + "\n\n" + second.w.kernel("l", {"TILE": tile})
    outer = {name for name, _, _ in first.outputs} | {name for name, _, _ in second.outputs}
    renamed = {name: f"l{name}" for name, _ in second.w.params}
    params, given = [], []
    for name, kind in first.w.params:
        if name not in outer or name not in {o for o, _, _ in first.outputs}:
            params.append(f"{name}: {kind.replace('[N]', '[R, C]')}")
    views = []
    for name, kind in first.w.params:
        is_tensor = kind.startswith('"')
        views.append(f'tl.view({name}, {kind.replace("[N]", "[R*C]").replace(" inout", "")})'
                     if is_tensor else name)  # fmt: skip
    results = {name for name, _, _ in second.outputs}
    for place, (name, kind) in enumerate(second.w.params):
        own = renamed[name]
        is_tensor = kind.startswith('"')
        flat_kind = kind.replace("[N]", "[R*C]").replace(" inout", "")
        if place == 0:
            given.append(f"tl.view({middle}, {flat_kind})")
            continue
        if name not in results:
            params.append(f"{own}: {kind.replace('[N]', '[R, C]')}")
        given.append(f"tl.view({own}, {flat_kind})" if is_tensor else own)
    made = [f'    {n} = tl.{"workspace" if n == middle else "empty"}("{d}[R, C]")'
            for n, d, _ in first.outputs]  # fmt: skip
    made += [f'    {renamed[n]} = tl.empty("{d}[R, C]")' for n, d, _ in second.outputs]
    kinds = [f'"{d}[R, C]"' for n, d, _ in (*first.outputs[1:], *second.outputs)]
    names = [n for n, _, _ in first.outputs[1:]] + [renamed[n] for n, _, _ in second.outputs]
    for own, params_of in (("", first.w.params), ("l", second.w.params[1:])):
        for name, kind in params_of:
            if " inout" in kind:
                names.append(own + name)
                kinds.append(kind.replace("[N] inout", "[R, C]"))
    returns = f"({', '.join(kinds)})" if len(kinds) > 1 else kinds[0]
    host = [f"@tl.host\ndef f({', '.join(params)}) -> {returns}:", *made,
            f"    k[{_cores(rng)}]({', '.join([*views, consts])})",
            f"    l[{_cores(rng)}]({', '.join([*given, consts])})",
            f"    return {', '.join(names)}"]  # fmt: skip
    rows_ = tuple({"R": rng.choice([1, 2, 3]), "C": edges(rng, tile)} for _ in range(2))
    return Drawn(HEAD + text + "\n\n" + "\n".join(host) + "\n", "f", rows_)


def sums_over_cores(rng: random.Random) -> Drawn:
    """Partial results of each core, a sync, and what one core or all make of them."""
    w = Writer(rng, {"n": "TILE", "TILE": "TILE", "1": "1", "8": "8", "NC": "64"})
    make = Maker(w, "N", "i:i + n", ("n",))
    inputs(make)
    w.params.append(("w", '"f32[NC, 8] inout"'))
    kind = rng.choice(["sum", "max", "min"])
    w.emit("tl.require(NC <= 64)")
    w.emit("tl.require(tl.num_cores() == NC)")
    _share_of_core(make, kind)
    w.emit("tl.sync_all()")
    whole = w.buffer("f32", ("NC", "8"), "b")
    if rng.random() < 0.5:
        with w.block("if tl.core_id() == 0:"):
            out = w.buffer("f32", ("8",), "o")
            with w.block("with tl.copyin():"):
                w.emit(f"tl.load({whole}, w[0:NC, 0:8])")
            with w.block("with tl.compute():"):
                w.emit(f"tl.fill({out}, tl.reduce_{kind}({whole}), 8)")
            with w.block("with tl.copyout():"):
                w.emit(f"tl.store({make.output('f32', '8', '0:8')}, {out})")
    else:
        with w.block("with tl.copyin():"):
            w.emit(f"tl.load({whole}, w[0:NC, 0:8])")
        with w.block("with tl.compute():"):
            w.emit(f"t = tl.reduce_{kind}({whole}) * 0.125")
        w.reals.append("t")
        with w.body("for i, n in tl.core_tiles(N, TILE):", ("i", "n")):
            make.tile()
    tile = rng.choice(TILES)
    own = {"w", *(name for name, _, _ in make.outputs)}
    params = [f"{name}: {kind}" for name, kind in w.params if name not in own]
    given = ", ".join(name for name, _ in w.params)
    lines = ["    NC = tl.num_cores()", '    w = tl.workspace("f32[NC, 8]")',
             f"    k[NC]({given}, TILE={tile})"]  # fmt: skip
    text = HEAD + w.kernel("k", {"TILE": tile})
    w.params = [item for item in w.params if item[0] != "w"]
    return Drawn(text + "\n\n" + _function(make, params, lines), "f", sizes(rng, tile))


def _share_of_core(make: Maker, kind: str) -> None:
    """Reduce this core's tiles to one row of the workspace."""
    w, rng = make.w, make.w.rng
    start = {"sum": "0.0", "max": "-3.0e38", "min": "3.0e38"}[kind]
    acc, part = w.buffer("f32", ("TILE",), "a"), w.buffer("f32", ("8",), "o")
    with w.block("with tl.compute():"):
        w.emit(f"tl.fill({acc}, {start}, TILE)")
    with w.body("for i, n in tl.core_tiles(N, TILE):", ("i", "n")):
        make.load(rng.randint(1, len(make.inputs)))
        make.compute(rng.randint(1, 5))
        with w.block("with tl.compute():"):
            value = w.some(("f32",), ("n",))
            if value is not None:
                call = "add" if kind == "sum" else kind
                w.emit(f"tl.{call}({acc}[0:n], {acc}[0:n], {value.text})")
    with w.block("with tl.compute():"):
        w.emit(f"s = tl.reduce_{kind}({acc})")
        w.emit(f"tl.fill({part}, s, 8)")
    with w.block("with tl.copyout():"):
        w.emit(f"tl.store(w[tl.core_id(), 0:8], {part})")
