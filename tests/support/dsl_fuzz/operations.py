"""Operations on values, drawn at random: each is well-typed where it stands."""

from __future__ import annotations

from collections.abc import Callable

from support.dsl_fuzz.writer import FLOATS, MOVED, NUMBERS, Value, Writer

UNARY = ("abs", "neg", "relu", "floor", "ceil", "round", "tanh", "sigmoid", "sin", "cos")
MILD = {"exp": "mins({d}, {a}, 2.5)", "ln": "maxs({d}, {a}, 0.05)", "sqrt": "abs({d}, {a})",
        "rsqrt": "maxs({d}, {a}, 0.05)", "recip": "maxs({d}, {a}, 0.1)"}  # fmt: skip
"""Operations that leave the finite numbers easily, and what is done before them mostly."""
CASTS = {
    "f32": ("f16", "bf16", "i32", "i16", "i8", "u8"),
    "f16": ("f32", "bf16", "i32", "i16", "i8", "u8"),
    "bf16": ("f32", "f16", "i32"),
    "i32": ("f32", "f16", "i16"),
    "i16": ("f32", "f16", "i32"),
    "i8": ("f16", "f32", "i32"),
    "u8": ("f16", "f32", "i32"),
    "bool": ("f16", "f32", "i32"),
}
ROUNDED = ("i32", "i16", "i8", "u8")
BROADCASTS = ("auto", "auto", "scalar", "brcb", "full")


def unary(w: Writer) -> None:
    a = w.some(NUMBERS)
    if a is None or a.dtype == "i16":
        return
    names = ["neg", "relu"] if a.dtype == "i32" else [*UNARY, *MILD]
    if a.dtype == "f32":
        names += ["erf", "gelu"]
    name = w.rng.choice(names)
    d = w.dest(a.dtype, a.extent)
    source = a.text
    if name in MILD and w.chance(0.85):
        w.emit("tl." + MILD[name].format(d=d, a=a.text))
        source = d
    word = ""
    if name in ("rsqrt", "recip") and w.chance(0.2):
        word = ", fast=True"
    if name in ("tanh", "sigmoid", "erf", "gelu") and w.chance(0.2):
        word = ', impl="api"'
    w.emit(f"tl.{name}({d}, {source}{word})")
    w.holds(d, a.dtype, a.extent)


def scalar(w: Writer) -> None:
    a = w.some(NUMBERS)
    if a is None:
        return
    if a.dtype in FLOATS:
        name = w.rng.choice("adds subs muls divs maxs mins rsubs rdivs clamp leaky_relu".split())
        s = w.real(is_mild=False)
    else:
        name = w.rng.choice("adds subs muls maxs mins rsubs clamp shl shr".split())
        name = "adds" if name == "muls" and a.dtype == "i16" else name
        s = str(w.rng.randint(0, 15)) if name in ("shl", "shr") else w.integer()
    d = w.dest(a.dtype, a.extent)
    if name in ("rsubs", "rdivs"):
        operands = f"{s}, {a.text}"
    elif name == "clamp":
        low, high = ("-1.5", "1.5") if a.dtype in FLOATS else ("-3", "5")
        operands = f"{a.text}, {s}, {high}" if w.chance(0.3) else f"{a.text}, {low}, {high}"
    else:
        operands = f"{a.text}, {s}"
    w.emit(f"tl.{name}({d}, {operands})")
    w.holds(d, a.dtype, a.extent)


def binary(w: Writer) -> None:
    a = w.some(NUMBERS)
    b = a and w.some((a.dtype,), a.extent)
    if a is None or b is None:
        return
    d = w.dest(a.dtype, a.extent)
    names = ["add", "sub", "mul", "max", "min"]
    if a.dtype in FLOATS:
        names.append("div")
    else:
        names += ["bitand", "bitor"]
    if a.dtype == "i16":
        names.remove("mul")
    name = w.rng.choice(names)
    w.emit(f"tl.{name}({d}, {a.text}, {b.text})")
    w.holds(d, a.dtype, a.extent)


