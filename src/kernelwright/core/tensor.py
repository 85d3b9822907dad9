"""Tensors as raw bytes: the only form in which values cross a process boundary.

A *tree* is what a PyTorch function takes or returns: tensors, scalars and None, nested in tuples,
lists and dicts. `encoded` turns a tree into JSON and blobs, `decoded` turns them back and refuses
anything malformed, because the sender may be untrusted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kernelwright.core.fingerprint import Json

Buffer: TypeAlias = bytes | bytearray | memoryview

ITEM_BYTES: Mapping[str, int] = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
    "complex64": 8,
    "complex128": 16,
}
"""Bytes of one element of each dtype that tasks may use, by PyTorch's name without `torch.`."""

DEEPEST = 64
"""Levels of nesting that `decoded` follows: a sender cannot exhaust the receiver's stack."""

MOST_EXTENTS = 64
"""Longest shape: PyTorch and NumPy have no tensors of more dimensions."""

LARGEST_BYTES = 1 << 62
"""Bytes that a shape may stand for, its zeros counted as ones, as NumPy counts them."""


class MalformedTree(ValueError):
    """An encoded tree does not describe the blobs that came with it."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense tensor as bytes.

    Attributes:
        dtype: A key of `ITEM_BYTES`.
        shape: Extents, outermost first; `()` for a scalar tensor.
        data: The elements in row-major order, `size_bytes` long, whatever the strides say.
        strides: Layout in elements that the receiver must give the tensor; None if contiguous.
    """

    dtype: str
    shape: tuple[int, ...]
    data: Buffer
    strides: tuple[int, ...] | None = None

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Length of `data` in bytes."""
        return self.count * ITEM_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is no tensor, scalar or container; only the name of its type is kept."""

    type_name: str


Tree: TypeAlias = (
    "Tensor | Opaque | None | bool | int | float | str"
    " | tuple[Tree, ...] | list[Tree] | dict[str, Tree]"
)


def encoded(tree: Tree) -> tuple[dict[str, Json], list[Buffer]]:
    """Return the JSON skeleton of `tree` and the blobs that its tensors refer to, in order."""
    blobs: list[Buffer] = []
    return _encoded(tree, blobs), blobs


def decoded(skeleton: Json, blobs: Sequence[Buffer]) -> Tree:
    """Rebuild a tree from its skeleton and blobs.

    Raises:
        MalformedTree: if the skeleton is not one that `encoded` makes, or a blob has another
            length than its tensor needs.
    """
    return _decoded(skeleton, blobs, depth=0)


def leaves(tree: Tree, path: str = "output") -> list[tuple[str, Tree]]:
    """Return every leaf of `tree` with its place, written as Python would index it."""
    if isinstance(tree, (tuple, list)):
        return [leaf for i, item in enumerate(tree) for leaf in leaves(item, f"{path}[{i}]")]
    if isinstance(tree, dict):
        return [leaf for key, item in tree.items() for leaf in leaves(item, f"{path}[{key!r}]")]
    return [(path, tree)]


def _encoded(tree: Tree, blobs: list[Buffer]) -> dict[str, Json]:
    if isinstance(tree, Tensor):
        blobs.append(tree.data)
        strides = None if tree.strides is None else list(tree.strides)
        return {
            "kind": "tensor",
            "dtype": tree.dtype,
            "shape": list(tree.shape),
            "strides": strides,
            "blob": len(blobs) - 1,
        }
    if isinstance(tree, (tuple, list)):
        kind = "tuple" if isinstance(tree, tuple) else "list"
        return {"kind": kind, "items": [_encoded(item, blobs) for item in tree]}
    if isinstance(tree, dict):
        items: list[Json] = [_encoded(item, blobs) for item in tree.values()]
        return {"kind": "dict", "keys": list(tree), "items": items}
    if isinstance(tree, Opaque):
        return {"kind": "opaque", "type": tree.type_name}
    return {"kind": "scalar", "type": type(tree).__name__, "value": _scalar_text(tree)}


