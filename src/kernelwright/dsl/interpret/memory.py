"""Memory of the interpreter: every element knows whether it was written, and by which core."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.dsl.interpret.element import NUMPY, Array, poison_of
from kernelwright.dsl.types import DType

Key = tuple[Any, ...]
"""A NumPy index of basic indices: it gives a view."""

NOBODY = -1
MANY = -2
ATOMIC = -3


@dataclass(slots=True)
class Storage:
    """Global memory of one tensor, flat.

    Attributes:
        data: The elements.
        undefined: True where nothing was written.
        made: Lines that passed undefined data on into this tensor, oldest first.
        writer: Core that wrote an element since the last sync, or NOBODY, or ATOMIC.
        reader: Core that read it since then, or NOBODY, or MANY.
    """

    dtype: DType
    data: Array
    undefined: NDArray[np.bool_]
    writer: NDArray[np.int16]
    reader: NDArray[np.int16]
    made: tuple[int, ...] = ()

    def forget_cores(self) -> None:
        """A sync: all cores see what any of them wrote."""
        self.writer.fill(NOBODY)
        self.reader.fill(NOBODY)


def storage_of(dtype: DType, data: Array, *, is_defined: bool) -> Storage:
    """Storage with `data` (flat) in it."""
    size = data.size
    return Storage(
        dtype,
        data,
        np.full(size, not is_defined),
        np.full(size, NOBODY, np.int16),
        np.full(size, NOBODY, np.int16),
    )


@dataclass(frozen=True, slots=True)
class GlobalTensor:
    """A tensor in global memory: storage under a shape."""

    storage: Storage
    shape: tuple[int, ...]

    def reshape(self, *shape: Any) -> GlobalTensor:
        """The same elements under another shape."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        assert math.prod(sizes) == math.prod(self.shape)
        return GlobalTensor(self.storage, tuple(int(size) for size in sizes))

    def data(self, key: Key) -> Array:
        """The elements of a slice, as a view."""
        return np.asarray(self.storage.data.reshape(self.shape)[key])

    def undefined(self, key: Key) -> NDArray[np.bool_]:
        """Where the slice was never written, as a view."""
        view: NDArray[np.bool_] = self.storage.undefined.reshape(self.shape)[key]
        return view

    def writer(self, key: Key) -> NDArray[np.int16]:
        """Who wrote the slice, as a view."""
        view: NDArray[np.int16] = self.storage.writer.reshape(self.shape)[key]
        return view

    def reader(self, key: Key) -> NDArray[np.int16]:
        """Who read the slice, as a view."""
        view: NDArray[np.int16] = self.storage.reader.reshape(self.shape)[key]
        return view

    def array(self) -> Array:
        """A copy of the elements in the tensor's shape."""
        return self.storage.data.reshape(self.shape).copy()


def new_tensor(dtype: DType, shape: tuple[int, ...], *, is_zero: bool) -> GlobalTensor:
    """A tensor of zeros, or one whose content is not defined."""
    value = NUMPY[dtype].type(0) if is_zero else poison_of(dtype)
    data = np.full(math.prod(shape), value, NUMPY[dtype])
    return GlobalTensor(storage_of(dtype, data, is_defined=is_zero), shape)


def given_tensor(dtype: DType, array: Array, *, is_defined: bool) -> GlobalTensor:
    """A tensor with a copy of `array`.

    Raises:
        TypeError: if the array's element type does not hold `dtype`.
    """
    wants = NUMPY[dtype]
    held = array.view(np.uint8) if array.dtype == np.bool_ else array
    if held.dtype != wants:
        raise TypeError(f"a tensor of {dtype} is given as {wants}, not {array.dtype}")
    data = held.ravel().copy()
    if not is_defined:
        data.fill(poison_of(dtype))
    return GlobalTensor(storage_of(dtype, data, is_defined=is_defined), tuple(array.shape))


@dataclass(slots=True)
class ChipBuffer:
    """One core's buffer.

    Attributes:
        data: The elements, the whole capacity; poison outside the valid extent.
        undefined: True where an element came from undefined memory.
        extent: Valid elements along each axis; zeros before the first write.
        made: Lines that made and passed on the undefined elements, oldest first.
    """

    dtype: DType
    data: Array
    undefined: NDArray[np.bool_]
    extent: tuple[int, ...]
    made: tuple[int, ...] = field(default=())

    def reset(self) -> None:
        """Poison all of it: what a new tile of a queue or a new kernel finds."""
        self.data.fill(poison_of(self.dtype))
        self.undefined.fill(True)
        self.extent = (0,) * self.data.ndim
        self.made = ()


def new_buffer(dtype: DType, shape: tuple[int, ...]) -> ChipBuffer:
    """A poisoned buffer of a capacity."""
    data = np.empty(shape, NUMPY[dtype])
    buffer = ChipBuffer(dtype, data, np.empty(shape, np.bool_), (0,) * len(shape))
    buffer.reset()
    return buffer