def bitnot(w: Writer) -> None:
    a = w.some(("i32", "i16"))
    if a is not None:
        d = w.dest(a.dtype, a.extent)
        w.emit(f"tl.bitnot({d}, {a.text})")
        w.holds(d, a.dtype, a.extent)


def axpy(w: Writer) -> None:
    a = w.some(FLOATS)
    if a is None:
        return
    held = [v for v in w.pool if (v.dtype, v.extent) == (a.dtype, a.extent) and not v.is_fixed]
    if held:
        d = w.rng.choice(held)
        w.emit(f"tl.axpy({d.text}, {a.text}, {w.real()})")
        w.holds(d.text, d.dtype, d.extent)


def broadcast(w: Writer) -> None:
    full = [v for v in w.pool if v.dtype in NUMBERS and len(v.extent) == 2 and "1" not in v.extent]
    if not full:
        return
    a = w.rng.choice(full)
    m, n = a.extent
    thin = [v for v in w.pool if v.dtype == a.dtype and v.extent in ((m, "1"), ("1", n), (n,))]
    if not thin:
        reduce_axis(w)
        return
    b = w.rng.choice(thin)
    if w.chance(0.2):
        flat = [v for v in thin if v.extent != (m, "1")]
        tall = [v for v in thin if v.extent == (m, "1")]
        if flat and tall:  # an outer sum: both operands grow
            a, b = w.rng.choice(tall), w.rng.choice(flat)
    names = ["add", "sub", "max", "min"] + (["mul"] if a.dtype != "i16" else [])
    names += ["div"] if a.dtype in FLOATS else ["bitand", "bitor"]
    name, word = w.rng.choice(names), w.rng.choice(BROADCASTS)
    one, other = (a, b) if w.chance(0.5) else (b, a)
    d = w.dest(a.dtype, (m, n), avoid=(b.buffer,))
    keyword = "" if word == "auto" else f', bcast="{word}"'
    w.emit(f"tl.{name}({d}, {one.text}, {other.text}{keyword})")
    w.holds(d, a.dtype, (m, n))


def cast(w: Writer) -> None:
    a = w.some(MOVED)
    if a is None:
        return
    goal = w.rng.choice(CASTS[a.dtype])
    d = w.dest(goal, a.extent)
    word = ""
    if a.dtype in ("f32", "f16", "bf16") and goal in ROUNDED:
        word = f', round="{w.rng.choice(["rint", "floor", "ceil", "trunc"])}"'
    w.emit(f"tl.cast({d}, {a.text}{word})")
    w.holds(d, goal, a.extent)


def copy(w: Writer) -> None:
    a = w.some(MOVED)
    if a is not None:
        d = w.dest(a.dtype, a.extent, avoid=(a.buffer,))
        w.emit(f"tl.copy({d}, {a.text})")
        w.holds(d, a.dtype, a.extent)


def compare(w: Writer) -> None:
    a = w.some((*FLOATS, "i32"))
    b = a and w.some((a.dtype,), a.extent)
    if a is None or b is None:
        return
    mask = w.buffer("mask", a.extent, "m")
    if a.dtype == "i32":
        other, op = b.text if w.chance(0.5) else w.integer(), "eq"
    else:
        other = b.text if w.chance(0.5) else w.real()
        op = w.rng.choice("lt le gt ge eq ne".split())
    w.emit(f'tl.cmp({mask}, {a.text}, {other}, "{op}")')
    c = w.some(FLOATS, a.extent)
    if c is None:
        return
    e = w.some((c.dtype,), c.extent)
    assert e is not None
    d = w.dest(c.dtype, c.extent)
    other = e.text if w.chance(0.6) else w.real(is_mild=False)
    w.emit(f"tl.select({d}, {mask}, {c.text}, {other})")
    w.holds(d, c.dtype, c.extent)


def reduce(w: Writer) -> None:
    a = w.some(FLOATS)
    if a is None:
        return
    kind = w.rng.choice(["sum", "max", "min", "max", "min", "prod"])
    name = w.fresh("s")
    call = f"tl.reduce_{kind}({a.text})"
    if kind == "prod":  # a product of many numbers is 0 or infinite: of a few near 1 it is not
        d = w.dest(a.dtype, a.extent)
        w.emit(f"tl.clamp({d}, {a.text}, 0.875, 1.125)")
        w.holds(d, a.dtype, a.extent)
        call = f"tl.reduce_prod({d})"
    w.emit(f"{name} = {w.rng.choice(['{}', '{} * 0.5', '0.25 + {}']).format(call)}")
    w.reals.append(name)


