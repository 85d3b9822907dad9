"""One small change to an accepted kernel, and the code that refuses it."""

from __future__ import annotations

import pytest

from kernelwright.dsl import Severity, check_source
from support.dsl_programs import HEAD, MAP

OP = "tl.exp(y_ub, x_ub)"
THEN = f"{OP}\n                "
LOAD = "tl.load(x_ub, x[r, c:c + n])"
STORE = "tl.store(y[r, c:c + n], y_ub)"
ALLOC = '    y_ub = tl.ub(TILE, "f32", buf=2)\n'
LOOP = "        for c, n in tl.tiles(C, TILE):\n"
ROWS = "    for r in tl.core_range(R):\n"
COMPUTE = "            with tl.compute():\n"


def codes(text: str) -> list[str]:
    found = check_source(text).diagnostics
    return [item.code for item in found if item.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        # calls and operands
        (OP, "tl.exp(*y_ub)", "E100"),
        (OP, "exp(y_ub, x_ub)", "E100"),
        (OP, "tl.exp(y_ub, x_ub, fast=True)", "E103"),
        (OP, 'tl.cmp(y_ub, x_ub, 0.0, "lt", op="gt")', "E103"),
        (OP, 'tl.erf(y_ub, x_ub, impl="fast")', "E103"),
        (OP, "tl.rsqrt(y_ub, x_ub, fast=1)", "E103"),
        (OP, "tl.exp(y_ub, 1.0)", "E102"),
        (OP, "tl.exp(y_ub, x)", "E102"),
        (OP, "tl.exp(y_ub, x_ub[0])", "E103"),
        (OP, "tl.exp(y_ub, x_ub[0:n, 0:n])", "E103"),
        (OP, "tl.exp(y_ub, x_ub[0:n:2])", "E103"),
        (OP, "tl.muls(y_ub, x_ub, r < 1)", "E401"),
        (OP, "tl.muls(y_ub, x_ub, y_ub[0:n])", "E401"),
        (OP, THEN + "tl.fill(y_ub, 1.0, n, n)", "E103"),
        (OP, THEN + "tl.fill(y_ub, 1.0)", "E103"),
        (OP, THEN + "tl.fill(y_ub, 1.0, 0)", "E304"),
        (OP, "tl.exp(y_ub, x_ub)\n                tl.fill(y_ub[0:n], 1.0, n)", "E103"),
        (OP, "tl.sum(y_ub, x_ub)", "E100"),
        (OP, "y_ub = x_ub", "E401"),
        (OP, "y_ub[0] = 1", "E100"),
        (OP, "v: int = 1", "E100"),
        (OP, "v = x", "E401"),
        (OP, "v = tl.exp", "E100"),
        (OP, "v = x.shape", "E100"),
        (OP, "v = tl.adds(y_ub, x_ub, 1.0)", "E100"),
        (OP, "v = sum(x_ub)", "E100"),
        (OP, "v = 'text'", "E100"),
        (OP, "v = 2 ** r", "E100"),
        (OP, "v = r % 2.0", "E401"),
        (OP, "v = ~r", "E100"),
        (OP, "v = r < C < 3 in 4", "E100"),
        (OP, "v = -(r < C)", "E401"),
        (OP, "v = tl.sqrt(1.0, 2.0)", "E103"),
        (OP, "v = tl.cdiv(1.0, 2)", "E401"),
        (OP, "v = tl.ub_bytes()", "E100"),
        (OP, "v = tl.reduce_sum(x_ub, axis=1)", "E103"),
        (OP, "v = 99999999999999999999", "E401"),
        (OP, "r += 1", "E104"),
        (OP, "v = 1\n                v = 1.5", "E405"),
        (OP, "tl.reduce_sum(y_ub, x_ub, axis=1)", "E306"),
        (OP, "tl.transpose(y_ub, x_ub)", "E306"),
        (OP, "tl.strided(y_ub, x_ub, 0, 2, n)", "E320"),
        (OP, "tl.cumsum(y_ub, x_ub, axis=1)", "E103"),
        (OP, "tl.cumsum(y_ub, x_ub, x_ub)", "E306"),
        (OP, "tl.cast(y_ub, x_ub)", "E404"),
        (OP, "tl.gather(y_ub, x_ub, x_ub)", "E401"),
        (OP, "tl.select(y_ub, x_ub, x_ub, 0.0)", "E401"),
        (OP, "tl.bitnot(y_ub, x_ub)", "E402"),
        (OP, 'tl.cmp(y_ub, x_ub, 0.0, "lt")', "E401"),
        (OP, "s = tl.core_id()\n                tl.exp(y_ub, x_ub[s:n])", "E306"),
        # loads and stores
        (LOAD, "tl.load(x_ub, x)", "E103"),
        (LOAD, "tl.load(x_ub, y_ub[0:n])", "E103"),
        (LOAD, "tl.load(x_ub, z[r, c:c + n])", "E102"),
        (LOAD, "tl.load(x_ub, x[c:c + n])", "E103"),
        (LOAD, "tl.load(x_ub, x[0:R, c])", "E103"),
        (LOAD, "tl.load(x_ub, x[0:R, c:c + n])", "E306"),
        (LOAD, "tl.load(x_ub, x[r, c:c + n], fill=r < C)", "E401"),
        (LOAD, "tl.load(x_ub, x[r, c:c + n], pad=0.0)", "E103"),
        (LOAD, "tl.load(x_ub, x[r, c:c + n:0])", "E103"),
        (LOAD, "tl.load(x_ub, x[r, c:c])", "E304"),
        (LOAD, "tl.load(x_ub, x[r, c - 1:c - 1 + n])", "E303"),
        (LOAD, "tl.load(x_ub, x[R, c:c + n])", "E303"),
        (LOAD, "tl.load(x_ub, x[r - 1, c:c + n])", "E303"),
        (LOAD, "tl.load(x_ub, x[r < 1, c:c + n])", "E401"),
        (LOAD, "v = tl.load_scalar(x[r, c:c + n])", "E103"),
        (LOAD, "v = tl.load_scalar(x[r, C])", "E303"),
        (LOAD, "v = 1.0 + tl.load_scalar(x[r, c])", "E103"),
        (LOAD, "v = tl.reduce_sum(y_ub)", "E201"),
        (STORE, "tl.store(y[r, c:c + n], y_ub, fill=1)", "E103"),
        (STORE, "tl.store(y[r, 0:1], y_ub)", "E306"),
        (STORE, "tl.store(y[r, c:c + n], x_ub)", "E302"),
        # loops, branches and regions
        (LOOP, "        for c in tl.tiles(C, TILE):\n", "E103"),
        (LOOP, "        for c, c in tl.tiles(C, TILE):\n", "E103"),
        (LOOP, "        for r, n in tl.tiles(C, TILE):\n", "E104"),
        (LOOP, "        for c, n in tl.tiles(C):\n", "E103"),
        (LOOP, "        for c, n in tl.tiles(C, TILE, reverse=1):\n", "E103"),
        (LOOP, "        for c, n in tl.tiles(C, 0):\n", "E103"),
        (LOOP, "        for c, n in enumerate(C):\n", "E100"),
        (LOOP, "        for c, n in [(0, 1)]:\n", "E100"),
        (LOOP, "        if R:\n            pass\n" + LOOP, "E401"),
        (LOOP, "        for j in tl.static_range(R):\n            v = 1\n" + LOOP, "E101"),
        (LOOP, "        tl.require(R > C > 1)\n" + LOOP, "E203"),
        (ROWS, "    tl.require(tl.core_id() < R)\n" + ROWS, "E203"),
        (ROWS, "    tl.require(R)\n" + ROWS, "E401"),
        (ROWS, "    tl.require(R < C, C < R)\n" + ROWS, "E103"),
        (ROWS, "    tl.sync_all(1)\n" + ROWS, "E103"),
        (ROWS, "    if R > C:\n        tl.sync_all()\n" + ROWS, "E504"),
        (ROWS, "    for j in range(tl.core_id()):\n        tl.sync_all()\n" + ROWS, "E504"),
        (ROWS, "    with tl.compute():\n        tl.sync_all()\n" + ROWS, "E202"),
        (COMPUTE, f"{COMPUTE}                with tl.compute():\n    " + " " * 16, "E202"),
        (ROWS, "    with tl.compute():\n        if R > C:\n            v = 1\n" + ROWS, "E202"),
        (ROWS, "    with tl.compute() as z:\n        pass\n" + ROWS, "E100"),
        (ROWS, '    with tl.compute("a", "b"):\n        pass\n' + ROWS, "E103"),
        (ROWS, '    with tl.compute("not a name"):\n        pass\n' + ROWS, "E103"),
        (ROWS, "    with open():\n        pass\n" + ROWS, "E100"),
        (ROWS, "    del R\n" + ROWS, "E100"),
        (ROWS, "    break\n" + ROWS, "E100"),
        (ROWS, "    return 1\n" + ROWS, "E100"),
        (ROWS, "    R, C = 1, 2\n" + ROWS, "E100"),
        # declarations
        (ALLOC, '    y_ub = tl.ub(TILE)\n', "E103"),
        (ALLOC, '    y_ub = tl.ub((TILE, 2, 2), "f32")\n', "E103"),
        (ALLOC, '    y_ub = tl.ub(TILE, "i64")\n', "E401"),
        (ALLOC, '    y_ub = tl.ub(0, "f32")\n', "E301"),
        (ALLOC, '    y_ub = tl.ub(TILE, "f32", buf=R)\n', "E101"),
        (ALLOC, ALLOC + ALLOC, "E104"),
        ("def k(", "def k(*", "E100"),
        ("TILE: tl.const = 512", "TILE: tl.const = R", "E102"),
        ("TILE: tl.const = 512", "TILE: tl.int = 512", "E100"),
        ("TILE: tl.const = 512", "TILE: tl.const = 512, e: tl.i64 = 0.5", "E401"),
        ("TILE: tl.const = 512", "TILE: tl.const = 512, e: int = 1", "E100"),
        ('x: "f32[R, C]"', 'x: "f32[]"', "E100"),
        ('x: "f32[R, C]"', 'x: "f99[R, C]"', "E100"),
        ('x: "f32[R, C]"', 'x: "f32[R, C"', "E100"),
        ('x: "f32[R, C]"', 'x: "f32[R, 1.5]"', "E401"),
        ("TILE: tl.const = 512):", 'TILE: tl.const = 512) -> "f32[R]":', "E100"),
        ("@tl.kernel", "x = y = 1\n\n\n@tl.kernel", "E100"),
        ("@tl.kernel", "N = R\n\n\n@tl.kernel", "E102"),
        ("@tl.kernel", "N = tl.min(1, R)\n\n\n@tl.kernel", "E102"),
        ("@tl.kernel", "N = 1\nN = 2\n\n\n@tl.kernel", "E104"),
        ("@tl.kernel", "def f():\n    pass\n\n\n@tl.kernel", "E100"),
        ("@tl.kernel", "print(1)\n\n\n@tl.kernel", "E100"),
        ("@tl.kernel", "@tl.inline\ndef k():\n    pass\n\n\n@tl.kernel", "E104"),
    ],
)  # fmt: skip
def test_a_small_change_is_refused_with_its_code(old: str, new: str, code: str) -> None:
    assert old in MAP
    assert codes(MAP.replace(old, new, 1))[:1] == [code]


