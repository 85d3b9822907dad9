"""Mistakes in printed C++: each mutant is the text of a program with one thing changed.

Takes:   the part of `kernel.cpp` that was printed from a program.
Gives:   mutants, each with the line and what was done to it.
Leaves:  building and calling them to `support.dsl_fuzz.differ`.

Left alone are declarations, what only says how fast something is done (`HINTS`), and the host
function's refusals of wrong shapes, which calls with right shapes cannot tell apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HINTS = re.compile(
    r"fetch|_next|_size|next_near|\bbig_|\bfar_u_\w+ =|\bw\d+ =|settle\(\)|begin\(|\* const a\d+ ="
)
"""Lines that ask for memory early, or choose between two ways of storing the same."""

REFUSALS = re.compile(r"return \d+;|is_dry|_check|_apart|shared_|extern")
DECLARATION = re.compile(
    r"^\s*(?:const |alignas|static |v[fi] |for \(auto|\w+\* |(?:int64_t|float|double|bool) \w)"
)

SWAPS = (
    *(("v_max(", "v_min("), ("v_min(", "v_max("), ("v_add(", "v_sub("), ("v_sub(", "v_add(")),
    *(("v_mul(", "v_add("), ("v_exp(", "v_ln("), ("v_tanh(", "v_sigmoid("), ("v_abs(", "-(")),
    *(("v_floor(", "v_ceil("), ("v_shr(", "v_shl("), ("as_f16(", "("), ("as_bf16(", "(")),
    *(("as_i16(", "("), ("(float)(f16)", "(float)"), ("std::sqrt", "std::exp")),
    *(("fold_sum", "fold_max"), ("fold_max", "fold_min"), ("fold_min", "fold_max")),
    *(("most(", "least("), ("least(", "most("), ("Max{}", "Min{}"), ("Min{}", "Max{}")),
    *(("Sum{}", "Max{}"), ("Product{}", "Sum{}")),
    *(("scan<true>", "scan<false>"), ("scan<false>", "scan<true>")),
    *((", q)", ", Full{})"), ("core, cores", "core, cores + 1"), ("j < n", "j <= n")),
    *(("w.from < w.to", "w.from + 1 < w.to"), ("++w.from", "w.from += 2")),
    *(("--w.to", "w.to -= 2"), ("w.to - 1", "w.to"), ("true)", "false)")),
    *(("-INFINITY", "0.0f"), ("INFINITY", "1.0f"), ("load_inside(", "load_fill(")),
    *(("floor_div", "ceil_div"), ("floor_mod", "floor_div"), (" else {", " if (false) {")),
    *(("#pragma omp barrier", ""), ("together(", "apart(")),
)
"""Texts and what stands there by mistake."""

OPERATORS = (
    *((" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * "), (" && ", " || ")),
    *((" < ", " <= "), (" > ", " >= "), (" <= ", " < "), (" >= ", " > "), (" == ", " != ")),
)

NAME = re.compile(r"\bu_\w+|\b[pvcrs]\d+\b")


@dataclass(frozen=True)
class Mutant:
    """A changed program.

    Attributes:
        line: The line as it was.
        what: What was done, by kind: the kinds are counted.
        change: The old and the new text.
    """

    text: str
    line: str
    what: str
    change: str


def mutants(text: str) -> Iterator[Mutant]:
    """All mutants of a printed program, in the order of its lines."""
    lines = text.split("\n")
    own = False
    for number, line in enumerate(lines):
        if line and not line.startswith((" ", "}")):
            own = bool(re.match(r"static void k\d|static int64_t run_", line))
        if not own:
            continue
        if HINTS.search(line) or REFUSALS.search(line) or line.strip() in ("", "}", "});", "{"):
            continue
        if line.startswith("//") or re.match(r"static (void|int64_t) \w+\(", line):
            continue
        code, mark, note = line.partition("  // @dsl")
        for what, old, new, changed in _changes(lines, number, code):
            other = [*lines[:number], changed + mark + note, *lines[number + 1 :]]
            yield Mutant("\n".join(other), line.strip(), what, f"{old.strip()} -> {new.strip()}")


def _changes(lines: list[str], number: int, code: str) -> Iterator[tuple[str, str, str, str]]:
    yield from _swapped("call", SWAPS, code)
    if "&&(" not in code:
        yield from _swapped("operator", OPERATORS, code)
    yield from _constants(code)
    yield from _names(lines, number, code)
    if code.rstrip().endswith(";") and not DECLARATION.match(code):
        yield "dropped statement", code, "", " " * (len(code) - len(code.lstrip())) + ";"
    if "keep(" in code:
        changed = re.sub(r"keep\((\w+), [^,]+, q\)", r"\1", code)
        yield "mask of a tail", "keep", "", changed
    for found in re.finditer(r"(\bload|\bput)\((\w+) \+ j", code):
        changed = f"{code[: found.end()]} + 1{code[found.end() :]}"
        yield "offset", found[0], f"{found[0]} + 1", changed


def _swapped(
    what: str, pairs: tuple[tuple[str, str], ...], code: str
) -> Iterator[tuple[str, str, str, str]]:
    for old, new in pairs:
        for found in re.finditer(re.escape(old), code):
            before = code[: found.start()]
            if old[0].isalpha() and before[-1:].isalnum():
                continue
            if old in (" + ", " - ") and code[found.end() :].startswith("(int64_t)0)"):
                continue  # nothing is added or taken away
            yield what, old, new, before + new + code[found.end() :]


def _constants(code: str) -> Iterator[tuple[str, str, str, str]]:
    for found in re.finditer(r"\(int64_t\)(\d+)|INT64_C\((\d+)\)", code):
        value = int(found[1] or found[2])
        for new in {value + 1, value - 1, 2 * value} - {value}:
            text = f"(int64_t)({new})"
            yield "constant", found[0], text, code[: found.start()] + text + code[found.end() :]
    for found in re.finditer(r"(?<![\w.])(\d+\.\d+(?:e[+-]?\d+)?)f\b", code):
        for text in (f"({found[0]} + 1.0f)", f"({found[0]} * 0.9f)"):
            if text.endswith("0.9f)") and float(found[1]) == 0:
                continue
            what = "initial value" if "none" in code or "all(" in code else "constant"
            yield what, found[0], text, code[: found.start()] + text + code[found.end() :]


def _names(lines: list[str], number: int, code: str) -> Iterator[tuple[str, str, str, str]]:
    """A name for another of its type that the lines before use: swapped buffers and sizes."""
    near = "\n".join(lines[max(0, number - 12) : number + 1])
    kinds = _kinds("\n".join(lines))
    start = code.find("=") + 1 if DECLARATION.match(code) else 0
    for found in NAME.finditer(code):
        kind = kinds.get(found[0], found[0][0])
        others = [
            name
            for name in dict.fromkeys(NAME.findall(near))
            if name != found[0]
            and kinds.get(name, name[0]) == kind
            and not _are_equal(lines, number, found[0], name)
        ]
        if found.start() >= start and others:
            changed = code[: found.start()] + others[-1] + code[found.end() :]
            yield "swapped name", found[0], others[-1], changed


def _are_equal(lines: list[str], number: int, one: str, other: str) -> bool:
    """True where two names hold the same: both are made alike, or one is made from the other."""
    values: dict[str, str] = {}
    for line in lines[:number]:
        found = re.match(r"\s*(?:.*\W)?(\w+) = (.*?);", line)
        if found and found[1] in (one, other):
            values[found[1]] = found[2].strip("()")
    first, second = values.get(one, "1"), values.get(other, "2")
    return first in (second, other) or second == one


def _kinds(text: str) -> dict[str, str]:
    """The type of each name of the author's, as its declaration says."""
    found = {}
    for kind, name in re.findall(r"\b((?:float|f16|bf16|u?int\d+_t|double)\*?) (u_\w+)", text):
        is_memory = f"{kind} {name}[" in text
        found[name] = kind + "*" if is_memory else kind
    for name in re.findall(r"int64_t (u_\w+) =", text):
        found[name] = "int64_t"
    return found
