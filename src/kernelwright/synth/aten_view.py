"""ATen operators that only look at elements differently: shapes change, axes stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kernelwright.core.errors import NotCovered
from kernelwright.synth.axes import Dim
from kernelwright.synth.expr import Expr, Exprs
from kernelwright.synth.graph import Node

Rule = Callable[..., Expr]


def _view(make: Exprs, node: Node, x: Expr, *_: object, **__: object) -> Expr:
    extents = _shape(node)
    written = node.args[1] if len(node.args) > 1 else ()
    given = written if isinstance(written, tuple) and len(written) == len(extents) else ()
    literal = [isinstance(extent, int) and extent > 0 for extent in given] or [False] * len(extents)
    return make.viewed(x, make.axes.view(x.shape, extents, literal))


def _flat(make: Exprs, node: Node, x: Expr, *_: object, **__: object) -> Expr:
    return make.viewed(x, make.axes.view(x.shape, _shape(node), [False] * len(_shape(node))))


def _unsqueeze(make: Exprs, node: Node, x: Expr, dim: int) -> Expr:
    place = dim % (len(x.shape) + 1)
    return make.viewed(x, (*x.shape[:place], (), *x.shape[place:]))


def _squeeze(make: Exprs, node: Node, x: Expr, dims: int | Sequence[int] | None = None) -> Expr:
    listed = range(len(x.shape)) if dims is None else (dims,) if isinstance(dims, int) else dims
    gone = {dim % len(x.shape) for dim in listed} if x.shape else set()
    return make.viewed(
        x, tuple(dim for place, dim in enumerate(x.shape) if dim or place not in gone)
    )


def _expand(make: Exprs, node: Node, x: Expr, *_: object, **__: object) -> Expr:
    extents = _shape(node)
    missing = len(extents) - len(x.shape)
    shape: list[Dim] = []
    for place, extent in enumerate(extents):
        own = x.shape[place - missing] if place >= missing else ()
        shape.append(own or make.axes.fresh(extent))
    return make.viewed(x, tuple(shape))


def _repeat(make: Exprs, node: Node, x: Expr, *_: object, **__: object) -> Expr:
    extents = _shape(node)
    missing = len(extents) - len(x.shape)
    shape: list[Dim] = []
    for place, extent in enumerate(extents):
        own = x.shape[place - missing] if place >= missing else ()
        times = extent // max(make.axes.extent(own), 1)
        shape.append((*make.axes.fresh(times), *own))
    return make.viewed(x, tuple(shape))


def _permute(make: Exprs, node: Node, x: Expr, dims: Sequence[int]) -> Expr:
    return make.viewed(x, tuple(x.shape[dim] for dim in dims))


def _transpose(make: Exprs, node: Node, x: Expr, first: int, second: int) -> Expr:
    shape = list(x.shape)
    shape[first], shape[second] = shape[second], shape[first]
    return make.viewed(x, tuple(shape))


def _t(make: Exprs, node: Node, x: Expr) -> Expr:
    return make.viewed(x, x.shape[::-1])


def _shape(node: Node) -> tuple[int, ...]:
    if node.shape is None:
        raise NotCovered("a view that is no tensor", fix="return one tensor from it")
    return node.shape


VIEW_RULES: Mapping[str, Rule] = {
    "view": _view,
    "reshape": _view,
    "_unsafe_view": _view,
    "_reshape_alias": _flat,
    "flatten": _flat,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "expand": _expand,
    "repeat": _repeat,
    "permute": _permute,
    "transpose": _transpose,
    "t": _t,
}
"""ATen operator without its overload, to the function that expresses it."""
