"""Loads and stores of the interpreter: ranges checked, cores logged, bytes counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernelwright.dsl.interpret.memory import ATOMIC, MANY, NOBODY, GlobalTensor, Key
from kernelwright.dsl.nodes import GlobalSlice, Load, ReadScalar, Span, Store
from kernelwright.dsl.types import DType

if TYPE_CHECKING:
    from kernelwright.dsl.interpret.core import Core


def load(core: Core, node: Load) -> None:
    """Global memory to a buffer."""
    tensor, starts = core.tensors[node.source.tensor], _ends(core, node.source)
    shape = tuple(
        -(-(stop - start) // step)
        for (start, stop, step), axis in zip(starts, node.source.index, strict=True)
        if isinstance(axis, Span)
    )
    if node.fill is None:
        key = _checked_key(core, node.source, tensor, starts)
        values, lost = tensor.data(key).reshape(shape), tensor.undefined(key).reshape(shape)
        _log_read(core, node.source, tensor, key)
    else:
        values, lost = _filled(core, node, tensor, starts, shape)
    made = (*tensor.storage.made, node.at.line) if lost.any() else ()
    core.write(node.dest, values, lost, made)
    core.counters.loaded_bytes += values.size * tensor.storage.dtype.item_bytes
    core.counters.copies += 1


def _filled(
    core: Core, node: Load, tensor: GlobalTensor, ends: list[Any], shape: tuple[int, ...]
) -> tuple[Any, Any]:
    assert node.fill is not None
    start, stop, step = ends[-1]
    places = np.arange(start, stop, step)
    inside = (places >= 0) & (places < tensor.shape[-1])
    values = np.full(shape, core.value(node.fill)).astype(tensor.storage.data.dtype)
    lost = np.zeros(shape, np.bool_)
    if inside.any():
        first, last = int(places[inside][0]), int(places[inside][-1])
        key = _checked_key(core, node.source, tensor, [*ends[:-1], (first, last + 1, step)])
        kept = (*shape[:-1], int(inside.sum()))
        values[..., inside] = tensor.data(key).reshape(kept)
        lost[..., inside] = tensor.undefined(key).reshape(kept)
        _log_read(core, node.source, tensor, key)
    else:
        _checked_key(core, node.source, tensor, [*ends[:-1], (0, 1, 1)])
    return values, lost


def store(core: Core, node: Store) -> None:
    """A buffer to global memory, or added to it."""
    tensor = core.tensors[node.target.tensor]
    key = _checked_key(core, node.target, tensor, _ends(core, node.target))
    buffer, place, sizes = core.place(node.source)
    target = tensor.data(key)
    if target.shape != sizes:
        core.fail("E306", "extents differ", f"{sizes} stored to {target.shape}")
    lost = buffer.undefined[place]
    if node.is_atomic_add and tensor.undefined(key).any():
        core.fail("E801", "added to undefined data", "", tensor.storage.made)
    if lost.any():
        count = int(lost.sum())
        lines = tuple(dict.fromkeys((*buffer.made, node.at.line)))
        core.fail("E801", "undefined data is stored", f"{count} of {lost.size} elements", lines)
    _log_write(core, node, tensor, key)
    if node.is_atomic_add:
        target += buffer.data[place]
    else:
        target[...] = buffer.data[place]
    tensor.undefined(key)[...] = False
    core.counters.stored_bytes += target.size * tensor.storage.dtype.item_bytes
    core.counters.copies += 1


def read_element(core: Core, node: ReadScalar) -> Any:
    """One element of a tensor as a scalar."""
    tensor = core.tensors[node.source.tensor]
    key = _checked_key(core, node.source, tensor, _ends(core, node.source))
    if tensor.undefined(key).any():
        core.fail("E801", "undefined data becomes a scalar", "", tensor.storage.made)
    _log_read(core, node.source, tensor, key)
    value = tensor.data(key).item()
    return np.float32(value) if node.type is DType.F32 else int(value)


def _ends(core: Core, part: GlobalSlice) -> list[tuple[int, int, int]]:
    """Start, stop and step along each axis."""
    ends = []
    for axis in part.index:
        if isinstance(axis, Span):
            assert axis.start is not None
            assert axis.stop is not None
            ends.append((core.value(axis.start), core.value(axis.stop), axis.step))
        else:
            place = core.value(axis)
            ends.append((place, place + 1, 1))
    return ends


def _checked_key(
    core: Core, part: GlobalSlice, tensor: GlobalTensor, ends: list[tuple[int, int, int]]
) -> Key:
    key: list[Any] = []
    for axis, (start, stop, step), size in zip(part.index, ends, tensor.shape, strict=True):
        if not 0 <= start < stop <= size:
            core.fail("E802", f"{part.tensor.text} is left", f"{start}:{stop} of 0:{size}")
        key.append(slice(start, stop, step) if isinstance(axis, Span) else slice(start, stop))
    for place in reversed(range(len(key))):
        if not isinstance(part.index[place], Span):
            key[place] = ends[place][0]
    if not any(isinstance(item, slice) for item in key):
        key[-1] = slice(key[-1], key[-1] + 1)  # an array, not a copy of one number
    return tuple(key)


def _log_read(core: Core, part: GlobalSlice, tensor: GlobalTensor, key: Key) -> None:
    writer = tensor.writer(key)
    foreign = (writer != NOBODY) & (writer != core.number)
    if foreign.any():
        other = int(writer[foreign].ravel()[0])
        who = "several cores" if other == ATOMIC else f"core {other}"
        core.fail("E803", f"{part.tensor.text} is read where {who} wrote it, without a sync")
    reader = tensor.reader(key)
    reader[...] = np.where((reader == NOBODY) | (reader == core.number), core.number, MANY)


def _log_write(core: Core, node: Store, tensor: GlobalTensor, key: Key) -> None:
    writer, reader = tensor.writer(key), tensor.reader(key)
    name = node.target.tensor.text
    allowed = ATOMIC if node.is_atomic_add else core.number
    foreign = (writer != NOBODY) & (writer != allowed)
    if foreign.any():
        other = int(writer[foreign].ravel()[0])
        who = "atomically" if other == ATOMIC else f"by core {other}"
        core.fail("E803", f"{name} is written by this core and {who}, without a sync")
    if ((reader != NOBODY) & (reader != core.number)).any():
        core.fail("E803", f"{name} is written where another core read it, without a sync")
    writer[...] = allowed
