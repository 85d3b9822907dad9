"""Small programs, one feature of the lowering each, and the numbers they are called with.

Golden files hold what they print (`tests/golden/dsl_cpp`), and mutants of that print must be
noticed (`support.cpp_mutants`).
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

HEAD = "import kernelwright.language as tl\n\n\n"


@dataclass(frozen=True)
class Feature:
    """One program.

    Attributes:
        text: The program, with a host function `f`.
        sizes: Values of its dimension names, for several calls.
    """

    text: str
    sizes: tuple[dict[str, int], ...]


def _map(
    body: str,
    dtype: str = "f32",
    out: str = "",
    more: str = "",
    second: bool = False,
) -> Feature:
    """Tiles of a long row, of one or two tensors."""
    out = out or dtype
    extra = f', w: "{dtype}[N]"' if second else ""
    alloc = f'\n    b = tl.ub(TILE, "{dtype}")' if second else ""
    load = "\n            tl.load(b, w[i:i + n])" if second else ""
    lines = textwrap.indent(textwrap.dedent(body).strip(), " " * 12)
    used = [n for n, call in (("s: tl.f32", ", s"), ("p: tl.i64", ", p")) if call in body]
    scalars = "".join(f", {item}" for item in used)
    names = "".join(f", {item[0]}" for item in used)
    text = f"""{HEAD}@tl.kernel
def k(x: "{dtype}[N]"{extra}, y: "{out}[N]"{scalars}, TILE: tl.const = 72):
    a = tl.ub(TILE, "{dtype}", buf=2){alloc}
    y_ub = tl.ub(TILE, "{out}", buf=2){more}
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(a, x[i:i + n]){load}
        with tl.compute():
{lines}
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)


@tl.host
def f(x: "{dtype}[N]"{extra}{scalars}) -> "{out}[N]":
    y = tl.empty("{out}[N]")
    k[tl.num_cores()](x, {"w, " if second else ""}y{names})
    return y
"""
    return Feature(text, ({"N": 1}, {"N": 73}, {"N": 144}, {"N": 300}))


def _kernel(
    params: str, dims_out: str, body: str, *sizes: dict[str, int], cores: str = "tl.num_cores()"
) -> Feature:
    """A kernel with one output `y`; `params` name the other tensors."""
    inputs = [item.strip() for item in params.split(";") if item.strip()]
    names = ", ".join(item.split(":")[0] for item in inputs)
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    text = f"""{HEAD}@tl.kernel
def k({", ".join(inputs)}, y: "{dims_out}"):
{lines}


@tl.host
def f({", ".join(inputs)}) -> "{dims_out}":
    y = tl.empty("{dims_out}")
    k[{cores}]({names}, y)
    return y
"""
    return Feature(text, sizes)


ROWS = ({"R": 1, "C": 1}, {"R": 4, "C": 65}, {"R": 5, "C": 128}, {"R": 7, "C": 200})
SQUARES = ({"R": 1, "C": 1}, {"R": 5, "C": 17}, {"R": 8, "C": 32}, {"R": 9, "C": 45})


def _rows(setup: str, inside: str, after: str = "", out: str = "f32[R, C]") -> Feature:
    """Rows in tiles: before the tiles, each tile, after them."""
    body = [
        'a = tl.ub(64, "f32", buf=2)',
        'y_ub = tl.ub(64, "f32", buf=2)',
        *textwrap.dedent(setup).strip().split("\n"),
        "for r in tl.core_range(R):",
    ]
    kept = [line for line in body if line]
    start, _, tiles = textwrap.dedent(inside).strip().partition("---\n")
    kept += textwrap.indent(start.strip(), "    ").split("\n") if start.strip() else []
    kept += ["    for c, n in tl.tiles(C, 64):", textwrap.indent(tiles.strip(), " " * 8)]
    kept += [textwrap.indent(textwrap.dedent(after).strip(), "    ")] if after else []
    return _kernel('x: "f32[R, C]"', out, "\n".join(kept), *ROWS)


LOAD = "with tl.copyin():\n    tl.load(a, x[r, c:c + n])\n"
STORE = "with tl.copyout():\n    tl.store(y[r, c:c + n], y_ub)\n"

REDUCED = """
with tl.copyout():
    tl.store(y[r, 0:8], o)
