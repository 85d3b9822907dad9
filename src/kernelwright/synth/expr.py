"""Canonical expressions: what a task computes, as a graph of few operators over axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kernelwright.core.errors import NotCovered
from kernelwright.synth.axes import Axes, Dim, Shape

FLOAT, BOOL, INDEX = "float", "bool", "index"
"""Kinds of values: a float32 vector, a mask, a 64-bit index."""

COSTLY = frozenset("exp exp_down log log1p expm1 erf erf_flat tanh sigmoid pow sin cos".split())
"""Operators that cost more than a pass over memory that is in cache."""


@dataclass(frozen=True, slots=True)
class SizeTerm:
    """A number made of extents: `op` is `dim`, `number` or one of `mul add sub floordiv truediv`.

    Attributes:
        op: What it is.
        dim: Axes of an extent.
        number: Value of a number.
        args: Operands.
    """

    op: str
    dim: Dim = ()
    number: float = 0.0
    args: tuple[SizeTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a reduction does: `kind` over `axes`.

    Kinds: sum, prod, max, min; top (a maximum that may miss NaN); argmax, argmin (an index); m2
    (sum of squared distances to the mean, which is the second operand); sumexp (sum of
    exponentials after the maximum, which is the second operand, is subtracted).
    """

    kind: str
    axes: Dim


Attribute: TypeAlias = "None | float | str | SizeTerm | Reduction | Dim"


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """One value; identity is the object, and equal expressions are one object.

    Attributes:
        uid: Place in the order of creation: operands come before what uses them.
        op: `load`, `load_at`, `const`, `size`, `view`, `reduce` or an elementwise operator.
        args: Operands.
        shape: Extents as axes; operands without an axis are broadcast along it.
        kind: `float`, `bool` or `index`.
        attr: Placeholder of a load, value of a constant, reduction of a reduce, ...
    """

    uid: int
    op: str
    args: tuple[Expr, ...]
    shape: Shape
    kind: str
    attr: Attribute = None


def walk(roots: Sequence[Expr]) -> Iterator[Expr]:
    """Yield every expression below `roots` once, operands first."""
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        expr, is_done = stack.pop()
        if is_done:
            yield expr
        elif expr.uid not in seen:
            seen.add(expr.uid)
            stack.append((expr, True))
            stack.extend((arg, False) for arg in reversed(expr.args))


@dataclass(slots=True)
class Exprs:
    """Makes expressions; an expression that exists already is returned again.

    Attributes:
        axes: The task's axes.
    """

    axes: Axes
    _made: dict[object, Expr] = field(default_factory=dict)

    def make(
        self,
        op: str,
        *args: Expr,
        shape: Shape | None = None,
        kind: str = FLOAT,
        attr: Attribute = None,
    ) -> Expr:
        """Return the expression; without `shape` the operands are broadcast together."""
        if shape is None:
            shape = self.axes.broadcast([arg.shape for arg in args])
        key = (op, tuple(arg.uid for arg in args), shape, kind, repr(attr))
        if key not in self._made:
            self._made[key] = Expr(len(self._made), op, args, shape, kind, attr)
        return self._made[key]

    def const(self, value: float) -> Expr:
        """Return a number."""
        return self.make("const", shape=(), attr=float(value))

    def number(self, value: Expr) -> Expr:
        """Return a mask as 0.0 and 1.0, and a float as it is."""
        if value.kind == BOOL:
            return self.make("where", value, self.const(1.0), self.const(0.0))
        return value

    def mask(self, value: Expr) -> Expr:
        """Return whether a value is not zero."""
        return value if value.kind == BOOL else self.compare("ne", value, self.const(0.0))

    def compare(self, op: str, left: Expr, right: Expr) -> Expr:
        """Return a mask: `lt le gt ge eq ne`."""
        return self.make(op, self.number(left), self.number(right), kind=BOOL)

    def apply(self, op: str, *args: Expr) -> Expr:
        """Return an elementwise operator on floats (`add`, `exp`, ...)."""
        return self.make(op, *(self.number(arg) for arg in args))

    def scaled(self, value: Expr, factor: float) -> Expr:
        """Return `value * factor`."""
        return value if factor == 1.0 else self.apply("mul", value, self.const(factor))

    def shifted(self, value: Expr, summand: float) -> Expr:
        """Return `value + summand`."""
        return value if summand == 0.0 else self.apply("add", value, self.const(summand))

    def where(self, condition: Expr, yes: Expr, no: Expr) -> Expr:
        """Return `yes` where the mask holds, else `no`."""
        return self.make("where", self.mask(condition), self.number(yes), self.number(no))

    def viewed(self, value: Expr, shape: Shape) -> Expr:
        """Return the same elements under another shape."""
        if shape == value.shape:
            return value
        return self.make("view", value, shape=shape, kind=value.kind)

    def reduce(
        self,
        kind: str,
        value: Expr,
        places: Sequence[int],
        *,
        keep: bool,
        other: Expr | None = None,
    ) -> Expr:
        """Return a reduction over the extents at `places`; `other` is the mean or the maximum."""
        value = self.number(value)
        reduced = self.axes.primes(axis for place in places for axis in value.shape[place])
        kept = tuple(
            () if place in places else dim
            for place, dim in enumerate(value.shape)
            if keep or place not in places
        )
        if not reduced:
            return self.viewed(self._of_one(kind, value, other), kept)
        args = (value,) if other is None else (value, other)
        result_kind = INDEX if kind in {"argmax", "argmin"} else FLOAT
        return self.make(
            "reduce", *args, shape=kept, kind=result_kind, attr=Reduction(kind, reduced)
        )

    def _of_one(self, kind: str, value: Expr, other: Expr | None) -> Expr:
        if kind in {"sum", "prod", "max", "min", "top"}:
            return value
        if other is None:
            raise NotCovered(f"{kind} over one element", fix="nothing is reduced in this task")
        distance = self.apply("sub", value, other)
        return self.apply("exp" if kind == "sumexp" else "square", distance)

    def extent_of(self, value: Expr, places: Sequence[int]) -> Expr:
        """Return the number of elements along `places` as a value."""
        dim = self.axes.primes(axis for place in places for axis in value.shape[place])
        return self.size(SizeTerm("dim", dim=dim))

    def size(self, term: SizeTerm) -> Expr:
        """Return a number made of extents."""
        return self.make("size", shape=(), attr=term)

    def rewritten(self, root: Expr, change: Callable[[Expr, tuple[Expr, ...]], Expr]) -> Expr:
        """Return `root` with every expression below it replaced by what `change` returns."""
        done: dict[int, Expr] = {}
        for expr in walk([root]):
            done[expr.uid] = change(expr, tuple(done[arg.uid] for arg in expr.args))
        return done[root.uid]
