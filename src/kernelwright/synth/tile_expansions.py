"""Operators that the kernel language spells as several operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kernelwright.synth.tile_scope import Scope, Tile


class Writer(Protocol):
    """What an expansion needs: to write one operation."""

    def step(self, scope: Scope, text: str, *args: Tile, dtype: str = "f32") -> Tile:
        """Write an operation and return its result."""
        ...


def _square(to: Writer, scope: Scope, x: Tile) -> Tile:
    return to.step(scope, "tl.mul({d}, {0}, {0})", x)


def _isnan(to: Writer, scope: Scope, x: Tile) -> Tile:
    return to.step(scope, 'tl.cmp({d}, {0}, {0}, op="ne")', x, dtype="mask")


def _expm1(to: Writer, scope: Scope, x: Tile) -> Tile:
    # tanh(x / 2) * (exp(x) + 1), which loses nothing near 0.
    half = to.step(scope, "tl.muls({d}, {0}, 0.5)", x)
    half = to.step(scope, "tl.tanh({d}, {0})", half)
    e = to.step(scope, "tl.exp({d}, {0})", x)
    e = to.step(scope, "tl.adds({d}, {0}, 1.0)", e)
    return to.step(scope, "tl.mul({d}, {0}, {1})", half, e)


def _log1p(to: Writer, scope: Scope, x: Tile) -> Tile:
    # With u = 1 + x rounded and d = u - 1: ln(u) is right where d is x, else ln(u) * x / d.
    u = to.step(scope, "tl.adds({d}, {0}, 1.0)", x)
    d = to.step(scope, "tl.subs({d}, {0}, 1.0)", u)
    log = to.step(scope, "tl.ln({d}, {0})", u)
    ratio = to.step(scope, "tl.div({d}, {0}, {1})", x, d)
    near = to.step(scope, "tl.mul({d}, {0}, {1})", log, ratio)
    is_tiny = to.step(scope, 'tl.cmp({d}, {0}, 0.0, op="eq")', d, dtype="mask")
    near = to.step(scope, "tl.select({d}, {0}, {1}, {2})", is_tiny, x, near)
    is_exact = to.step(scope, 'tl.cmp({d}, {0}, {1}, op="eq")', d, x, dtype="mask")
    return to.step(scope, "tl.select({d}, {0}, {1}, {2})", is_exact, log, near)


def _trunc(to: Writer, scope: Scope, x: Tile) -> Tile:
    down = to.step(scope, "tl.floor({d}, {0})", x)
    up = to.step(scope, "tl.ceil({d}, {0})", x)
    mask = to.step(scope, 'tl.cmp({d}, {0}, 0.0, op="lt")', x, dtype="mask")
    return to.step(scope, "tl.select({d}, {0}, {1}, {2})", mask, up, down)


def _sign(to: Writer, scope: Scope, x: Tile) -> Tile:
    one = to.step(scope, f"tl.fill({{d}}, 1.0, {scope.extent})")
    mask = to.step(scope, 'tl.cmp({d}, {0}, 0.0, op="gt")', x, dtype="mask")
    above = to.step(scope, "tl.select({d}, {0}, {1}, 0.0)", mask, one)
    mask = to.step(scope, 'tl.cmp({d}, {0}, 0.0, op="lt")', x, dtype="mask")
    minus = to.step(scope, f"tl.fill({{d}}, -1.0, {scope.extent})")
    return to.step(scope, "tl.select({d}, {0}, {1}, {2})", mask, minus, above)


def _numbers(to: Writer, scope: Scope, mask: Tile) -> Tile:
    one = to.step(scope, f"tl.fill({{d}}, 1.0, {scope.extent})")
    return to.step(scope, "tl.select({d}, {0}, {1}, 0.0)", mask, one)


def _as_mask(to: Writer, scope: Scope, number: Tile) -> Tile:
    return to.step(scope, 'tl.cmp({d}, {0}, 0.0, op="ne")', number, dtype="mask")


def _and(to: Writer, scope: Scope, a: Tile, b: Tile) -> Tile:
    a, b = _numbers(to, scope, a), _numbers(to, scope, b)
    return _as_mask(to, scope, to.step(scope, "tl.min({d}, {0}, {1})", a, b))


def _or(to: Writer, scope: Scope, a: Tile, b: Tile) -> Tile:
    a, b = _numbers(to, scope, a), _numbers(to, scope, b)
    return _as_mask(to, scope, to.step(scope, "tl.max({d}, {0}, {1})", a, b))


def _not(to: Writer, scope: Scope, a: Tile) -> Tile:
    number = _numbers(to, scope, a)
    return to.step(scope, 'tl.cmp({d}, {0}, 0.0, op="eq")', number, dtype="mask")


EXPANSIONS: Mapping[str, Callable[..., Tile]] = {
    "square": _square,
    "isnan": _isnan,
    "expm1": _expm1,
    "log1p": _log1p,
    "trunc": _trunc,
    "sign": _sign,
    "and": _and,
    "or": _or,
    "not": _not,
}
"""Canonical operator to the function that writes it; operands are tiles."""