"""


def _reduced(function: str, start: str, join: str) -> Feature:
    """A reduction of each row, tile by tile."""
    return _rows(
        'o = tl.ub(8, "f32")',
        f"s = {start}\n---\n{LOAD}with tl.compute():\n    s = {join.format(f'tl.{function}(a)')}\n",
        f"with tl.compute():\n    tl.fill(o, s, 8)\n{REDUCED}",
        "f32[R, 8]",
    )


def _square(setup: str, inside: str, params: str = 'x: "f32[R, C]"') -> Feature:
    """Tiles of rank 2."""
    body = f"""a = tl.ub((4, 16), "f32", buf=2)
y_ub = tl.ub((4, 16), "f32", buf=2)
{textwrap.dedent(setup).strip()}
for r, m in tl.core_tiles(R, 4):
    for c, n in tl.tiles(C, 16):
        with tl.copyin():
            tl.load(a, x[r:r + m, c:c + n])
{textwrap.indent(textwrap.dedent(inside).strip(), " " * 8)}
        with tl.copyout():
            tl.store(y[r:r + m, c:c + n], y_ub)
"""
    return _kernel(params, "f32[R, C]", body, *SQUARES)


FEATURES: dict[str, Feature] = {
    "map": _map("tl.muls(y_ub, a, 0.5)\ntl.adds(y_ub, y_ub, s)"),
    "map_of_two": _map("tl.sub(y_ub, a, b)\ntl.max(y_ub, y_ub, b)", second=True),
    "map_f16": _map("tl.muls(y_ub, a, 0.3)\ntl.axpy(y_ub, a, s)", "f16"),
    "map_i32": _map("tl.muls(y_ub, a, 3)\ntl.adds(y_ub, y_ub, p)\ntl.shr(y_ub, y_ub, 1)", "i32"),
    "map_i16": _map(
        "tl.rsubs(y_ub, 5, a)\ntl.bitnot(y_ub, y_ub)\ntl.clamp(y_ub, y_ub, -7, 3)", "i16"),
    "functions": _map("tl.exp(y_ub, a)\ntl.tanh(y_ub, y_ub)\ntl.rdivs(y_ub, 1.5, y_ub)"),
    "cast_from_f32": _map('tl.muls(a2, a, 2.5)\ntl.cast(y_ub, a2, round="floor")', out="i8",
                          more='\n    a2 = tl.ub(TILE, "f32")'),
    "cast_from_bf16": _map("tl.cast(y_ub, a)\ntl.adds(y_ub, y_ub, 1.0)", "bf16", "f32"),
    "cast_from_u8": _map("tl.cast(y_ub, a)\ntl.muls(y_ub, y_ub, 0.3)", "u8", "f16"),
    "compare_and_select": _map('tl.cmp(m, a, s, "lt")\ntl.select(y_ub, m, a, b)', second=True,
                               more='\n    m = tl.ub(TILE, "mask")'),
    "leaky": _map("tl.leaky_relu(y_ub, a, 0.25)\ntl.abs(y_ub, y_ub)"),
    "iota_and_gather": _map(
        "tl.iota(k1, 0, n)\ntl.muls(k1, k1, 3)\ntl.clamp(k1, k1, 0, n - 1)\ntl.gather(y_ub, a, k1)",
        more='\n    k1 = tl.ub(TILE, "i32")'),
    "scalar_branch": _kernel('x: "f32[N]"; s: tl.f32', "f32[N]", """
        a = tl.ub(64, "f32")
        y_ub = tl.ub(64, "f32")
        for i, n in tl.core_tiles(N, 64):
            with tl.copyin():
                tl.load(a, x[i:i + n])
            with tl.compute():
                tl.copy(y_ub, a)
            if i % 128 < 64 and s > 0.25:
                with tl.compute():
                    tl.adds(y_ub, y_ub, i + 1)
            else:
                with tl.compute():
                    tl.neg(y_ub, y_ub)
            with tl.copyout():
                tl.store(y[i:i + n], y_ub)
        """, {"N": 1}, {"N": 65}, {"N": 128}, {"N": 321}),
    "sum_of_rows": _reduced("reduce_sum", "0.0", "s + {}"),
    "largest_of_rows": _reduced("reduce_max", "-3.0e38", "tl.max(s, {})"),
    "smallest_of_rows": _reduced("reduce_min", "3.0e38", "tl.min(s, {})"),
    "product_of_rows": _rows('o = tl.ub(8, "f32")\nt = tl.ub(64, "f32")', f"""
