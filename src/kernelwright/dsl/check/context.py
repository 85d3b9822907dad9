"""What every check of one kernel works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelwright.dsl.check.cores import Cores
from kernelwright.dsl.check.state import (
    LOST,
    NEVER_WRITTEN,
    BufferState,
    Filled,
    Frame,
    Point,
    Unusable,
)
from kernelwright.dsl.diagnostics import Diagnostic, Edit, Rejected, Severity
from kernelwright.dsl.nodes import Buffer, Expr, Kernel, RefKind, TensorType, Tiles
from kernelwright.dsl.parse.source import Source
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.prove.polynomial import Polynomial, number_polynomial
from kernelwright.dsl.prove.prover import Prover
from kernelwright.dsl.prove.values import Values
from kernelwright.dsl.types import DType, Name, Position


@dataclass(slots=True)
class Context:
    """One kernel with values for its compile-time parameters.

    Attributes:
        source: The text, for fixes.
        kernel: The kernel as parsed.
        values: Integer values at the present point, with the prover.
        point: State of the buffers and scalars at the present point.
        found: Findings so far.
        frames: Loops around the present point, outermost first.
        tiles: Tile loops around the present point, outermost first.
        loaded: Buffers of the input queue.
    """

    source: Source
    kernel: Kernel
    values: Values
    point: Point
    loaded: frozenset[Name]
    found: list[Diagnostic] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    tiles: list[Tiles] = field(default_factory=list)
    buffers: dict[Name, Buffer] = field(default_factory=dict)
    tensors: dict[Name, TensorType] = field(default_factory=dict)
    cores: Cores = field(default_factory=Cores)

    @property
    def prover(self) -> Prover:
        """The facts at the present point."""
        return self.values.prover

    def go(self, point: Point) -> None:
        """Continue from another program point."""
        self.point = point
        self.values.names = point.integers

    def reject(
        self,
        code: str,
        at: Position,
        what: str,
        *,
        numbers: str = "",
        why: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> Rejected:
        """The exception that refuses the present statement."""
        return Rejected(Diagnostic(code, at, what, numbers, why, fix))

    def warn(self, code: str, at: Position, what: str, why: str) -> None:
        """Report something legal but doubtful; once a place."""
        finding = Diagnostic(code, at, what, "", why, (), Severity.WARNING)
        if finding not in self.found:
            self.found.append(finding)

    def value(self, node: Expr) -> Polynomial:
        """The value of an integer expression; unknown where it cannot be followed."""
        value = self.values.of(node)
        return self.prover.fresh(expression_text(node)) if value is None else value

    def capacity(self, name: Name) -> tuple[Polynomial, ...]:
        """Elements that a buffer can hold along each axis."""
        return tuple(self.value(axis) for axis in self.buffers[name].shape)

    def dims(self, name: Name) -> tuple[Polynomial, ...]:
        """Sizes of a tensor."""
        return tuple(self.value(dim) for dim in self.tensors[name].dims)

    def facts(self, *items: Polynomial) -> str:
        """What is known about the atoms of `items`, as a phrase."""
        texts = self.prover.relevant(*items)
        return "known facts are " + ", ".join(texts[:6]) if texts else "nothing is known about it"

    def required(self, text: str) -> tuple[Edit, ...]:
        """Edits that add `tl.require(text)` at the top of the kernel."""
        first = [one.at.line for one in self.kernel.buffers]
        first += [one.at.line for one in self.kernel.body[:1]]
        line = min(first, default=0)
        if not 1 <= line <= len(self.source.lines):
            return ()
        old = self.source.lines[line - 1].strip()
        # A region's position is its call; its line starts with `with`, which is kept.
        return (Edit(line, f"tl.require({text})\n{old}"),)

    # --- buffers ---------------------------------------------------------------------------------

    def read(self, name: Name, at: Position, *, is_store: bool = False) -> Filled:
        """The state of a buffer that is read here.

        Args:
            is_store: The reader is a store, which may share a tile with an earlier store.

        Raises:
            Rejected: with E305 or E306 where it has no content.
        """
        state = self.point.buffers[name]
        if isinstance(state, Unusable):
            what = f"{name.text} cannot be read here: {state.what}"
            self.point.buffers[name] = LOST
            raise self.reject(state.code, at, what, why=state.why)
        if state.handed and not is_store:
            raise self.reject(
                "E305",
                at,
                f"{name.text} cannot be read here: it was handed to the store in line "
                f"{state.handed}",
                why="tokens: a store takes the tile; use it before, or keep it in another buffer",
            )
        for frame in self.frames:
            if name not in frame.written:
                frame.carried.setdefault(name, at.line)
        return state

    def write(self, name: Name, sizes: tuple[Polynomial, ...], at: Position) -> Filled:
        """Set the valid extent of a buffer by a write to all of it."""
        state = Filled(sizes, at.line)
        self.set_state(name, state)
        return state

    def set_state(self, name: Name, state: BufferState) -> None:
        """Replace the state of a buffer by that after a write to all of it."""
        self.point.buffers[name] = state
        for frame in self.frames:
            frame.written.add(name)


def new_context(
    source: Source,
    kernel: Kernel,
    consts: Mapping[Name, int | float | bool],
    loaded: frozenset[Name],
) -> Context:
    """A context at the start of `kernel`: dimensions are at least 1, buffers hold nothing."""
    prover = Prover()
    values = Values(prover, consts=consts)
    point = Point(integers=values.names)
    context = Context(source, kernel, values, point, loaded)
    for dim in kernel.dims:
        value = prover.fresh(dim.text, is_uniform=True)
        _name(context, dim, value, RefKind.DIM)
        prover.assume(value.plus(-1), f"{dim.text} >= 1")
    for scalar in kernel.scalars:
        point.defined.add(scalar.name)
        if scalar.type is DType.I64:
            _name(
                context, scalar.name, prover.fresh(scalar.name.text, is_uniform=True), RefKind.PARAM
            )
    for const in kernel.consts:
        point.defined.add(const.name)
        number = consts.get(const.name)
        if isinstance(number, int) and not isinstance(number, bool):
            _name(context, const.name, number_polynomial(number), RefKind.CONST)
    for buffer in kernel.buffers:
        context.buffers[buffer.name] = buffer
        point.buffers[buffer.name] = NEVER_WRITTEN
    for tensor in kernel.tensors:
        context.tensors[tensor.name] = tensor.type
    return context


def _name(context: Context, name: Name, value: Polynomial, kind: RefKind) -> None:
    context.point.integers[name] = value
    context.point.defined.add(name)
    context.values.kinds[name] = kind
