"""The table of diagnostic codes: what each means, its rule, an example and the way out."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from kernelwright.dsl.builtins import BUILTINS


@dataclass(frozen=True, slots=True)
class Code:
    """One stable code.

    Attributes:
        title: What it says.
        rule: The rule behind it, with its reason.
        wrong: Lines that give it.
        right: What to write instead; "" where it depends on the program.
    """

    title: str
    rule: str
    wrong: str
    right: str


CODES: dict[str, Code] = {
    "E100": Code(
        "not in the language",
        "A program is a subset of Python's syntax: kernels, host functions, inline functions and "
        "number constants. Kernels have assignments, for over tl.core_range, tl.core_tiles, "
        "tl.tiles, range and tl.static_range, if / else, regions and tl.* calls. There is no "
        "while, break, continue, return, try, lambda or comprehension, so that every tile is "
        "loaded, used and freed exactly once on every path.",
        "while k < n:",
        "for k in range(0, n):",
    ),
    "E101": Code(
        "a size is not known at compile time",
        "Buffers are allocated before the kernel runs, so their shapes, buf= and unrolled loops "
        "are "
        "made of numbers and tl.const parameters; each of those gets a value from a launch in the "
        "file or from its default.",
        'x_ub = tl.ub(C, "f32")',
        'x_ub = tl.ub(TILE, "f32")   # TILE: tl.const, and a loop over tl.tiles(C, TILE)',
    ),
    "E102": Code(
        "unknown name",
        "A name is a parameter, a dimension of a tensor parameter, a buffer, a scalar assigned "
        "earlier, or a loop variable inside its loop.",
        "tl.load(xub, x[i:i + n])",
        "tl.load(x_ub, x[i:i + n])",
    ),
    "E103": Code(
        "wrong operands",
        "Every primitive has the operands of its row in the language reference: destination first, "
        "then sources, then keywords with literal values. A tensor is indexed with one index a "
        "dimension, slices in the last one or two.",
        "tl.add(y_ub, x_ub)",
        "tl.add(y_ub, y_ub, x_ub)",
    ),
    "E104": Code(
        "a name is defined twice",
        "One name means one thing throughout a function: parameters, dimensions, buffers and loop "
        "variables are never assigned, and a loop variable is a new name.",
        "N = N - 1",
        "rest = N - 1",
    ),
    "E105": Code(
        "allocation inside a block",
        "Buffers live for the whole kernel and are allocated at its top level, so that their sizes "
        "are known, and add up, before it runs.",
        'for r in tl.core_range(R):\n    x_ub = tl.ub(TILE, "f32")',
        'x_ub = tl.ub(TILE, "f32")\nfor r in tl.core_range(R):',
    ),
    "E201": Code(
        "a primitive in the wrong region",
        "Loads run on one pipe, vector operations on another, stores on a third: tl.copyin() holds "
        "tl.load and tl.load_scalar, tl.compute() operations on buffers, tl.copyout() tl.store.",
        "with tl.compute():\n    tl.load(x_ub, x[i:i + n])",
        "with tl.copyin():\n    tl.load(x_ub, x[i:i + n])",
    ),
    "E202": Code(
        "a region nested, or control flow inside one",
        "A region becomes one function of one pipe: it holds a straight line of calls, or "
        "tl.static_range loops. Loops and branches go around regions.",
        "with tl.compute():\n    for k in range(K):\n        tl.add(a, a, b)",
        "for k in range(K):\n    with tl.compute():\n        tl.add(a, a, b)",
    ),
    "E203": Code(
        "tl.require in the wrong place",
        "The host checks requirements before it launches, so they stand at the top level of the "
        "kernel and speak of dimensions, constants and parameters only.",
        "for r in tl.core_range(R):\n    tl.require(C <= TILE)",
        "tl.require(C <= TILE)\nfor r in tl.core_range(R):",
    ),
    "E301": Code(
        "an on-chip memory is too small",
        "All buffers (buf copies each, rows padded to 32 B) and the compiler's temporaries share "
        "one "
        "core's memory. The message lists them, and the largest tile that fits.",
        'TILE = tl.param("TILE", default=65536)',
        'TILE = tl.param("TILE", default=4096)',
    ),
    "E302": Code(
        "one buffer is loaded and stored",
        "A loaded buffer lives in the input queue, a stored one in the output queue; they are "
        "different memories. Copy between them in tl.compute.",
        "tl.store(y[i:i + n], x_ub)   # x_ub is loaded elsewhere",
        "with tl.compute():\n    tl.copy(y_ub, x_ub)\nwith tl.copyout():\n"
        "    tl.store(y[i:i + n], y_ub)",
    ),
    "E303": Code(
        "an access may leave the tensor",
        "Every index into global memory is proved to be inside: from loop bounds, tl.require, "
        "enclosing ifs, and dimensions being at least 1. The last tile is shorter than TILE.",
        "tl.load(x_ub, x[r, c:c + TILE])",
        "tl.load(x_ub, x[r, c:c + n])   # for c, n in tl.tiles(C, TILE)",
    ),
    "E304": Code(
        "a length may not fit, or may be 0",
        "What is written to a buffer is proved to fit its capacity, and a slice has at least one "
        "element.",
        "tl.load(x_ub, x[r, 0:C])",
        "tl.require(C <= TILE)   # at the top of the kernel",
    ),
    "E305": Code(
        "read before it has a value",
        "A buffer has content from the write to all of it, or from its load to the end of the body "
        "that loaded it; a store takes the tile away. A scalar has a value when it is assigned on "
        "every path.",
        "tl.add(acc_ub, acc_ub, x_ub)   # acc_ub was never filled",
        "tl.fill(acc_ub, 0.0, n)        # before the loop",
    ),
    "E306": Code(
        "extents differ",
        "A buffer has a valid extent, set by the last write to all of it. Operands of an "
        "elementwise "
        "operation have equal extents, or size-1 axes where the operation broadcasts. A slice lies "
        "inside the extent.",
        "tl.add(acc_ub, acc_ub, x_ub)   # acc_ub has TILE elements, x_ub n",
        "tl.add(acc_ub[0:n], acc_ub[0:n], x_ub)",
    ),
    "E307": Code(
        "a loop changes the extent of a buffer that it carries",
        "A buffer that is read in a loop before it is written there comes from the round before, "
        "so "
        "its extent must be the same at the loop's start and at the end of a round.",
        "tl.max(m_ub, m_ub, x_ub)   # the last tile is shorter",
        "tl.max(m_ub[0:n], m_ub[0:n], x_ub)",
    ),
    "E308": Code(
        "loaded, never used",
        "A loaded tile occupies a slot of its queue until its last reader, which must be in the "
        "body "
        "that loaded it.",
        "tl.load(g_ub, g[0:C])   # nothing reads g_ub",
        "",
    ),
    "E309": Code(
        "stored, not computed in this body",
        "The body that stores a tile also starts it: it holds an operation that writes the buffer "
        "before the store (loops inside the body may add to it).",
        "with tl.copyout():\n    tl.store(y[i:i + n], y_ub)   # y_ub is written outside the loop",
        "with tl.compute():\n    tl.copy(y_ub, t_ub)\nwith tl.copyout():\n"
        "    tl.store(y[i:i + n], y_ub)",
    ),
    "E310": Code(
        "a slice does not start on a 32 B block",
        "Vector operands start at multiples of 32 B (8 elements of f32, 16 of f16). Shifted "
        "windows "
        "are loaded again from global memory, which may start anywhere, or picked with tl.strided.",
        "tl.max(y_ub, x_ub[0:n], x_ub[1:n + 1])",
        "tl.load(s_ub, x[c + 1:c + 1 + n])",
    ),
    "E312": Code(
        "a source overlaps the destination",
        "Vector operations read and write block by block. An elementwise operation may work in "
        "place "
        "on exactly the same elements; everything else needs a second buffer.",
        "tl.add(x_ub[8:n + 8], x_ub[0:n], x_ub[0:n])",
        "tl.add(y_ub[8:n + 8], x_ub[0:n], x_ub[0:n])",
    ),
    "E313": Code(
        "a divisor may be 0 or negative",
        "Integers are divided by numbers that are proved to be at least 1: dimensions are, other "
        "values need tl.require or an if.",
        "q = t // parts",
        "tl.require(parts >= 1)   # at the top of the kernel",
    ),
    "E320": Code(
        "a gather may leave its source",
        "Indices are proved to be inside the source: made with tl.iota and arithmetic, or clamped.",
        "tl.gather(y_ub, x_ub, i_ub)",
        "tl.clamp(i_ub, i_ub, 0, n - 1)\ntl.gather(y_ub, x_ub, i_ub)",
    ),
    "E401": Code(
        "types do not agree",
        "There are no implicit conversions of buffers: copies keep the tensor's element type, "
        "operations need one element type, and tl.cast converts. Buffers and scalars are different "
        "operands (tl.add and tl.adds). Integers are i64, floats f32; / gives a float.",
        "tl.add(y_ub, x_ub, 1.0)",
        "tl.adds(y_ub, x_ub, 1.0)",
    ),
    "E402": Code(
        "no such operation for this element type",
        "bf16 has no vector arithmetic, and some operations exist for f32 only. Cast to f32, "
        "compute, "
        "cast back.",
        "tl.exp(y_bf, x_bf)",
        "tl.cast(t_ub, x_bf)\ntl.exp(t_ub, t_ub)\ntl.cast(y_bf, t_ub)",
    ),
    "E403": Code(
        "integers compare for equality only",
        'The vector unit compares i32 with "eq" alone; cast to f32 where the values are below '
        "2^24.",
        'tl.cmp(m_ub, i_ub, j_ub, "lt")',
        'tl.cast(a_ub, i_ub)\ntl.cast(b_ub, j_ub)\ntl.cmp(m_ub, a_ub, b_ub, "lt")',
    ),
    "E404": Code(
        "a cast is not possible as written",
        "From float to integer the rounding is said: rint, floor, ceil or trunc. Some pairs go "
        "through an element type between, which the compiler adds.",
        "tl.cast(i_ub, x_ub)",
        'tl.cast(i_ub, x_ub, round="trunc")',
    ),
    "E405": Code(
        "a scalar changes its type",
        "A scalar keeps one type throughout a kernel: i64 or f32. Start a float as 0.0.",
        "s = 0\nfor c, n in tl.tiles(C, TILE):\n    s = s + tl.reduce_sum(x_ub)",
        "s = 0.0",
    ),
    "E501": Code(
        "several cores write the same place",
        "All cores run the same program. A store belongs in a core loop, and its index tells the "
        "loop's iteration; or it stands under if tl.core_id() == 0, or at a place of the core's "
        "own "
        "such as ws[tl.core_id(), 0:8].",
        "for c, n in tl.tiles(N, TILE):",
        "for c, n in tl.core_tiles(N, TILE):",
    ),
    "E502": Code(
        "a read of what another core writes",
        "What a core stores is seen by others after tl.sync_all() only.",
        "tl.store(ws[tl.core_id(), 0:8], s_ub)\n...\ntl.load(a_ub, ws[0:cores, 0:8])",
        "tl.sync_all()   # between the two, outside core loops",
    ),
    "E503": Code(
        "more cores than the device has",
        "A kernel that syncs is launched on at most tl.num_cores() cores; others would never "
        "start, "
        "and the rest would wait for ever.",
        "k[R](x, y)",
        "k[tl.min(tl.num_cores(), R)](x, y)",
    ),
    "E504": Code(
        "tl.sync_all where not every core passes",
        "Every core reaches every sync the same number of times, so it stands outside core loops "
        "and "
        "branches. A core with an empty share reaches it too.",
        "for r in tl.core_range(R):\n    tl.sync_all()",
        "for r in tl.core_range(R):\n    ...\ntl.sync_all()",
    ),
    "E505": Code(
        "a core loop inside a core loop",
        "Work is shared out among the cores once; inside, every core loops by itself.",
        "for r in tl.core_range(R):\n    for c, n in tl.core_tiles(C, TILE):",
        "for r in tl.core_range(R):\n    for c, n in tl.tiles(C, TILE):",
    ),
    "E506": Code(
        "a tensor is loaded and stored, not declared inout",
        "A tensor that a kernel both reads and writes says so in its type, so that the host knows "
        "what changes.",
        'p: "f32[N]"',
        'p: "f32[N] inout"',
    ),
    "E507": Code(
        "one tensor under two names",
        "The tensors of a launch are distinct memories where one of them is written.",
        "k[cores](x, x)",
        "y = tl.empty(...)\nk[cores](x, y)",
    ),
    "E601": Code(
        "a schedule default breaks its own limits",
        "A program with all defaults passes every check.",
        'TILE = tl.param("TILE", default=1000, multiple_of=64)',
        'TILE = tl.param("TILE", default=960, multiple_of=64)',
    ),
    "E701": Code(
        "shapes do not agree",
        "A dimension name is bound by the tensors of a launch; the same name twice has one "
        "value, and "
        "dimension expressions hold.",
        "softmax(x) with x of shape (4,)",
        "softmax(x.reshape(1, 4))",
    ),
    "E702": Code(
        "a condition of a launch is false",
        "tl.require and tl.check are evaluated before the launch, and schedule values respect the "
        "limits of their holes.",
        "layernorm on rows longer than TILE",
        "another schedule, or a tiled kernel",
    ),
    "E801": Code(
        "undefined data reached global memory",
        "The interpreter poisons everything outside valid extents; poison in a result means that a "
        "rule above was missed.",
        "",
        "",
    ),
    "E802": Code(
        "an access left its tensor at run time",
        "The interpreter checks every access to global memory.",
        "",
        "",
    ),
    "E803": Code(
        "a race between cores at run time",
        "The interpreter logs per core what is stored and read: between two syncs, a place that "
        "one core stores belongs to that core alone. The checks behind E501 and E502 refuse such "
        "a program before it runs, so this means that one of them missed something.",
        "",
        "",
    ),
    "E901": Code(
        "the target's compiler refused the printed code",
        "A bug of this compiler: an accepted program lowers. The message names the DSL line.",
        "",
        "",
    ),
    "E902": Code(
        "the compiled program did not come back",
        "Compiled programs run in the sandbox, under limits of time and memory. One that crashes "
        "is a bug of this compiler: an accepted program stays inside its tensors.",
        "",
        "",
    ),
    "W410": Code(
        "a sum is accumulated in f16",
        "Long f16 sums lose small terms; cast to f32 first.",
        "s = tl.reduce_sum(h_ub)",
        "tl.cast(x_ub, h_ub)\ns = tl.reduce_sum(x_ub)",
    ),
    "W420": Code(
        "a slow scalar function",
        "exp and log of a scalar go through the vector unit and back.",
        "v = tl.exp(s)",
        "",
    ),
    "W430": Code(
        "an accumulator starts at infinity",
        "(-inf) - (-inf) is NaN: start a running maximum from a finite number such as -3.0e38.",
        "m = -tl.inf",
        "m = -3.0e38",
    ),
    "W501": Code(
        "the order of additions is not defined",
        "tl.store_add adds in the order in which cores arrive, so float sums differ between runs.",
        "tl.store_add(y[0:8], s_ub)",
        "",
    ),
}


def explain(code: str) -> str:
    """The text of one code: title, rule, example and fix.

    Args:
        code: Such as "E303"; lower case is accepted.

    Raises:
        KeyError: if there is no such code.
    """
    key = code.strip().upper()
    entry = CODES[key]
    parts = [f"{key}: {entry.title}", "", entry.rule]
    if entry.wrong:
        parts += ["", "wrong:", _block(entry.wrong)]
    if entry.right:
        parts += ["", "right:", _block(entry.right)]
    if key == "E100":
        names = [f"tl.{name}" for name in BUILTINS]
        parts += [
            "",
            "primitives:",
            textwrap.fill(" ".join(names), 96, initial_indent="    ", subsequent_indent="    "),
        ]
    return "\n".join(parts)


def _block(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))