def reduce_axis(w: Writer) -> None:
    wide = [v for v in w.pool if v.dtype in FLOATS and len(v.extent) == 2]
    if not wide:
        return
    a, axis = w.rng.choice(wide), w.rng.choice([0, 1])
    extent = (a.extent[0], "1") if axis == 1 else ("1", a.extent[1])
    kind = w.rng.choice(["sum", "max", "min", "prod"])
    source = a.text
    if kind == "prod":
        source = w.dest(a.dtype, a.extent)
        w.emit(f"tl.clamp({source}, {a.text}, 0.875, 1.125)")
        w.holds(source, a.dtype, a.extent)
    d = w.dest(a.dtype, extent, avoid=(a.buffer, source))
    w.emit(f"tl.reduce_{kind}({d}, {source}, axis={axis})")
    w.holds(d, a.dtype, extent)


def scan(w: Writer) -> None:
    a = w.some(FLOATS)
    if a is None:
        return
    rank, name = len(a.extent), w.rng.choice(["cumsum", "cumsum", "cumprod"])
    axis = w.rng.choice([-1, 0] if rank == 1 else [-1, 0, 1])
    source = a.text
    if name == "cumprod":
        source = w.dest(a.dtype, a.extent)
        w.emit(f"tl.clamp({source}, {a.text}, 0.875, 1.125)")
        w.holds(source, a.dtype, a.extent)
    d = w.dest(a.dtype, a.extent, avoid=(a.buffer, source))
    word = "" if axis == -1 else f", axis={axis}"
    if w.chance(0.4):
        place = rank - 1 if axis == -1 else axis
        extent = tuple("1" if k == place else size for k, size in enumerate(a.extent))
        carry = w.buffer(a.dtype, extent, "q")
        w.emit(f"tl.fill({carry}, {w.real()}, {', '.join(extent)})")
        w.emit(f"tl.{name}({d}, {source}, {carry}{word})")
        w.holds(carry, a.dtype, extent)
    else:
        w.emit(f"tl.{name}({d}, {source}{word})")
    w.holds(d, a.dtype, a.extent)


def gather(w: Writer) -> None:
    flat = [v for v in w.pool if v.dtype in (*NUMBERS, "bf16") and len(v.extent) == 1]
    if not flat:
        return
    a = w.rng.choice(flat)
    n = a.extent[0]
    index = w.buffer("i32", a.extent, "x")
    w.emit(f"tl.iota({index}, 0, {n})")
    form = w.rng.choice(["none", "clamp", "reverse", "mixed"])
    if form == "reverse":
        w.emit(f"tl.rsubs({index}, {n} - 1, {index})")
        w.emit(f"tl.clamp({index}, {index}, 0, {n} - 1)")
    elif form == "mixed":
        w.emit(f"tl.muls({index}, {index}, {w.rng.choice([3, 5, -2])})")
        w.emit(f"tl.bitand({index}, {index}, {index})")
        w.emit(f"tl.clamp({index}, {index}, 0, {n} - 1)")
    elif form == "clamp":
        w.emit(f"tl.adds({index}, {index}, {w.rng.choice([1, 3, -2])})")
        w.emit(f"tl.clamp({index}, {index}, 0, {n} - 1)")
    d = w.dest(a.dtype, a.extent, avoid=(a.buffer,))
    w.emit(f"tl.gather({d}, {a.text}, {index})")
    w.holds(d, a.dtype, a.extent)


def strided(w: Writer) -> None:
    flat = [v for v in w.pool if v.dtype in (*NUMBERS, "bf16") and len(v.extent) == 1]
    if not flat:
        return
    a = w.rng.choice(flat)
    n = a.extent[0]
    d = w.dest(a.dtype, a.extent, avoid=(a.buffer,))
    w.emit(f"tl.strided({d}, {a.text}, 0, 1, {n})")
    w.holds(d, a.dtype, a.extent)


