"""Where views and slices lie in memory: a base pointer, a row pitch and an element step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelwright.dsl.emit.expression import Scalars
from kernelwright.dsl.emit.lanes import CPP_TYPE, ITEM_BYTES
from kernelwright.dsl.nodes import (
    Buffer,
    Expr,
    GlobalSlice,
    Kernel,
    Literal,
    Span,
    TensorParam,
    View,
    loaded_tensors,
    stored_tensors,
)
from kernelwright.dsl.types import DType, Name, align_up

LINE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Place:
    """Elements `base[i * pitch + j * step]`.

    Attributes:
        base: C++ pointer expression.
        pitch: Elements between rows, "0" for rank 1.
        step: Elements between neighbours in a row.
    """

    base: str
    pitch: str
    step: str


@dataclass(slots=True)
class Scope:
    """What one kernel's function knows.

    Attributes:
        in_memory: Buffers that need memory, found while printing.
        streamed: Tensors that are only stored to: past the caches, where they are large.
        far: Those of them for which a store was printed.
        big: Tensors of which something is fetched ahead.
    """

    kernel: Kernel
    scalars: Scalars
    in_memory: set[Name] = field(default_factory=set)
    buffers: Mapping[Name, Buffer] = field(default_factory=dict)
    tensors: Mapping[Name, TensorParam] = field(default_factory=dict)
    streamed: frozenset[Name] = frozenset()
    far: set[Name] = field(default_factory=set)
    big: set[Name] = field(default_factory=set)

    def dtype(self, view: View) -> DType:
        """Element type of a buffer."""
        return self.buffers[view.buffer].dtype

    def place(self, view: View) -> Place:
        """Where a view lies; its buffer then needs memory."""
        self.in_memory.add(view.buffer)
        return view_place(self.buffers[view.buffer], view, self.scalars)

    def slice_place(self, part: GlobalSlice, *, is_filled: bool = False) -> Place:
        """Where a slice lies; with `is_filled`, the start of the last axis counts as 0."""
        return slice_place(self.tensors[part.tensor], part, self.scalars, is_filled=is_filled)


def new_scope(kernel: Kernel) -> Scope:
    """The scope of a bound kernel."""
    buffers = {item.name: item for item in kernel.buffers}
    tensors = {item.name: item for item in kernel.tensors}
    streamed = stored_tensors(kernel) - loaded_tensors(kernel)
    return Scope(kernel, Scalars(), set(), buffers, tensors, streamed)


def size_text(param: TensorParam, scalars: Scalars, what: str) -> str:
    """The declaration that says whether a tensor is `far` from every cache, or `big` for one."""
    size = " * ".join(scalars.text(dim) for dim in param.type.dims)
    size = f"{size} * {ITEM_BYTES[param.type.dtype]}"
    return f"const bool {what}_{param.name} = {size} >= {what.upper()}_BYTES;"


def capacity(buffer: Buffer) -> tuple[int, ...]:
    """Elements along each axis, rows padded to whole cache lines."""
    sizes = [int(size.value) for size in buffer.shape if isinstance(size, Literal)]
    assert len(sizes) == len(buffer.shape)
    items = LINE_BYTES // ITEM_BYTES[buffer.dtype]
    return (*sizes[:-1], align_up(sizes[-1], items))


def buffer_text(buffer: Buffer) -> str:
    """The declaration of a buffer's memory."""
    total = 1
    for size in capacity(buffer):
        total *= size
    return f"alignas({LINE_BYTES}) {CPP_TYPE[buffer.dtype]} {buffer.name}[{total}];"


def view_place(buffer: Buffer, view: View, scalars: Scalars) -> Place:
    """Where a view of a buffer lies."""
    sizes = capacity(buffer)
    if not view.index:
        return Place(str(buffer.name), str(sizes[1]) if len(sizes) == 2 else "0", "1")
    strides = ["1"] if len(sizes) == 1 else [str(sizes[1]), "1"]
    offset, kept = str(buffer.name), []
    for axis, stride in zip(view.index, strides, strict=True):
        start = axis.start if isinstance(axis, Span) else axis
        if start is not None:
            offset += _times(scalars.text(start), stride)
        if isinstance(axis, Span):
            kept.append(stride)
    return Place(offset, kept[0] if len(kept) == 2 else "0", kept[-1])


def _times(start: str, stride: str) -> str:
    if start == "(int64_t)0":
        return ""
    return f" + {start}" if stride == "1" else f" + {start} * {stride}"


def slice_place(
    param: TensorParam, part: GlobalSlice, scalars: Scalars, *, is_filled: bool
) -> Place:
    """Where a slice of a tensor lies."""
    base, kept = str(param.name), []
    last = len(part.index) - 1
    for number, axis in enumerate(part.index):
        stride = _stride(param.type.dims[number + 1 :], scalars)
        start = axis.start if isinstance(axis, Span) else axis
        assert start is not None
        if not (is_filled and number == last):
            base += _times(scalars.text(start), stride)
        if isinstance(axis, Span):
            step = stride if axis.step == 1 else f"{axis.step} * {stride}"
            kept.append("1" if step == "1" else f"({step.removesuffix(' * 1')})")
    kept = kept or ["1"]
    return Place(base, kept[0] if len(kept) == 2 else "0", kept[-1])


def _stride(dims: tuple[Expr, ...], scalars: Scalars) -> str:
    if not dims:
        return "1"
    return " * ".join(scalars.text(dim) for dim in dims)
