"""The schedule space of a program: few named choices, each with few values."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kernelwright.synth.accumulate import fused_with
from kernelwright.synth.expr import COSTLY, walk
from kernelwright.synth.nest import nest_of
from kernelwright.synth.program import Kernel, Program

Schedule = Mapping[str, str]

_LANES = ("16", "8")
_UNROLL = ("2", "4", "1", "8")
_BLOCK = ("4096", "1024", "16384", "65536")
_TILE = ("256", "512", "128", "1024", "64")
_ROWS = ("256", "64", "1024")
_GRAIN = ("8", "1", "64")


@dataclass(frozen=True, slots=True)
class Space:
    """The choices of one program.

    Attributes:
        choices: (name, values) pairs in order of name; the first value is the default.
    """

    choices: tuple[tuple[str, tuple[str, ...]], ...]

    def default(self) -> dict[str, str]:
        """Return the schedule that drafts start from."""
        return {name: values[0] for name, values in self.choices}

    def completed(self, wanted: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Return the default schedule with the choices in `wanted` that exist here."""
        known = dict(self.choices)
        schedule = self.default()
        for name, value in wanted:
            if value in known.get(name, ()):
                schedule[name] = value
        return schedule

    def near(self, start: Schedule, rng: random.Random) -> Iterator[dict[str, str]]:
        """Yield every schedule, those with fewer changes from `start` first, else at random."""
        names = [name for name, values in self.choices if len(values) > 1]
        known = dict(self.choices)
        for changes in range(1, len(names) + 1):
            found = [
                dict(zip(some, values, strict=True))
                for some in itertools.combinations(names, changes)
                for values in itertools.product(
                    *([v for v in known[name] if v != start[name]] for name in some)
                )
            ]
            rng.shuffle(found)
            for change in found:
                yield {**start, **change}

    def all(self, rng: random.Random) -> Iterator[dict[str, str]]:
        """Yield every schedule, the default first."""
        yield self.default()
        yield from self.near(self.default(), rng)


def space_of(program: Program, routes: Sequence[str] = ()) -> Space:
    """Return the choices that change the code of a program; `routes` are ways to print it."""
    choices: dict[str, Sequence[str]] = {"lanes": _LANES, "grain": _GRAIN}
    for kernel in program.kernels:
        if kernel.is_columns:
            choices |= {"tile": _TILE, "rows": _ROWS}
            continue
        choices |= {"unroll": _UNROLL, "block": _BLOCK}
        if kernel.full_stores and _has_float_store(program, kernel):
            choices["stream"] = ("no", "yes")
        if kernel.passes and _is_reusable(kernel):
            choices["reuse"] = ("keep", "again")
        if _is_fusable(program, kernel):
            choices["passes"] = ("separate", "online")
    if _has_exponential(program):
        choices["exp"] = ("6", "5")
    if routes:
        choices["route"] = routes
    return Space(tuple(sorted((name, tuple(values)) for name, values in choices.items())))


def _has_float_store(program: Program, kernel: Kernel) -> bool:
    return any(program.buffers[s.buffer].dtype == "float32" for s in kernel.full_stores)


def _is_reusable(kernel: Kernel) -> bool:
    kinds = {getattr(v.attr, "kind", "") for group in kernel.passes for v in group}
    terms = [arg for group in kernel.passes for v in group for arg in v.args]
    costly = "sumexp" in kinds or any(value.op in COSTLY for value in walk(terms))
    return costly and len(kernel.full_stores) == 1


def _is_fusable(program: Program, kernel: Kernel) -> bool:
    if not nest_of(program, kernel).outer_kept:
        return False
    return any(fused_with(b, a) for a, b in itertools.pairwise(kernel.passes))


def _has_exponential(program: Program) -> bool:
    uses = {"exp", "exp_down", "expm1", "sigmoid", "tanh", "erf", "erf_flat"}
    for kernel in program.kernels:
        stores = [store.value for store in (*kernel.row_stores, *kernel.full_stores)]
        reductions = [value for group in kernel.passes for value in group]
        if any(getattr(value.attr, "kind", "") == "sumexp" for value in reductions):
            return True
        if any(value.op in uses for value in walk([*stores, *reductions])):
            return True
    return False