s = 1.0
---
{LOAD}with tl.compute():
    tl.clamp(t, a, 0.9, 1.1)
    s = s * tl.reduce_prod(t)
""", f"with tl.compute():\n    tl.fill(o, s, 8)\n{REDUCED}", "f32[R, 8]"),
    "accumulator_with_tails": _rows('acc = tl.ub(64, "f32")\no = tl.ub(8, "f32")', f"""
with tl.compute():
    tl.fill(acc, 0.0, 64)
---
{LOAD}with tl.compute():
    tl.add(acc[0:n], acc[0:n], a)
""", f"with tl.compute():\n    tl.fill(o, tl.reduce_sum(acc), 8)\n{REDUCED}", "f32[R, 8]"),
    "running_sum": _rows('q = tl.ub(8, "f32")', f"""
with tl.compute():
    tl.fill(q, 0.0, 1)
---
{LOAD}with tl.compute():
    tl.cumsum(y_ub, a, q)
{STORE}"""),
    "running_product": _rows('t = tl.ub(64, "f32")', f"""
---
{LOAD}with tl.compute():
    tl.clamp(t, a, 0.8, 1.2)
    tl.cumprod(y_ub, t)
{STORE}"""),
    "two_passes": _rows("", f"""
m = -3.0e38
for c, n in tl.tiles(C, 64):
    with tl.copyin():
        tl.load(a, x[r, c:c + n])
    with tl.compute():
        m = tl.max(m, tl.reduce_max(a))
---
{LOAD}with tl.compute():
    tl.subs(y_ub, a, m)
    tl.exp(y_ub, y_ub)
{STORE}"""),
    "reversed_tiles": _kernel('x: "f32[R, C]"', "f32[R, C]", """
        a = tl.ub(64, "f32")
        y_ub = tl.ub(64, "f32")
        for r in tl.core_range(R):
            t = 0.0
            for c, n in tl.tiles(C, 64, reverse=True):
                with tl.copyin():
                    tl.load(a, x[r, c:c + n])
                with tl.compute():
                    tl.adds(y_ub, a, t)
                    t = t * 0.5 + tl.reduce_sum(a)
                with tl.copyout():
                    tl.store(y[r, c:c + n], y_ub)
        """, *ROWS),
    "rows_reduced": _square('t = tl.ub((4, 1), "f32")', """
with tl.compute():
    tl.reduce_max(t, a, axis=1)
    tl.sub(y_ub, a, t)
"""),
    "columns_reduced": _square('t = tl.ub((1, 16), "f32")', """
with tl.compute():
    tl.reduce_sum(t, a, axis=0)
    tl.div(y_ub, a, t)
"""),
    "broadcast_of_a_row": _square('b = tl.ub(16, "f32")', """
with tl.copyin():
    tl.load(b, g[c:c + n])
with tl.compute():
    tl.mul(y_ub, a, b)
""", 'x: "f32[R, C]"; g: "f32[C]"'),
    "broadcast_of_a_column": _square('b = tl.ub((4, 1), "f32")', """
with tl.copyin():
    tl.load(b, g[r:r + m, 0:1])
with tl.compute():
    tl.add(y_ub, b, a)
""", 'x: "f32[R, C]"; g: "f32[R, 2]"'),
    "running_sum_of_columns": _square("", """
with tl.compute():
    tl.cumsum(y_ub, a, axis=0)