def _scalar_text(value: None | bool | int | float | str) -> Json:
    # JSON has no NaN and no infinities, and a float must come back bit for bit.
    return value.hex() if isinstance(value, float) else value


def _decoded(skeleton: Json, blobs: Sequence[Buffer], *, depth: int) -> Tree:
    if not isinstance(skeleton, Mapping):
        raise MalformedTree("a node must be an object")
    if depth > DEEPEST:
        raise MalformedTree(f"a tree may be {DEEPEST} levels deep")
    match skeleton.get("kind"):
        case "tensor":
            return _decoded_tensor(skeleton, blobs)
        case "tuple":
            return tuple(_decoded_items(skeleton, blobs, depth=depth))
        case "list":
            return _decoded_items(skeleton, blobs, depth=depth)
        case "dict":
            return _decoded_dict(skeleton, blobs, depth=depth)
        case "opaque":
            return Opaque(_text(skeleton.get("type")))
        case "scalar":
            return _decoded_scalar(skeleton)
        case kind:
            raise MalformedTree(f"unknown node kind {str(kind)[:40]!r}")


def _decoded_items(node: Mapping[str, Json], blobs: Sequence[Buffer], *, depth: int) -> list[Tree]:
    return [_decoded(item, blobs, depth=depth + 1) for item in _sequence(node.get("items"))]


def _decoded_dict(
    node: Mapping[str, Json], blobs: Sequence[Buffer], *, depth: int
) -> dict[str, Tree]:
    keys = [_text(key) for key in _sequence(node.get("keys"))]
    items = _decoded_items(node, blobs, depth=depth)
    if len(keys) != len(items) or len(set(keys)) != len(keys):
        raise MalformedTree("a dict needs as many different keys as items")
    return dict(zip(keys, items, strict=True))


def _decoded_scalar(node: Mapping[str, Json]) -> Tree:
    value = node.get("value")
    match node.get("type"), value:
        case "float", str(text):
            try:
                return float.fromhex(text)
            except (ValueError, OverflowError) as fault:
                raise MalformedTree(f"not a float: {text[:40]!r}") from fault
        case "NoneType", None:
            return None
        case "bool", bool(flag):
            return flag
        case "int", int(number) if not isinstance(number, bool):
            return number
        case "str", str(text):
            return text
    raise MalformedTree(f"scalar of type {node.get('type')!r} does not match its value")


def _decoded_tensor(node: Mapping[str, Json], blobs: Sequence[Buffer]) -> Tensor:
    dtype, index = node.get("dtype"), node.get("blob")
    shape = _integers(node.get("shape"))
    strides = None if node.get("strides") is None else _integers(node.get("strides"))
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        raise MalformedTree(f"unknown dtype {str(dtype)[:40]!r}")
    if type(index) is not int or not 0 <= index < len(blobs):
        raise MalformedTree(f"there is no blob {str(index)[:40]!r}")
    if len(shape) > MOST_EXTENTS or any(extent < 0 for extent in shape):
        raise MalformedTree(f"a shape cannot be {shape[:MOST_EXTENTS]}")
    if math.prod(max(extent, 1) for extent in shape) * ITEM_BYTES[dtype] > LARGEST_BYTES:
        raise MalformedTree("a shape cannot stand for that many bytes")
    if strides is not None and (len(strides) != len(shape) or min(strides, default=0) < 0):
        raise MalformedTree("a tensor needs as many strides as extents, and none below 0")
    tensor = Tensor(dtype, shape, blobs[index], strides)
    if memoryview(tensor.data).nbytes != tensor.size_bytes:
        held = memoryview(tensor.data).nbytes
        raise MalformedTree(f"{dtype}{list(shape)} needs {tensor.size_bytes} bytes, got {held}")
    return tensor


def _sequence(value: Json) -> Sequence[Json]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise MalformedTree("expected a list")
    return value


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise MalformedTree("expected a string")
    return value


def _integers(value: Json) -> tuple[int, ...]:
    numbers = _sequence(value)
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
        raise MalformedTree("expected a list of integers")
    return tuple(int(number) for number in numbers)  # type: ignore[arg-type]