INLINE = "@tl.inline\ndef f(d, s):\n    tl.muls(d, d, s)\n\n\n@tl.kernel"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("f(y_ub)", "E103"),
        ("f(y_ub, 1.0, 2.0)", "E103"),
        ("f(y_ub, t=1.0)", "E103"),
        ("f(y_ub, d=y_ub)", "E103"),
        ("g(y_ub, 1.0)", "E100"),
    ],
)
def test_an_inline_call_with_other_arguments_is_refused(call: str, code: str) -> None:
    text = MAP.replace("@tl.kernel", INLINE).replace(OP, f"{OP}\n                {call}")
    assert codes(text) == [code]


HOST = (
    MAP
    + """

@tl.host
def f(x: "f32[R, C]", s: tl.i64 = 1) -> "f32[R, C]":
    y = tl.empty("f32[R, C]")
    k[tl.num_cores()](x, y)
    return y
"""
)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('tl.empty("f32[R, C]")', "tl.empty(R)", "E100"),
        ('tl.empty("f32[R, C]")', 'tl.empty("f32[R, Q]")', "E102"),
        ('tl.empty("f32[R, C]")', 'tl.empty("f32[R, C]", 1)', "E103"),
        ('tl.empty("f32[R, C]")', 'tl.view(x, "f16[R, C]")', "E401"),
        ('tl.empty("f32[R, C]")', 'tl.view(tl.empty("f32[R]"), "f32[R, C]")', "E103"),
        ('tl.empty("f32[R, C]")', 'tl.view(q, "f32[R, C]")', "E102"),
        ('tl.empty("f32[R, C]")', "x", "E104"),
        ('tl.empty("f32[R, C]")', "tl.reduce_sum(x)", "E100"),
        ("    y = tl", "    x = tl", "E104"),
        ("k[tl.num_cores()](x, y)", "k[1.5](x, y)", "E401"),
        ("k[tl.num_cores()](x, y)", "q[1](x, y)", "E102"),
        ("k[tl.num_cores()](x, y)", "k[1](x)", "E103"),
        ("k[tl.num_cores()](x, y)", "k[1](x, y, 512, 1)", "E103"),
        ("k[tl.num_cores()](x, y)", "k[1](x, y, z=1)", "E103"),
        ("k[tl.num_cores()](x, y)", "k[1](x, y, TILE=x)", "E401"),
        ("k[tl.num_cores()](x, y)", "k[1](x, 5)", "E401"),
        ("k[tl.num_cores()](x, y)", 'k[1](x, tl.empty("f16[R, C]"))', "E701"),
        ("k[tl.num_cores()](x, y)", 'k[1](x, y, TILE=tl.param("T"))', "E103"),
        ("k[tl.num_cores()](x, y)", 'k[1](x, y, TILE=tl.param("T", default=1.5))', "E103"),
        ("k[tl.num_cores()](x, y)", 'k[1](x, y, TILE=tl.param("T", default=64, step=1))', "E103"),
        ("k[tl.num_cores()](x, y)", "tl.check(C > 1)", "E103"),
        ("k[tl.num_cores()](x, y)", "print(1)", "E100"),
        ("k[tl.num_cores()](x, y)", "if s > 1:\n        return y\n    k[1](x, y)", "E100"),
        ("    return y", "    return y, y", "E103"),
        ("    return y", "    return 5", "E103"),
        ("    return y", "    return z", "E102"),
        ('-> "f32[R, C]":\n    y', ":\n    y", "E100"),
    ],
)  # fmt: skip
def test_a_small_change_to_a_host_function_is_refused_with_its_code(
    old: str, new: str, code: str
) -> None:
    assert codes(HOST) == []
    assert old in HOST
    assert codes(HOST.replace(old, new, 1))[:1] == [code]