"""),
    "rows_of_a_buffer": _kernel('x: "f32[R, C]"', "f32[R, C]", """
        a = tl.ub((16, 40), "f32")
        y_ub = tl.ub((16, 40), "f32")
        t = tl.ub(40, "f32")
        for r, m in tl.core_tiles(R, 16):
            for c, n in tl.tiles(C, 40):
                with tl.copyin():
                    tl.load(a, x[r:r + m, c:c + n])
                with tl.compute():
                    tl.copy(y_ub, a)
                    tl.fill(t, 5.0, n)
                for k in range(m):
                    with tl.compute():
                        tl.min(t, t, a[k, :])
                for k in range(m):
                    with tl.compute():
                        tl.sub(y_ub[k, :], y_ub[k, :], t)
                with tl.copyout():
                    tl.store(y[r:r + m, c:c + n], y_ub)
        """, {"R": 1, "C": 1}, {"R": 16, "C": 80}, {"R": 33, "C": 41}, {"R": 27, "C": 100}),
    "transposed": _kernel('x: "f32[R, C]"', "f32[C, R]", """
        a = tl.ub((8, 24), "f32")
        y_ub = tl.ub((24, 8), "f32")
        for r, m in tl.core_tiles(R, 8):
            for c, n in tl.tiles(C, 24):
                with tl.copyin():
                    tl.load(a, x[r:r + m, c:c + n])
                with tl.compute():
                    tl.transpose(y_ub, a)
                with tl.copyout():
                    tl.store(y[c:c + n, r:r + m], y_ub)
        """, {"R": 1, "C": 1}, {"R": 9, "C": 48}, {"R": 16, "C": 25}, {"R": 19, "C": 53}),
    "columns": _kernel('x: "f32[R, C]"', "f32[C]", """
        a = tl.ub(40, "f32")
        acc = tl.ub(40, "f32")
        for c, n in tl.core_tiles(C, 40):
            with tl.compute():
                tl.fill(acc, 1.0, n)
            for k in range(R):
                with tl.copyin():
                    tl.load(a, x[k, c:c + n])
                with tl.compute():
                    tl.add(acc, acc, a)
            with tl.copyout():
                tl.store(y[c:c + n], acc)
        """, {"R": 1, "C": 1}, {"R": 8, "C": 80}, {"R": 11, "C": 41}, {"R": 6, "C": 100}),
    "window": _kernel('x: "f32[R, C]"', "f32[R, C]", """
        a = tl.ub(64, "f32")
        y_ub = tl.ub(64, "f32")
        for r in tl.core_range(R):
            for c, n in tl.tiles(C, 64):
                with tl.compute():
                    tl.fill(y_ub, 0.0, n)
                for k in range(3):
                    with tl.copyin():
                        tl.load(a, x[r, c + k - 1:c + k - 1 + n], fill=0.5)
                    with tl.compute():
                        tl.add(y_ub, y_ub, a)
                with tl.copyout():
                    tl.store(y[r, c:c + n], y_ub)
        """, *ROWS),
    "strided_load": _kernel('x: "f32[R, C]"; h: "f32[O]"', "f32[R, O]", """
        tl.require(C >= 3 * O)
        a = tl.ub(64, "f32")
        b = tl.ub(64, "f32")
        y_ub = tl.ub(64, "f32")
        for r in tl.core_range(R):
            for o, n in tl.tiles(O, 64):
                with tl.copyin():
                    tl.load(a, x[r, o * 3:o * 3 + (n - 1) * 3 + 1:3])
                    tl.load(b, h[o:o + n])
                with tl.compute():
                    tl.sub(y_ub, a, b)
                with tl.copyout():
                    tl.store(y[r, o:o + n], y_ub)
        """, {"R": 1, "C": 3, "O": 1}, {"R": 4, "C": 200, "O": 65}, {"R": 5, "C": 384, "O": 128}),
    "strided_pick": _kernel('x: "f32[R, C]"; h: "f32[O]"', "f32[R, O]", """
        tl.require(C >= 2 * O)
        a = tl.ub(128, "f32")
        b = tl.ub(64, "f32")
        y_ub = tl.ub(64, "f32")
        for r in tl.core_range(R):
            for o, n in tl.tiles(O, 64):
                with tl.copyin():
                    tl.load(a, x[r, o * 2:o * 2 + n * 2])
                    tl.load(b, h[o:o + n])
                with tl.compute():
                    tl.strided(y_ub, a, 1, 2, n)
                    tl.sub(y_ub, y_ub, b)
                with tl.copyout():
                    tl.store(y[r, o:o + n], y_ub)
        """, {"R": 1, "C": 2, "O": 1}, {"R": 4, "C": 131, "O": 65}, {"R": 5, "C": 256, "O": 128}),
    "scalar_of_a_row": _kernel('x: "f32[R, C]"; g: "i64[R]"', "f32[R, C]", """
        a = tl.ub(64, "f32")
        y_ub = tl.ub(64, "f32")
        for r in tl.core_range(R):
            with tl.copyin():
                v = tl.load_scalar(g[r])
            for c, n in tl.tiles(C, 64):
                with tl.copyin():
                    tl.load(a, x[r, c:c + n])
                with tl.compute():
                    tl.muls(y_ub, a, v * 0.5)
                with tl.copyout():
                    tl.store(y[r, c:c + n], y_ub)
        """, *ROWS),
}  # fmt: skip


SUM = f"""{HEAD}@tl.kernel
def k(x: "f32[N]", w: "f32[NC, 8] inout", y: "f32[1]"):
    a = tl.ub(64, "f32")
    acc = tl.ub(64, "f32")
    part = tl.ub(8, "f32")
    rest = tl.ub((64, 8), "f32")
    one = tl.ub(8, "f32")
    tl.require(NC <= 64)
    tl.require(tl.num_cores() == NC)
    with tl.compute():
        tl.fill(acc, 0.0, 64)
    for i, n in tl.core_tiles(N, 64):
        with tl.copyin():
            tl.load(a, x[i:i + n])
        with tl.compute():
            tl.add(acc[0:n], acc[0:n], a)
    with tl.compute():
        s = tl.reduce_sum(acc)
        tl.fill(part, 0.0, 8)
        tl.fill(part[0:1], s)
    with tl.copyout():
        tl.store(w[tl.core_id(), 0:8], part)
    tl.sync_all()
    if tl.core_id() == 0:
        with tl.copyin():
            tl.load(rest, w[0:NC, 0:8])
        with tl.compute():
            tl.fill(one, tl.reduce_sum(rest), 1)
        with tl.copyout():
            tl.store(y[0:1], one)


