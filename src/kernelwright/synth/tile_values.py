"""Values of a kernel as operations on tiles, or as scalars where the inner loop does not matter."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.core.errors import NotCovered
from kernelwright.synth.expr import BOOL, Expr
from kernelwright.synth.nest import computed_here
from kernelwright.synth.program import Kernel, Program
from kernelwright.synth.tile_expansions import EXPANSIONS
from kernelwright.synth.tile_layout import FIX, Layout, Tensor
from kernelwright.synth.tile_scalars import condition_text, operand, scalar_text
from kernelwright.synth.tile_scope import Buffers, Lines, Scope, Step, Tile, Value

_UNARY = {
    "neg": "neg", "abs": "abs", "exp": "exp", "exp_down": "exp", "log": "ln", "sqrt": "sqrt",
    "rsqrt": "rsqrt", "recip": "recip", "erf": "erf", "erf_flat": "erf", "tanh": "tanh",
    "sigmoid": "sigmoid", "floor": "floor", "ceil": "ceil", "round": "round", "sin": "sin",
    "cos": "cos",
}  # fmt: skip
_WITH_SCALAR = {
    "add": ("adds", "adds"), "sub": ("subs", "rsubs"), "mul": ("muls", "muls"),
    "div": ("divs", "rdivs"), "max": ("maxs", "maxs"), "min": ("mins", "mins"),
}  # fmt: skip
"""Operation with a scalar on the right, and on the left."""
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


@dataclass(slots=True)
class Values:
    """Writes values into the loop level where they belong.

    Attributes:
        program: What the kernel belongs to.
        kernel: The kernel.
        layout: Its names.
        buffers: Its allocations.
        scopes: Levels that are open, outermost first.
    """

    program: Program
    kernel: Kernel
    layout: Layout
    buffers: Buffers = field(default_factory=Buffers)
    scopes: list[Scope] = field(default_factory=list)
    _own: set[int] = field(default_factory=set)
    _loops: dict[int, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._own = computed_here(self.program, self.kernel)

    @property
    def here(self) -> Scope:
        """The innermost level."""
        return self.scopes[-1]

    def open(self, header: Lines, variables: set[str], *, extent: str, is_leaf: bool) -> Scope:
        """Begin a level with `variables` on top of those around it."""
        around = self.scopes[-1].loops if self.scopes else frozenset()
        self.scopes.append(Scope(header, around | variables, extent, is_leaf))
        return self.here

    def close(self) -> Lines:
        """End the innermost level; its loop becomes a part of the one around it."""
        lines = self.scopes.pop().finished(self.buffers)
        if self.scopes:
            self.here.flush(self.buffers)
            self.here.lines += lines
        return lines

    def value(self, value: Expr) -> Value:
        """Return a value's tile or scalar, writing what it needs first.

        Raises:
            NotCovered: naming what the language, or this writer, does not have.
        """
        if value.op == "view":
            return self.value(value.args[0])
        if value.op == "const":
            return literal(value)
        for scope in reversed(self.scopes):
            if value.uid in scope.names:
                return scope.names[value.uid]
        scope = next(s for s in self.scopes if self.loops(value) <= s.loops)
        made = self._made(value, scope)
        scope.names[value.uid] = made
        return made

    def loops(self, value: Expr) -> frozenset[str]:
        """Return the variables that a value depends on."""
        if value.uid not in self._loops:
            self._loops[value.uid] = self._depends(value)
        return self._loops[value.uid]

    def forget(self) -> None:
        """What values depend on changes when a pass is done."""
        self._loops.clear()

    def _depends(self, value: Expr) -> frozenset[str]:
        for scope in self.scopes:
            if value.uid in scope.names:
                return scope.loops
        tensor = self._source(value)
        if tensor is not None:
            return frozenset(axis.var for axis in tensor.axes)
        return frozenset(var for arg in value.args for var in self.loops(arg))

    def _source(self, value: Expr) -> Tensor | None:
        """Return the tensor that a value is loaded from."""
        if value.op == "load_at":
            raise NotCovered("an index read from memory", fix=FIX)
        is_kept = value.uid in self.program.placed and value.uid not in self._own
        name = self.program.placed[value.uid] if is_kept else str(value.attr)
        if not is_kept and (value.op != "load" or name in self.layout.numbers):
            return None
        return self.layout.tensor(name)

    def _made(self, value: Expr, scope: Scope) -> Value:
        tensor = self._source(value)
        if tensor is not None:
            return self._loaded(value, tensor, scope)
        if value.op == "load":
            return self.layout.numbers[str(value.attr)]
        if self.layout.inner.var not in self.loops(value):
            if value.op == "where":
                return self._chosen(value, scope)
            return self.bound(scalar_text(self, value), scope, "v")
        if value.op == "reduce":
            raise NotCovered("a reduction inside a loop", fix=FIX)
        return self._operation(value, scope)

    def bound(self, text: str, scope: Scope, letter: str) -> str:
        """Return a name for a scalar."""
        name = self.layout.names.fresh(letter)
        scope.scalars.append(f"{name} = {text}")
        return name

    def _chosen(self, value: Expr, scope: Scope) -> str:
        """Write a choice between scalars; return its name."""
        mask, yes, no = value.args
        condition = condition_text(self, mask)
        name = self.bound(f"{operand(self, no)} * 1.0", scope, "v")
        scope.scalars += [f"if {condition}:", f"    {name} = {operand(self, yes)}"]
        return name

    def _loaded(self, value: Expr, tensor: Tensor, scope: Scope) -> Value:
        if self.layout.inner not in tensor.axes:
            if tensor.dtype not in {"f32", "i32", "i64"}:
                raise NotCovered(f"one element of {tensor.dtype}", fix=FIX)
            name = self.layout.names.fresh(f"{tensor.name}_v")
            scope.loads.append(f"{name} = tl.load_scalar({tensor.name}[{at(tensor)}])")
            return name if tensor.dtype == "f32" else self.bound(f"{name} / 1", scope, "v")
        if tensor.dtype == "i64":
            raise NotCovered("tiles of 64-bit integers", fix=FIX)
        name = self.buffers.make(f"{tensor.name}_ub", tensor.dtype, depth=2 if scope.is_leaf else 1)
        scope.loads.append(f"tl.load({name}, {tensor.name}[{at(tensor, self.layout, scope)}])")
        tile = Tile(tensor.dtype, name)
        if tensor.dtype != "f32":
            tile = self.step(scope, "tl.cast({d}, {0})", tile)
        if value.kind == BOOL:
            tile = self.step(scope, 'tl.cmp({d}, {0}, 0.0, op="ne")', tile, dtype="mask")
        return tile

    def step(self, scope: Scope, text: str, *args: Tile, dtype: str = "f32") -> Tile:
        """Write an operation; a result that inner loops may need gets a buffer of its own."""
        name = ""
        if not scope.is_leaf:
            name = self.buffers.make(f"{self.layout.names.fresh('h')}_ub", dtype)
        dest = Tile(dtype, name)
        scope.steps.append(Step(text, dest, args))
        return dest

    def tile(self, value: Value, scope: Scope) -> Tile:
        """Return a value as a tile."""
        if isinstance(value, Tile):
            return value
        return self.step(scope, f"tl.fill({{d}}, {value}, {scope.extent})")

    def _operation(self, value: Expr, scope: Scope) -> Tile:
        op = value.op
        args = [self.value(arg) for arg in value.args]
        if op in _UNARY:
            return self.step(scope, f"tl.{_UNARY[op]}({{d}}, {{0}})", self.tile(args[0], scope))
        if op in _WITH_SCALAR:
            return self._binary(op, args, scope)
        if op in _MIRRORED:
            return self._compared(op, args, scope)
        if op == "where":
            return self._where(value, args, scope)
        if op not in EXPANSIONS:
            raise NotCovered(f"the operator {op}", fix=FIX)
        return EXPANSIONS[op](self, scope, *(self.tile(arg, scope) for arg in args))

    def _binary(self, op: str, args: list[Value], scope: Scope) -> Tile:
        left, right = args
        if isinstance(left, Tile) and isinstance(right, Tile):
            return self.step(scope, f"tl.{op}({{d}}, {{0}}, {{1}})", left, right)
        scalar_right, scalar_left = _WITH_SCALAR[op]
        if isinstance(left, Tile):
            return self.step(scope, f"tl.{scalar_right}({{d}}, {{0}}, {right})", left)
        assert isinstance(right, Tile)
        if scalar_left.startswith("r"):
            return self.step(scope, f"tl.{scalar_left}({{d}}, {left}, {{0}})", right)
        return self.step(scope, f"tl.{scalar_left}({{d}}, {{0}}, {left})", right)

    def _compared(self, op: str, args: list[Value], scope: Scope) -> Tile:
        left, right = args
        if not isinstance(left, Tile):
            left, right, op = right, left, _MIRRORED[op]
        assert isinstance(left, Tile)
        if isinstance(right, Tile):
            text = f'tl.cmp({{d}}, {{0}}, {{1}}, op="{op}")'
            return self.step(scope, text, left, right, dtype="mask")
        return self.step(scope, f'tl.cmp({{d}}, {{0}}, {right}, op="{op}")', left, dtype="mask")

    def _where(self, value: Expr, args: list[Value], scope: Scope) -> Tile:
        mask, yes, no = args
        slope = _leak(value)
        if slope is not None and isinstance(yes, Tile):
            return self.step(scope, f"tl.leaky_relu({{d}}, {{0}}, {slope!r})", yes)
        if not isinstance(mask, Tile):
            raise NotCovered("a choice by a scalar", fix=FIX)
        yes = self.tile(yes, scope)
        if isinstance(no, Tile):
            return self.step(scope, "tl.select({d}, {0}, {1}, {2})", mask, yes, no)
        return self.step(scope, f"tl.select({{d}}, {{0}}, {{1}}, {no})", mask, yes)


def literal(value: Expr) -> str:
    """Return a constant as text.

    Raises:
        NotCovered: for NaN, which has no literal.
    """
    number = value.attr
    assert isinstance(number, float)
    if number != number:
        raise NotCovered("a literal NaN", fix=FIX)
    if number in {float("inf"), float("-inf")}:
        return "tl.inf" if number > 0 else "-tl.inf"
    return repr(number)


def at(tensor: Tensor, layout: Layout | None = None, scope: Scope | None = None) -> str:
    """Return the index of a tensor: of one element, or of a tile."""
    parts = []
    for axis in tensor.axes:
        is_inner = layout is not None and scope is not None and axis is layout.inner
        parts.append(f"{axis.var}:{axis.var} + {scope.extent}" if is_inner and scope else axis.var)
    return ", ".join(parts) or "0"


def _leak(value: Expr) -> float | None:
    """Return the slope where a choice is a leaky relu."""
    mask, yes, no = value.args
    is_positive = mask.op == "gt" and mask.args[0] is yes and mask.args[1].attr == 0.0
    if not is_positive or no.op != "mul" or no.args[0] is not yes or no.args[1].op != "const":
        return None
    slope = no.args[1].attr
    assert isinstance(slope, float)
    return slope
