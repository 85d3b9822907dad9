"""One core at work: a generator that yields after every statement and at every sync.

Takes:   a bound kernel (compile-time parameters replaced) and its tensors, dims and scalars.
Gives:   stores in global memory, counts, and a fault where a rule is broken.
Leaves:  the order of the cores to `launch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NoReturn

import numpy as np

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.interpret.memory import ChipBuffer, GlobalTensor
from kernelwright.dsl.interpret.movement import load, read_element, store
from kernelwright.dsl.interpret.operation import IndexOutside, computed, repeats
from kernelwright.dsl.interpret.outcome import Counters, Fault, Stopped
from kernelwright.dsl.interpret.scalar import DivisionByZero, value_of
from kernelwright.dsl.nodes import (
    Assign,
    Block,
    CoreRange,
    Expr,
    For,
    If,
    Iteration,
    Kernel,
    Load,
    Op,
    Range,
    ReadScalar,
    Reduce,
    Region,
    Require,
    Span,
    Statement,
    StaticRange,
    Store,
    SyncAll,
    Tiles,
    View,
)
from kernelwright.dsl.primitive import Kind, ShapeRule
from kernelwright.dsl.types import DType, Name, Position


class Pause(Enum):
    """Why a core stops for a moment."""

    STEP = auto()
    SYNC = auto()


@dataclass(slots=True)
class Core:
    """State of one core.

    Attributes:
        number: Its number, from 0.
        names: Values of the scalars.
        is_poisoning: Whether a load poisons its buffer first.
    """

    kernel: Kernel
    number: int
    cores: int
    tensors: Mapping[Name, GlobalTensor]
    buffers: Mapping[Name, ChipBuffer]
    names: dict[Name, Any]
    counters: Counters
    is_poisoning: bool = True
    at: Position = field(default_factory=lambda: Position(0, 0, 0, 0))

    def run(self) -> Iterator[Pause]:
        """Run the kernel; a step at a time."""
        return self.block(self.kernel.body)

    def block(self, block: Block) -> Iterator[Pause]:
        """Run the statements of a block."""
        for statement in block:
            self.at = statement.at
            match statement:
                case Region(body=body):
                    yield from self.block(body)
                case For(over=over, body=body):
                    for values in _iterations(self, over):
                        self.names.update(values)
                        yield from self.block(body)
                case If(condition=condition, then=then, orelse=orelse):
                    yield from self.block(then if self.value(condition) else orelse)
                case SyncAll():
                    yield Pause.SYNC
                case _:
                    self._statement(statement)
                    yield Pause.STEP

    def fail(
        self, code: str, what: str, numbers: str = "", lines: tuple[int, ...] = ()
    ) -> NoReturn:
        """End the run with a fault at the present statement."""
        name = self.kernel.name.text
        raise Stopped(Fault(code, name, self.number, self.at, what, numbers, lines))

    def value(self, node: Expr) -> Any:
        """Value of a scalar expression."""
        try:
            return value_of(node, self.names, (self.number, self.cores), self._read)
        except DivisionByZero:
            self.fail("E802", "division by zero")

    # --- statements ------------------------------------------------------------------------------

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Load():
                load(self, statement)
            case Store():
                store(self, statement)
            case Op():
                self._op(statement)
            case Assign(name=name, value=value):
                self.names[name] = self.value(value)
            case Require(condition=condition):
                if not self.value(condition):
                    self.fail("E702", "a requirement is false")

    def _read(self, node: Reduce | ReadScalar) -> Any:
        if isinstance(node, ReadScalar):
            return read_element(self, node)
        buffer, key, _ = self.place(node.source)
        if buffer.undefined[key].any():
            self.fail("E801", "undefined data becomes a scalar", "", (*buffer.made, self.at.line))
        self.counters.scalar_syncs += 1
        meaning = BUILTINS[node.function].meaning
        assert meaning is not None
        return np.float32(meaning(buffer.data[key], axis=None))

    def _op(self, node: Op) -> None:
        row = BUILTINS[node.name]
        operands: list[Any] = []
        undefined: list[Any] = []
        made: list[int] = []
        source = self.buffers[node.dest.buffer].dtype
        carry: tuple[ChipBuffer, Any] | None = None
        for slot, operand in zip(row.slots, node.operands, strict=False):
            if not isinstance(operand, View):
                operands.append(self.value(operand))
                continue
            buffer, key, _ = self.place(operand)
            if slot.kind is Kind.CARRY:
                carry = (buffer, key)
            elif slot.kind is not Kind.MASK and slot.kind is not Kind.INDEX:
                source = buffer.dtype
            operands.append(buffer.data[key].copy())
            undefined.append(buffer.undefined[key])
            made += buffer.made if undefined[-1].any() else ()
        old = None
        if row.reads_dest:
            buffer, key, _ = self.place(node.dest)
            old = buffer.data[key].copy()
            undefined.append(buffer.undefined[key])
            made += buffer.made if undefined[-1].any() else ()
        result, carried = self._result(node, operands, source, old)
        is_lost = any(item.any() for item in undefined)
        mask: Any = _spread(undefined, result, row.shape) if is_lost else False
        chain = tuple(dict.fromkeys((*made, self.at.line))) if is_lost else ()
        self.write(node.dest, result, mask, chain)
        if carry is not None and carried is not None:
            carry[0].data[carry[1]] = carried
            carry[0].undefined[carry[1]] = is_lost
        self.counters.vector_repeats += repeats(node, result.shape, source)

    def _result(self, node: Op, operands: list[Any], source: DType, old: Any) -> Any:
        dtype = self.buffers[node.dest.buffer].dtype
        size: Any = None
        if node.name in ("fill", "iota"):
            counts = tuple(int(item) for item in operands[1:])
            size = counts or self.place(node.dest)[2]
        try:
            return computed(node, operands, dtype=dtype, source=source, old=old, size=size)
        except IndexOutside as error:
            self.fail("E802", f"tl.{node.name} leaves its source", error.numbers)

    # --- buffers ---------------------------------------------------------------------------------

    def place(self, view: View) -> tuple[ChipBuffer, tuple[Any, ...], tuple[int, ...]]:
        """A view's buffer, its NumPy key and its sizes, checked against the valid extent."""
        buffer = self.buffers[view.buffer]
        index = view.index or (Span(None, None),) * len(buffer.extent)
        key: list[Any] = []
        sizes: list[int] = []
        for axis, extent in zip(index, buffer.extent, strict=True):
            if isinstance(axis, Span):
                start = 0 if axis.start is None else self.value(axis.start)
                stop = extent if axis.stop is None else self.value(axis.stop)
                key.append(slice(start, stop))
                sizes.append(stop - start)
            else:
                start = self.value(axis)
                stop = start + 1
                key.append(start)
            if not 0 <= start <= stop <= extent:
                name = view.buffer.text
                self.fail("E306", f"{name} leaves its extent", f"{start}:{stop} of {extent}")
        self._check_annotation(view, tuple(sizes))
        return buffer, tuple(key), tuple(sizes)

    def _check_annotation(self, view: View, sizes: tuple[int, ...]) -> None:
        """The extent that the checker wrote is the one that there is."""
        if view.extent is not None:
            wants = tuple(self.value(item) for item in view.extent)
            if wants != sizes:
                self.fail(
                    "E306", f"{view.buffer.text} has extent {sizes}, the checker says {wants}"
                )

    def write(self, view: View, values: Any, undefined: Any, made: tuple[int, ...]) -> None:
        """Write a view; writing the whole buffer sets its extent."""
        buffer = self.buffers[view.buffer]
        if not view.index:
            if any(a > b for a, b in zip(values.shape, buffer.data.shape, strict=True)):
                name = view.buffer.text
                self.fail("E304", f"{name} is too small", f"{values.shape} of {buffer.data.shape}")
            if self.is_poisoning:
                buffer.reset()
            buffer.extent = values.shape
        _, key, sizes = self.place(view)
        if sizes != values.shape:
            self.fail("E306", "extents differ", f"{sizes} and {values.shape}")
        buffer.data[key] = values
        buffer.undefined[key] = undefined
        buffer.made = tuple(dict.fromkeys((*buffer.made, *made))) if made else buffer.made