def transpose(w: Writer) -> None:
    wide = [v for v in w.pool if v.dtype in FLOATS and len(v.extent) == 2 and v.text == v.buffer]
    if wide:
        a = w.rng.choice(wide)
        extent = (a.extent[1], a.extent[0])
        d = w.dest(a.dtype, extent, avoid=(a.buffer,))
        w.emit(f"tl.transpose({d}, {a.text})")
        w.holds(d, a.dtype, extent)


def made(w: Writer) -> None:
    """A value from nothing."""
    old = w.some(NUMBERS)
    if old is None:
        return
    if len(old.extent) == 1 and w.chance(0.5):
        dtype = w.rng.choice(["i32", "f32"])
        d = w.dest(dtype, old.extent)
        start = w.integer() if dtype == "i32" or w.chance(0.5) else w.real()
        w.emit(f"tl.iota({d}, {start}, {old.extent[0]})")
    else:
        dtype = w.rng.choice(NUMBERS)
        d = w.dest(dtype, old.extent)
        s = w.real(is_mild=False) if dtype in FLOATS else w.integer()
        w.emit(f"tl.fill({d}, {s}, {', '.join(old.extent)})")
    w.holds(d, dtype, old.extent)


def row(w: Writer) -> None:
    """A row of a buffer of rank 2, or its first elements, as a value of its own."""
    wide = [v for v in w.pool if len(v.extent) == 2 and v.text == v.buffer and v.dtype in NUMBERS]
    if wide:
        a = w.rng.choice(wide)
        n = a.extent[1]
        part = w.rng.choice([f"{a.buffer}[0, :]", f"{a.buffer}[0, 0:{n}]", f"{a.buffer}[0:1, :]"])
        extent = ("1", n) if "[0:1" in part else (n,)
        if extent == a.extent:
            return
        d = w.dest(a.dtype, extent, avoid=(a.buffer,))
        w.emit(f"tl.copy({d}, {part})")
        w.holds(d, a.dtype, extent)


def into_row(w: Writer) -> None:
    """A write through a slice: the rest of the buffer stays."""
    held = [v for v in w.pool if v.text == v.buffer and not v.is_fixed and v.dtype in NUMBERS]
    if not held:
        return
    a = w.rng.choice(held)
    part = f"{a.buffer}[0, :]" if len(a.extent) == 2 else f"{a.buffer}[0:1]"
    if w.chance(0.5):
        s = w.real() if a.dtype in FLOATS else w.integer()
        w.emit(f"tl.fill({part}, {s})")
    else:
        s = w.real() if a.dtype in FLOATS else w.integer()
        w.emit(f"tl.adds({part}, {part}, {s})")


STEPS: tuple[tuple[Callable[[Writer], None], int], ...] = (
    (unary, 5), (scalar, 5), (binary, 5), (bitnot, 1), (axpy, 2), (broadcast, 4), (cast, 4),
    (copy, 1), (compare, 2), (reduce, 2), (reduce_axis, 2), (scan, 1), (gather, 1), (strided, 1),
    (transpose, 1), (made, 2), (row, 1), (into_row, 1),
)  # fmt: skip


def steps(w: Writer, count: int) -> None:
    """Several operations, one after the other."""
    functions, weights = zip(*STEPS, strict=True)
    for function in w.rng.choices(functions, weights, k=count):
        function(w)


def in_place(w: Writer, value: Value) -> None:
    """An operation that leaves a value where it is."""
    if value.dtype in FLOATS:
        call = w.rng.choice(["adds({0}, {0}, {1})", "muls({0}, {0}, {1})", "maxs({0}, {0}, {1})",
                             "axpy({0}, {0}, {1})", "add({0}, {0}, {0})"])  # fmt: skip
        w.emit("tl." + call.format(value.text, w.real()))
    else:
        call = w.rng.choice(["adds({0}, {0}, {1})", "maxs({0}, {0}, {1})", "bitnot({0}, {0})"])
        w.emit("tl." + call.format(value.text, w.integer()))
