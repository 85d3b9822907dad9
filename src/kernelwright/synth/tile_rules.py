"""How each reduction starts, and how one more part joins it, in the kernel language."""

from __future__ import annotations

from kernelwright.core.errors import NotCovered
from kernelwright.synth.accumulate import kind_of
from kernelwright.synth.expr import Expr
from kernelwright.synth.tile_layout import FIX

_START = {
    "sum": "0.0", "m2": "0.0", "sumexp": "0.0", "prod": "1.0", "max": "-tl.inf", "min": "tl.inf",
    "top": "-3.0e38",
}  # fmt: skip
JOIN = {
    "sum": "add", "m2": "add", "sumexp": "add", "prod": "mul", "max": "max", "min": "min",
    "top": "max",
}  # fmt: skip
SUMS = frozenset({"sum", "m2", "sumexp"})


def start_of(reduction: Expr) -> str:
    """Return what a reduction starts from.

    Raises:
        NotCovered: for places of maxima.
    """
    kind = kind_of(reduction)
    if kind not in _START:
        raise NotCovered(f"the reduction {kind}", fix=FIX)
    return _START[kind]


def letter(reduction: Expr) -> str:
    """Return what the result of a reduction is called."""
    return {"sum": "s", "sumexp": "s", "m2": "s", "prod": "p"}.get(kind_of(reduction), "best")


def stepped(reduction: Expr, name: str, part: str) -> str:
    """Return the scalar statement that joins one more part to a result."""
    kind = kind_of(reduction)
    if kind in SUMS or kind == "prod":
        return f"{name} = {name} {'*' if kind == 'prod' else '+'} {part}"
    return f"{name} = tl.{JOIN[kind]}({name}, {part})"


def reduce_of(reduction: Expr) -> str:
    """Return the name of its primitive after `reduce_`."""
    kind = kind_of(reduction)
    return "sum" if kind in SUMS else "max" if kind == "top" else kind
