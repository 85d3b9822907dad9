"""Trees of tensors between bytes and PyTorch; runs only inside sandboxed children.

The functions of torch that are used are looked up when this module is imported, which is before
any candidate is: a module that patches `torch.empty` later does not patch this file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import torch

from kernelwright.core.tensor import ITEM_BYTES, Buffer, Opaque, Tensor, Tree

DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in ITEM_BYTES}
NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}

_empty = torch.empty
_empty_strided = torch.empty_strided
_uint8 = torch.uint8
_strided = torch.strided
_copy = torch.Tensor.copy_
_detach = torch.Tensor.detach
_contiguous = torch.Tensor.contiguous
_expand = torch.Tensor.expand
_fill = torch.Tensor.fill_
_as_strided = torch.as_strided
_numpy = torch.Tensor.numpy
_resolve_conj = torch.Tensor.resolve_conj
_resolve_neg = torch.Tensor.resolve_neg
_reshape = torch.Tensor.reshape
_view = torch.Tensor.view
_frombuffer = numpy.frombuffer
_array_equal = numpy.array_equal
_octet = numpy.uint8
_crc32 = zlib.crc32
_LEAF_TYPES = (torch.Tensor, torch.nn.Parameter)


def to_torch(tree: Tree) -> Any:
    """Build fresh, private PyTorch values from a tree; tensors get the strides it asks for."""
    if isinstance(tree, Tensor):
        return _laid_out(tree)
    if isinstance(tree, tuple):
        return tuple(to_torch(item) for item in tree)
    if isinstance(tree, list):
        return [to_torch(item) for item in tree]
    if isinstance(tree, dict):
        return {key: to_torch(item) for key, item in tree.items()}
    if isinstance(tree, Opaque):
        raise ValueError(f"a {tree.type_name} cannot be sent to a module")
    return tree


def from_torch(value: Any) -> Tree:
    """Return the tree of what a module returned, copying every tensor's bytes.

    Only plain dense CPU tensors count as tensors: a subclass, a tensor with attributes or another
    layout could answer one thing to a test and another to its user, so it becomes `Opaque`.
    """
    if isinstance(value, torch.Tensor):
        return _bytes_of(value)
    if isinstance(value, tuple) and _is_plain_tuple(value):
        return tuple(from_torch(item) for item in value)
    if type(value) is list:
        return [from_torch(item) for item in value]
    if type(value) is dict:
        return {str(key): from_torch(item) for key, item in value.items()}
    if value is None or type(value) in (bool, int, float, str):
        scalar: None | bool | int | float | str = value
        return scalar
    return Opaque(_type_name(value))


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield every tensor of a nest of tuples, lists and dicts, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def raw_bytes(tensor: torch.Tensor) -> memoryview:
    """Return a copy-free (if contiguous) row-major view of a tensor's elements as bytes."""
    plain = _contiguous(_resolve_neg(_resolve_conj(_detach(tensor))))
    if plain.numel() == 0:
        return memoryview(b"")
    return _numpy(_view(_reshape(plain, (-1,)), _uint8)).data


def digest(tensor: torch.Tensor) -> int:
    """Return the CRC-32 of a tensor's elements."""
    return _crc32(raw_bytes(tensor))


def is_equal(one: Buffer, other: Buffer) -> bool:
    """Return whether two buffers hold the same bytes."""
    return bool(_array_equal(_frombuffer(one, dtype=_octet), _frombuffer(other, dtype=_octet)))


def refill(tensor: torch.Tensor, source: Tensor) -> bool:
    """Put new content at a tensor's present addresses; return whether it fits there."""
    wanted = source.strides or tuple(_row_major(source.shape))
    fits = (
        NAMES.get(tensor.dtype) == source.dtype
        and tuple(tensor.shape) == source.shape
        and tuple(tensor.stride()) == wanted
        and not _repeats(source)
    )
    if fits:
        _copy(tensor, _from_bytes(source.data, source.dtype, source.shape))
    return fits


def _laid_out(source: Tensor) -> torch.Tensor:
    compact = _from_bytes(source.data, source.dtype, source.shape)
    strides = source.strides
    if strides is None or strides == tuple(_row_major(source.shape)) or compact.numel() == 0:
        return compact
    # An expanded dimension holds one element: the copy must write it once.
    repeated = [stride == 0 and extent > 1 for stride, extent in zip(strides, source.shape)]  # noqa: B905
    narrow = compact[tuple(slice(0, 1) if one else slice(None) for one in repeated)]
    extents = tuple(narrow.shape)
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(extents, strides, strict=True))
    # Gaps between the elements hold garbage: a kernel that ignores strides must not find zeros.
    storage = _fill(_empty((span * ITEM_BYTES[source.dtype],), dtype=_uint8), 0xFF)
    target = _as_strided(_view(storage, DTYPES[source.dtype]), extents, strides)
    _copy(target, narrow)
    return _expand(target, source.shape) if any(repeated) else target


def _from_bytes(data: Buffer, dtype: str, shape: Sequence[int]) -> torch.Tensor:
    result = _empty(tuple(shape), dtype=DTYPES[dtype])
    if result.numel():
        _numpy(_view(_reshape(result, (-1,)), _uint8))[:] = _frombuffer(data, dtype=_octet)
    return result


def _repeats(source: Tensor) -> bool:
    strides = source.strides or ()
    return any(s == 0 and n > 1 for s, n in zip(strides, source.shape, strict=False))


def _row_major(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return strides[::-1]


def _bytes_of(tensor: torch.Tensor) -> Tree:
    if type(tensor) not in _LEAF_TYPES:
        return Opaque(_type_name(tensor))
    if tensor.__dict__:
        return Opaque("torch.Tensor with attributes of its own")
    if tensor.layout is not _strided or tensor.device.type != "cpu":
        return Opaque(f"{tensor.layout} tensor on {tensor.device}")
    if tensor.dtype not in NAMES:
        return Opaque(f"tensor of {tensor.dtype}")
    shape = tuple(int(extent) for extent in tensor.shape)
    strides = None if tensor.is_contiguous() else tuple(int(s) for s in tensor.stride())
    # A copy: the module may still hold the storage and write to it after it has returned.
    return Tensor(NAMES[tensor.dtype], shape, bytes(raw_bytes(tensor)), strides)


def _is_plain_tuple(value: tuple[Any, ...]) -> bool:
    """Whether it is a tuple, a named tuple, or what functions such as `torch.max` return."""
    kind = type(value)
    return kind is tuple or hasattr(value, "_fields") or kind.__module__ == "torch.return_types"


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
