"""Programs changed a little: most are still Python, many are still accepted."""

from __future__ import annotations

import random
import re

from kernelwright.dsl import CheckResult, check_source, print_kernel
from kernelwright.dsl.host_nodes import Program
from kernelwright.dsl.nodes import ConstParam, Kernel, ScalarParam, TensorParam, stored_tensors
from kernelwright.dsl.print_expression import type_text

TOKENS = re.compile(r"\s+|\w+|[^\w\s]")
KEPT = frozenset("def import in for with tl if return kernelwright language as".split())
NUMBERS = ["0", "1", "2", "7", "8", "16", "64", "512", "65536", "-1", "1.0", "TILE", "n", "C", "R"]
MILD = ["0", "1", "2", "3", "8", "9", "-1", "0.5", "n", "c", "r", "C", "R", "TILE", "40", "70000"]
OPERATORS = ["+", "-", "*", "//", "%", "/", "<", "==", ">="]
SWAPS = (
    ("core_tiles", "tiles"), ("core_range", "range"), ("tl.num_cores()", "2"), ("f32", "f16"),
    ("f16", "bf16"), ("f32", "i32"), ("i32", "i16"), ("u8", "i8"), ("adds", "muls"), ("add", "max"),
    ("reduce_sum", "reduce_max"), ("axis=1", "axis=0"), ("axis=0", "axis=1"), ("cumsum", "cumprod"),
    ("store", "store_add"), ("buf=2", "buf=1"), ("c:c + n", "c + 1:c + n"), ("c:c + n", "0:n"),
    ("0:n", "8:n"), ("[0:n]", ""), (", n)", ", TILE)"), (", TILE)", ", n)"), ("r:r + m", "0:m"),
    ("tl.sync_all()", "pass"), ("core_id() == 0", "core_id() < 1"),
    ("reverse=True", "reverse=False"),
    ("(m, n)", "(n, m)"), ("r, c", "0, c"), ("core_id()", "num_cores()"),
    ("range(", "range(1, 1 + "),
    ("i:i + n", "N - i - n:N - i"), ("exp", "ln"), ("copy", "neg"), ("select", "add"),
    ("inout", ""),
    ("tl.empty", "tl.workspace"), ("1.0", "1"), ("0.0", "tl.inf"), ("C", "R"), ("lt", "eq"),
)  # fmt: skip
"""Pairs of texts: what such a mistake looks like."""


def mutated_line(rng: random.Random, text: str) -> str:
    """Drop, repeat or swap a line."""
    lines = text.split("\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    act = rng.randrange(3)
    if act == 0:
        del lines[one]
    elif act == 1:
        lines.insert(one, lines[other])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def moved_line(rng: random.Random, text: str) -> str:
    """Drop a line, or move or repeat it within its block."""
    lines = text.split("\n")
    one = rng.choice([k for k, line in enumerate(lines) if line.startswith("    ")])
    indent = len(lines[one]) - len(lines[one].lstrip())
    alike = [
        k
        for k, line in enumerate(lines)
        if k != one and len(line) - len(line.lstrip()) == indent and line.startswith("    ")
    ]
    other = min(alike, key=lambda k: (abs(k - one), rng.random()), default=one)
    act = rng.randrange(3)
    if act == 0 and not lines[one].rstrip().endswith(":"):
        del lines[one]
    elif act == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def mutated_token(
    rng: random.Random, text: str, numbers: list[str] = NUMBERS, named: float = 0.85
) -> str:
    """Replace a token by one of its kind, so that most results are still Python."""
    tokens = TOKENS.findall(text)
    place = rng.choice([number for number, token in enumerate(tokens) if token.strip()])
    token = tokens[place]
    if token.isdigit():
        tokens[place] = rng.choice(numbers)
    elif token.isidentifier() and token not in KEPT:
        names = [other for other in tokens if other.isidentifier()]
        tokens[place] = rng.choice(names if rng.random() < named else numbers)
    elif token in "+-*/%<>=":
        tokens[place] = rng.choice(OPERATORS)
    elif token == "]":
        tokens[place] = rng.choice([" + 1]", " - 1]", ", 0]", "][0:n]"])
    return "".join(tokens)


def like_named(rng: random.Random, text: str) -> str:
    """Replace a name by another of the same beginning: buffers by buffers, tensors by tensors."""
    tokens = TOKENS.findall(text)
    named = [k for k, token in enumerate(tokens) if re.fullmatch(r"[a-z]\d+|[a-z]_ub|[a-z]", token)]
    if not named:
        return text
    place = rng.choice(named)
    others = [tokens[k] for k in named if tokens[k] != tokens[place]]
    alike = [name for name in others if name[0] == tokens[place][0]]
    if others:
        tokens[place] = rng.choice(alike if alike and rng.random() < 0.7 else others)
    return "".join(tokens)


def swapped(rng: random.Random, text: str) -> str:
    """Replace a text by one that somebody could have meant."""
    pairs = [pair for pair in SWAPS if pair[0] in text]
    if not pairs:
        return text
    old, new = rng.choice(pairs)
    places = [found.start() for found in re.finditer(re.escape(old), text)]
    place = rng.choice(places)
    return text[:place] + new + text[place + len(old) :]


def mild_token(rng: random.Random, text: str) -> str:
    """A token replaced by a plausible one."""
    return mutated_token(rng, text, MILD, 0.5)


def meant(rng: random.Random, text: str) -> str:
    """A program changed once or twice as an author errs."""
    head, found, tail = text.partition("@tl.kernel")
    for _ in range(rng.choice([1, 1, 2])):
        acts = [swapped, like_named, mild_token, moved_line]
        tail = rng.choices(acts, [4, 4, 4, 2])[0](rng, tail)
    return head + found + tail


# --- programs without a host function ------------------------------------------------------------


def with_host(program: Program, kernel: Kernel) -> str:
    """A kernel's text with a host function that hands everything through, called `f`."""
    stored = stored_tensors(kernel)
    params, given, returns, names = [], [], [], []
    for param in kernel.params:
        name = param.name.text
        match param:
            case TensorParam():
                kind = type_text(param.type).removesuffix(" inout")
                word = " inout" if param.name in stored else ""
                params.append(f'{name}: "{kind}{word}"')
                given.append(name)
                if param.name in stored:
                    returns.append(f'"{kind}"')
                    names.append(name)
            case ScalarParam():
                params.append(f"{name}: tl.{param.type}")
                given.append(name)
            case ConstParam() if param.default is None:
                given.append(f"{name}=64")
    kinds = f"({', '.join(returns)})" if len(returns) > 1 else ", ".join(returns)
    host = [
        f"@tl.host\ndef f({', '.join(params)}) -> {kinds}:",
        f"    {kernel.name.text}[tl.num_cores()]({', '.join(given)})",
        f"    return {', '.join(names)}",
    ]
    text = "import kernelwright.language as tl\n\n\n" + print_kernel(kernel)
    return text.rstrip() + "\n\n\n" + "\n".join(host) + "\n"


def accepted(text: str) -> CheckResult | None:
    """The result of a check that finds no error."""
    result = check_source(text)
    return result if result.is_ok else None
