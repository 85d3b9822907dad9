"""Sizes around the edges of tiles and blocks, extreme values at them, and what must not matter."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from kernelwright.dsl import Program, check_file, check_source
from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.interpret import run
from kernelwright.dsl.lower import lower_cpp
from support.dsl_cpp import FENCE_AFTER, FENCE_BEFORE, build_together, call
from support.dsl_features import FEATURES
from support.dsl_fuzz.differ import Bench, Case
from support.dsl_fuzz.operations import CASTS, MILD, ROUNDED, UNARY
from support.dsl_fuzz.programs import draw
from support.dsl_programs import EXAMPLES

TILE = 64
EDGES = (1, 7, 8, 9, TILE - 1, TILE, TILE + 1, 2 * TILE, 71, 72, 73, 197)
"""Around blocks of 32 B and of LANES, around the tiles (16 to 72), a prime > 3 * 64."""


def disagreements(bench: Bench, labels: list[str]) -> str:
    return "\n".join(
        f"{labels[item.number]}: {item.what} {item.case}" for item in bench.tally.failures
    )


def test_sizes_around_every_edge_agree_and_stay_inside_their_tensors() -> None:
    programs, cases, labels = [], [], []
    for label, feature in FEATURES.items():
        program = check_source(feature.text).program
        assert program is not None
        for number, size in enumerate(EDGES):
            names = {"N": size, "C": size, "R": (1, 3, 4, 5, 9)[number % 5], "O": size}
            if label.startswith("strided"):
                names["C"] = 3 * size
            if label == "added_by_cores":
                names["N"] = 8 * size
            cases.append(Case(len(programs), names, 1 + number % 3, "random", number, False))
        programs.append((program, "f"))
        labels.append(label)
    for shift in (FENCE_AFTER, FENCE_BEFORE):
        half = [case for k, case in enumerate(cases) if (k % 2 == 0) == (shift == FENCE_AFTER)]
        bench = Bench()
        tally = bench.compare(programs, half, shift)
        assert not tally.failures, disagreements(bench, labels)
        assert tally.calls == len(half)


# --- every operation on special values -----------------------------------------------------------

MAP = """import kernelwright.language as tl


@tl.kernel
def k(x: "TYPE[N]", w: "TYPE[N]", y: "GOAL[N]"):
    a = tl.ub(64, "TYPE")
    b = tl.ub(64, "TYPE")
    d = tl.ub(64, "GOAL")
    for i, n in tl.core_tiles(N, 64):
        with tl.copyin():
            tl.load(a, x[i:i + n])
            tl.load(b, w[i:i + n])
        with tl.compute():
            CALL
        with tl.copyout():
            tl.store(y[i:i + n], d)


@tl.host
def f(x: "TYPE[N]", w: "TYPE[N]") -> "GOAL[N]":
    y = tl.empty("GOAL[N]")
    k[tl.num_cores()](x, w, y)
    return y