@tl.host
def f(x: "f32[N]") -> "f32[1]":
    y = tl.empty("f32[1]")
    NC = tl.num_cores()
    w = tl.workspace("f32[NC, 8]")
    k[NC](x, w, y)
    return y
"""

ADDED = f"""{HEAD}@tl.kernel
def k(x: "i32[N]", y: "i32[8] inout"):
    a = tl.ub(8, "i32")
    o = tl.ub(8, "i32")
    for i in tl.core_range(N // 8):
        with tl.copyin():
            tl.load(a, x[i * 8:i * 8 + 8])
        with tl.compute():
            tl.adds(o, a, i)
        with tl.copyout():
            tl.store_add(y[0:8], o)


@tl.host
def f(x: "i32[N]", y: "i32[8] inout") -> "i32[8]":
    k[tl.num_cores()](x, y)
    return y
"""

LAUNCHES = f"""{HEAD}@tl.kernel
def k(x: "f32[N]", y: "f32[N]", s: tl.f32, TILE: tl.const):
    a = tl.ub(TILE, "f32")
    o = tl.ub(TILE, "f32")
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(a, x[i:i + n])
        with tl.compute():
            tl.adds(o, a, s)
        with tl.copyout():
            tl.store(y[i:i + n], o)


@tl.host
def f(x: "f32[R, C]", s: tl.f32) -> "f32[R, C]":
    w = tl.workspace("f32[R, C]")
    y = tl.empty("f32[R, C]")
    if C > 100:
        k[tl.num_cores()](tl.view(x, "f32[R*C]"), tl.view(w, "f32[R*C]"), s=s, TILE=64)
    else:
        k[1](tl.view(x, "f32[R*C]"), tl.view(w, "f32[R*C]"), s=2.0, TILE=24)
    k[tl.min(2, R)](tl.view(w, "f32[R*C]"), tl.view(y, "f32[R*C]"), s=s * 3.0, TILE=64)
    return y
"""

FEATURES |= {
    "sum_over_cores": Feature(SUM, ({"N": 1}, {"N": 65}, {"N": 128}, {"N": 1000})),
    "added_by_cores": Feature(ADDED, ({"N": 8}, {"N": 80}, {"N": 250})),
    "several_launches": Feature(
        LAUNCHES, ({"R": 1, "C": 1}, {"R": 3, "C": 70}, {"R": 4, "C": 130})
    ),
}
