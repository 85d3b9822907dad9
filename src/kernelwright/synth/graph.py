"""The traced reference as data: what the tracing child sent, checked, because it ran task code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import ITEM_BYTES

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PATH = re.compile(r"[A-Za-z_]\w*(\.\w+)*\Z", re.ASCII)
_OPERATOR = re.compile(r"[A-Za-z_][\w.]*\Z", re.ASCII)
_LARGEST = 1 << 48


class MalformedGraph(ValueError):
    """The tracing child sent something that is no graph."""


class Source(StrEnum):
    """Where a placeholder's value comes from."""

    INPUT = "input"
    SCALAR = "scalar"
    """A float argument of `forward`, traced as a tensor without axes."""
    PARAMETER = "parameter"
    BUFFER = "buffer"


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of an earlier node or placeholder."""

    name: str


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype given as an argument, by PyTorch's name without `torch.`."""

    name: str


@dataclass(frozen=True, slots=True)
class Other:
    """An argument that no operator here understands, as text."""

    text: str


Argument: TypeAlias = "Ref | Dtype | Other | None | bool | int | float | str | tuple[Argument, ...]"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A tensor (or scalar) that the reference is given.

    Attributes:
        name: Name in the graph.
        source: What it is to the module.
        key: Index of the argument, or the dotted path of a parameter or buffer.
        dtype: PyTorch's name without `torch.`.
        shape: Extents in the task's own inputs.
    """

    name: str
    source: Source
    key: int | str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """One ATen operator (`aten.mul.Tensor`), size arithmetic (`size.mul`) or constant.

    Attributes:
        name: Name in the graph.
        op: The operator.
        args: Positional arguments.
        kwargs: Keyword arguments.
        dtype: Dtype of a tensor, `size` of a number, `none` of several values.
        shape: Extents of a tensor, else None.
        value: The number, for sizes.
    """

    name: str
    op: str
    args: tuple[Argument, ...]
    kwargs: Mapping[str, Argument]
    dtype: str
    shape: tuple[int, ...] | None
    value: int | float | None = None

    def __str__(self) -> str:
        shape = "" if self.shape is None else f" -> {self.dtype}{list(self.shape)}"
        return f"node {self.name!r}, {self.op}{shape}"


@dataclass(frozen=True, slots=True)
class Structure:
    """What `forward` returns: one tensor, or a tuple, list or dict of such.

    Attributes:
        kind: `tensor`, `tuple`, `list` or `dict`.
        ref: The value of a tensor.
        items: Parts of a container.
        keys: Keys of a dict.
    """

    kind: str
    ref: str = ""
    items: tuple[Structure, ...] = ()
    keys: tuple[str, ...] = ()

    def refs(self) -> tuple[str, ...]:
        """Return the names of all tensors, in order."""
        if self.kind == "tensor":
            return (self.ref,)
        return tuple(ref for item in self.items for ref in item.refs())


@dataclass(frozen=True, slots=True)
class Graph:
    """A traced reference.

    Attributes:
        placeholders: Parameters and buffers first, then inputs, in order.
        baked: (index, value) of arguments that are numbers or None and became constants.
        arguments: How many positional arguments `forward` was given.
        nodes: Nodes in an order in which they can run.
        output: What is returned.
    """

    placeholders: tuple[Placeholder, ...]
    baked: tuple[tuple[int, Argument], ...]
    arguments: int
    nodes: tuple[Node, ...]
    output: Structure


def graph_from_json(data: Json) -> Graph:
    """Check and read a graph.

    Raises:
        MalformedGraph: if it is not what `trace_host` sends.
    """
    graph = _object(data)
    placeholders = tuple(_placeholder(item) for item in _items(graph.get("placeholders")))
    nodes = tuple(_node(item) for item in _items(graph.get("nodes")))
    names = [p.name for p in placeholders] + [n.name for n in nodes]
    if len(set(names)) != len(names):
        raise MalformedGraph("two nodes have one name")
    output = _structure(graph.get("output"))
    if not set(output.refs()) <= set(names):
        raise MalformedGraph("the output is no node")
    baked = tuple(
        (_integer(_object(b).get("index")), _argument(_object(b).get("value")))
        for b in _items(graph.get("baked"))
    )
    return Graph(placeholders, baked, _integer(graph.get("arguments")), nodes, output)


def _placeholder(data: Json) -> Placeholder:
    entry = _object(data)
    key = entry.get("key")
    if not isinstance(key, int) and not (isinstance(key, str) and _PATH.match(key)):
        raise MalformedGraph(f"no place of a value: {key!r}")
    if entry.get("role") not in set(Source):
        raise MalformedGraph(f"no role: {entry.get('role')!r}")
    shape = tuple(_integer(extent) for extent in _items(entry.get("shape")))
    source = Source(str(entry["role"]))
    return Placeholder(_name(entry), source, key, _dtype(entry.get("dtype")), shape)


def _node(data: Json) -> Node:
    entry = _object(data)
    op, dtype, shape = str(entry.get("op")), entry.get("dtype"), entry.get("shape")
    if not _OPERATOR.match(op):
        raise MalformedGraph(f"no operator: {op[:40]!r}")
    value = entry.get("value")
    return Node(
        name=_name(entry),
        op=op,
        args=tuple(_argument(item) for item in _items(entry.get("args"))),
        kwargs={str(k): _argument(v) for k, v in _object(entry.get("kwargs")).items()},
        dtype=dtype if dtype in {"size", "none"} else _dtype(dtype),
        shape=None if shape is None else tuple(_integer(extent) for extent in _items(shape)),
        value=value if isinstance(value, (int, float)) else None,
    )


def _argument(data: Json) -> Argument:
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    if isinstance(data, Mapping):
        return _tagged(data)
    return tuple(_argument(item) for item in data)


def _tagged(data: Mapping[str, Json]) -> Argument:
    tag, value = next(iter(data.items()), ("", None))
    if tag == "ref" and isinstance(value, str) and _NAME.match(value):
        return Ref(value)
    if tag == "dtype" and isinstance(value, str):
        return Dtype(value)
    if tag == "float" and value in {"inf", "-inf", "nan"}:
        return float(str(value))
    return Other(str(value)[:80])


def _structure(data: Json) -> Structure:
    entry = _object(data)
    if isinstance(entry.get("ref"), str):
        return Structure("tensor", ref=str(entry["ref"]))
    items = tuple(_structure(item) for item in _items(entry.get("items")))
    kind = entry.get("kind")
    if kind in {"tuple", "list"}:
        return Structure(str(kind), items=items)
    keys = tuple(str(key) for key in _items(entry.get("keys")))
    if kind == "dict" and len(keys) == len(items):
        return Structure("dict", items=items, keys=keys)
    raise MalformedGraph("no output")


def _object(data: Json) -> Mapping[str, Json]:
    if not isinstance(data, Mapping):
        raise MalformedGraph("expected an object")
    return data


def _items(data: Json) -> Sequence[Json]:
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise MalformedGraph("expected a list")
    return data


def _integer(data: Json) -> int:
    if not isinstance(data, int) or isinstance(data, bool) or not 0 <= data <= _LARGEST:
        raise MalformedGraph(f"no size: {data!r}")
    return data


def _name(entry: Mapping[str, Json]) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not _NAME.match(name):
        raise MalformedGraph(f"no name: {name!r}")
    return name


def _dtype(data: Json) -> str:
    if not isinstance(data, str) or data not in ITEM_BYTES:
        raise MalformedGraph(f"no dtype: {data!r}")
    return data
