"""Values that do not depend on the inner loop, as scalar expressions of the kernel language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kernelwright.core.errors import NotCovered
from kernelwright.synth.expr import Expr, SizeTerm
from kernelwright.synth.program import Program
from kernelwright.synth.tile_layout import FIX, Layout
from kernelwright.synth.tile_scope import Value

_INFIX: Mapping[str, str] = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_CALLS: Mapping[str, str] = {
    "sqrt": "tl.sqrt({0})", "rsqrt": "1.0 / tl.sqrt({0})", "recip": "1.0 / {0}",
    "exp": "tl.exp({0})", "exp_down": "tl.exp({0})", "log": "tl.log({0})", "abs": "tl.abs({0})",
    "max": "tl.max({0}, {1})", "min": "tl.min({0}, {1})", "neg": "-{0}", "square": "{0} * {0}",
}  # fmt: skip

_COMPARED: Mapping[str, str] = {
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


class Writer(Protocol):
    """What scalars need of the values' writer."""

    layout: Layout
    program: Program

    def value(self, value: Expr) -> Value:
        """Return a value's tile or scalar, writing what it needs first."""
        ...


def scalar_text(to: Writer, value: Expr) -> str:
    """Return a value as a scalar expression over what is written already.

    Raises:
        NotCovered: for operators that scalars do not have.
    """
    if value.op == "size":
        assert isinstance(value.attr, SizeTerm)
        return f"{_size(to, value.attr)} / 1"
    if value.op == "div" and value.args[1].op == "size":
        term = value.args[1].attr
        if isinstance(term, SizeTerm) and term.op == "dim":
            size = _size(to, term)
            size = f"({size})" if " " in size else size
            return f"{operand(to, value.args[0])} / {size}"
    if value.op in _INFIX:
        left, right = (operand(to, arg) for arg in value.args)
        return f"{left} {_INFIX[value.op]} {right}"
    if value.op in _CALLS:
        return _CALLS[value.op].format(*(operand(to, arg) for arg in value.args))
    raise NotCovered(f"the operator {value.op} on scalars", fix=FIX)


def condition_text(to: Writer, value: Expr) -> str:
    """Return a comparison of scalars.

    Raises:
        NotCovered: for other masks.
    """
    if value.op not in _COMPARED:
        raise NotCovered(f"the mask {value.op} on scalars", fix=FIX)
    left, right = (operand(to, arg) for arg in value.args)
    return f"{left} {_COMPARED[value.op]} {right}"


def operand(to: Writer, value: Expr) -> str:
    """Return a value that is known to be a scalar, fit to stand in an expression."""
    text = to.value(value)
    assert isinstance(text, str)
    return f"({text})" if text.startswith("-") else text


def _size(to: Writer, term: SizeTerm) -> str:
    if term.op != "dim":
        raise NotCovered("arithmetic on sizes", fix=FIX)
    return to.layout.product(to.program.canonical.axes.primes(term.dim))