"""

NUMBERS = {
    "f32": ("-0.0", "1e-40", "-tl.inf", "1e39", "-2.5"),
    "f16": ("-0.0", "6e-8", "-tl.inf", "70000.0", "-2.5"),
    "i32": ("0", "31", "-2147483648"),
    "i16": ("0", "15", "-32768"),
}


ALONE = (*UNARY, *MILD, "erf", "gelu", "bitnot")
PAIRED = ("add", "sub", "mul", "div", "max", "min", "bitand", "bitor")
REVERSED = ("rsubs", "rdivs")
SCALED = "adds subs muls divs maxs mins leaky_relu axpy shl shr".split()


def forms(name: str, dtype: str) -> list[str]:
    """Calls of one operation with every kind of number."""
    numbers = NUMBERS[dtype]
    if name in ALONE:
        return [f"tl.{name}(d, a)"]
    if name in PAIRED:
        return [f"tl.{name}(d, a, b)"]
    if name in REVERSED:
        return [f"tl.{name}(d, {number}, a)" for number in numbers]
    before = "tl.copy(d, a)\n            "
    return [f"{before}tl.{name}(d, a, {number})" for number in numbers if name in SCALED]


def special_calls() -> Iterator[tuple[str, str, str]]:
    """Type, type of the result, and call for every elementwise operation and kind of number."""
    for row in BUILTINS.values():
        for dtype in [dtype for dtype in NUMBERS if dtype in row.dtypes]:
            for text in forms(row.name, dtype):
                yield dtype, dtype, text
    for source, goals in CASTS.items():
        for goal in goals:
            words = ("",)
            if source in ("f32", "f16", "bf16") and goal in ROUNDED:
                words = tuple(f', round="{word}"' for word in ("rint", "floor", "ceil", "trunc"))
            for word in words:
                yield source, goal, f"tl.cast(d, a{word})"


def test_every_operation_gives_the_same_for_special_values() -> None:
    programs, cases, labels = [], [], []
    for dtype, goal, call_text in special_calls():
        text = MAP.replace("TYPE", dtype).replace("GOAL", goal).replace("CALL", call_text)
        if ", b)" not in call_text:
            text = text.replace("            tl.load(b, w[i:i + n])\n", "")
        program = check_source(text).program
        assert program is not None, (text, check_source(text).to_text())
        cases.append(Case(len(programs), {"N": 331}, 2, "sequential", len(programs), True))
        programs.append((program, "f"))
        labels.append(f"{dtype}: {call_text}")
    bench = Bench()
    tally = bench.compare(programs, cases)
    assert not tally.failures, disagreements(bench, labels)
    assert tally.calls == len(programs) >= 150


# --- whole programs against PyTorch --------------------------------------------------------------


def largest_in_windows(x: torch.Tensor) -> torch.Tensor:
    return F.max_pool2d(x, 3, 1, 1)


Oracle = Callable[..., torch.Tensor]
ORACLES: dict[str, tuple[Oracle, Callable[[int], list[tuple[int, ...]]]]] = {
    "gelu": (F.gelu, lambda c: [(2, c)]),
    "softmax": (lambda x: torch.softmax(x, -1), lambda c: [(3, c)]),
    "layernorm": (
        lambda x, g, b: F.layer_norm(x, x.shape[-1:], g, b),
        lambda c: [(3, c), (c,), (c,)],
    ),
    "maxpool": (largest_in_windows, lambda c: [(1, 2, 4, c)]),
    "sum_reduction": (lambda x: x.sum(1), lambda c: [(2, 5, c)]),
}
"""What each example computes, and the shapes of its tensors for a row length."""

PROGRAMS = {path.stem: check_file(path).program for path in EXAMPLES}


@pytest.fixture(scope="module")
def built() -> dict[tuple[str, int], Any]:
    """The examples under several tiles, all in one library."""
    keys = [(label, tile) for label in ORACLES for tile in (64, 128, 256)]
    lowered = [lower_cpp(program_of(label), host_of(label), {"TILE": t}) for label, t in keys]
    return dict(zip(keys, build_together(lowered, "-O1"), strict=True))


def program_of(label: str) -> Program:
    program = PROGRAMS[label]
    assert program is not None
    return program


def host_of(label: str) -> str:
    return program_of(label).hosts[0].name.text


def both_ways(built: Any, label: str, tile: int, tensors: list[Any], cores: int) -> list[Any]:
    """What the C++ and the interpreter give."""
    values = [*tensors, 1e-5] if label == "layernorm" else tensors
    library, lowered = built[label, tile]
    ctypes.CDLL("libgomp.so.1").omp_set_num_threads(cores)
    (got,), line = call(library, lowered, values, shift=FENCE_AFTER)
    assert line == 0
    want = run(program_of(label), host_of(label), values, schedule={"TILE": tile}, cores=cores)
    assert want.fault is None, want.fault.to_text()
    return [got, want.outputs[0]]


@pytest.mark.parametrize("label", ORACLES)
def test_an_extreme_at_any_edge_of_a_tile_gives_what_pytorch_gives(label: str, built: Any) -> None:
    """Rows offset by thousands, and one number that outweighs all others, at each edge in turn."""
    oracle, shapes = ORACLES[label]
    rng = np.random.default_rng(5)
    for length in (1, 9, 63, 64, 65, 128, 197):
        if label == "layernorm" and length > 64:
            continue
        places = sorted({k for k in (0, 7, 8, 62, 63, 64, 65, 127, 128, length - 1) if k < length})
        for number, place in enumerate(places):
            tensors = [rng.standard_normal(s).astype(np.float32) for s in shapes(length)]
            tensors[0] *= (1.0, 3.0)[number % 2]
            tensors[0][..., place] = (90.0, -90.0, 1e4)[number % 3]
            wide = [torch.tensor(item, dtype=torch.float64) for item in tensors]
            want = oracle(*wide).numpy()
            scale = np.abs(wide[0].numpy()).sum(1) if label == "sum_reduction" else np.abs(want)
            for got in both_ways(built, label, 64, tensors, 1 + number % 3):
                error = np.abs(got - want)
                assert (error <= 3e-6 * scale + 3e-6).all(), (label, length, place, error.max())


@pytest.mark.parametrize("label", ORACLES)
def test_tiles_cores_and_copies_of_buffers_do_not_matter(label: str, built: Any) -> None:
    rng = np.random.default_rng(6)
    length = 61 if label == "layernorm" else 300
    tensors = [rng.standard_normal(s).astype(np.float32) for s in ORACLES[label][1](length)]
    is_exact = label in ("gelu", "maxpool")
    first = both_ways(built, label, 64, tensors, 1)
    for tile, cores in ((64, 2), (128, 1), (128, 3), (256, 2)):
        for one, other in zip(both_ways(built, label, tile, tensors, cores), first, strict=True):
            if is_exact or tile == 64:
                np.testing.assert_array_equal(one, other)
            else:
                np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6)
    path = next(path for path in EXAMPLES if path.stem == label)
    single = check_source(path.read_text().replace("buf=2", "buf=1")).program
    assert single is not None
    values = [*tensors, 1e-5] if label == "layernorm" else tensors
    again = run(single, host_of(label), values, schedule={"TILE": 64})
    np.testing.assert_array_equal(again.outputs[0], first[1])


def test_the_order_and_number_of_cores_do_not_matter_to_drawn_programs() -> None:
    rng = random.Random("cores")
    for _ in range(14):
        item = draw(rng, rng.choice(["flat", "rows", "squares", "columns", "windows"]))
        program = check_source(item.text).program
        assert program is not None
        case = Case(0, item.sizes[0], 1, "sequential", rng.randrange(99))
        bench = Bench()
        found = [
            bench.outputs(program, item.name, case, cores, order)
            for cores, order in ((1, "sequential"), (2, "random"), (3, "interleaved"))
        ]
        for other in found[1:]:
            for one, two in zip(found[0], other, strict=True):
                np.testing.assert_array_equal(one, two, err_msg=item.text)