GATHER = (
    HEAD
    + """@tl.kernel
def k(x: "f32[R, 64]", y: "f32[R, 64]"):
    x_ub = tl.ub(64, "f32", buf=2)
    y_ub = tl.ub(64, "f32", buf=2)
    i_ub = tl.ub(64, "i32")
    for r in tl.core_range(R):
        with tl.copyin():
            tl.load(x_ub, x[r, 0:64])
        with tl.compute():
            MAKE
            tl.gather(y_ub, x_ub, i_ub)
        with tl.copyout():
            tl.store(y[r, 0:64], y_ub)
"""
)


@pytest.mark.parametrize(
    ("make", "is_inside"),
    [
        (("tl.iota(i_ub, 0, 64)",), True),
        (("tl.iota(i_ub, 1, 64)",), False),
        (("tl.iota(i_ub, 0, 64)", "tl.adds(i_ub, i_ub, 1)"), False),
        (("tl.iota(i_ub, 1, 64)", "tl.subs(i_ub, i_ub, 1)"), True),
        (("tl.iota(i_ub, 0, 64)", "tl.muls(i_ub, i_ub, 2)"), False),
        (("tl.iota(i_ub, 0, 64)", "tl.muls(i_ub, i_ub, 2)", "tl.clamp(i_ub, i_ub, 0, 63)"), True),
        (("tl.iota(i_ub, 0, 64)", "tl.neg(i_ub, i_ub)"), False),
        (("tl.fill(i_ub, 63, 64)",), True),
        (("tl.fill(i_ub, 64, 64)",), False),
        (("tl.fill(i_ub, 0, 64)", "tl.fill(i_ub[0:8], 99)"), False),
    ],
)
def test_a_gather_is_accepted_where_its_indices_are_known_to_be_inside(
    make: tuple[str, ...], is_inside: bool
) -> None:
    text = GATHER.replace("MAKE", ("\n" + " " * 12).join(make))
    assert codes(text) == ([] if is_inside else ["E320"])


def test_a_column_of_a_buffer_is_an_operand_of_rank_two_only() -> None:
    text = (
        MAP.replace('y_ub = tl.ub(TILE, "f32", buf=2)', 'y_ub = tl.ub(TILE, "f32", buf=2)\n'
                    '    m_ub = tl.ub((8, 64), "f32")\n    c_ub = tl.ub((8, 1), "f32")')
        .replace(OP, f"{OP}\n                tl.fill(m_ub, 1.0, 8, 64)\n"
                 "                tl.copy(c_ub, m_ub[:, 8:9])")
    )  # fmt: skip
    assert codes(text) == []
    assert codes(text.replace("m_ub[:, 8:9]", "m_ub[:, 8]")) == ["E103"]
    assert codes(text.replace("m_ub[:, 8:9]", "m_ub[:, 9:10]")) == ["E310"]


def test_warnings_do_not_refuse() -> None:
    text = MAP.replace(LOOP, f"        m = -tl.inf\n        e = tl.exp(1.0)\n{LOOP}")
    result = check_source(text)
    assert result.is_ok
    assert {item.code for item in result.diagnostics} == {"W420", "W430"}
    assert "warning" in result.to_text()