def _iterations(core: Core, over: Iteration) -> Iterator[dict[Name, int]]:
    match over:
        case CoreRange(var=var, count=count):
            for number in _share(core, core.value(count)):
                yield {var: number}
        case StaticRange(var=var, count=count):
            for number in range(core.value(count)):
                yield {var: number}
        case Range(var=var, start=start, stop=stop):
            for number in range(core.value(start), core.value(stop)):
                yield {var: number}
        case Tiles():
            yield from _tiles(core, over)


def _tiles(core: Core, over: Tiles) -> Iterator[dict[Name, int]]:
    total, tile = core.value(over.total), core.value(over.tile)
    count = max(0, -(-total // tile))
    tiles = _share(core, count) if over.is_per_core else range(count)
    for number in reversed(tiles) if over.is_reversed else tiles:
        offset = number * tile
        yield {over.offset: offset, over.length: min(tile, total - offset)}


def _share(core: Core, count: int) -> range:
    count = max(0, count)
    size, extra = divmod(count, core.cores)
    low = core.number * size + min(core.number, extra)
    return range(low, low + size + (core.number < extra))


def _spread(undefined: list[Any], result: Any, shape: ShapeRule) -> Any:
    """Which elements of a result depend on undefined ones; all of them where that is not plain."""
    if shape in (ShapeRule.SAME, ShapeRule.BROADCAST):
        mask = np.zeros(result.shape, np.bool_)
        for item in undefined:
            mask |= item
        return mask
    return np.ones(result.shape, np.bool_)
