"""Heads of loops and regions, from Python's syntax tree to nodes."""

from __future__ import annotations

import ast

from kernelwright.dsl.nodes import (
    CoreRange,
    Iteration,
    Literal,
    Range,
    Region,
    RegionKind,
    StaticRange,
    Tiles,
)
from kernelwright.dsl.parse.call import CallParser
from kernelwright.dsl.parse.reporter import tl_name
from kernelwright.dsl.types import DType, Name

REGIONS = {kind.value: kind for kind in RegionKind}


def loop_names(calls: CallParser, node: ast.For, count: int, loop: str) -> list[str]:
    elements = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    names = [item.id for item in elements if isinstance(item, ast.Name)]
    if len(names) != count or len(elements) != count or len(set(names)) != count:
        wants = "two names, offset and length" if count == 2 else "one name"
        raise calls.reject(
            "E103",
            node.target,
            f"{loop} gives {wants}",
            why="loops: for i, n in tl.tiles(N, TILE): n is the length of the tile at i",
        )
    for item in names:
        if item in calls.scope.symbols:
            raise calls.reject(
                "E104",
                node.target,
                f"{item} already names something else",
                why="names: a loop variable is a new name",
            )
    return names


def iteration(calls: CallParser, call: ast.Call, loop: str, names: list[str]) -> Iteration:
    counts = {"range": (1, 2), "core_range": (1, 1), "static_range": (1, 1)}.get(loop, (2, 2))
    keywords = {word.arg: word.value for word in call.keywords}
    allowed = {"reverse"} if loop == "tiles" else set()
    if not counts[0] <= len(call.args) <= counts[1] or not set(keywords) <= allowed:
        raise calls.reject(
            "E103",
            call,
            f"{loop} takes {counts[1]} operand{'s' if counts[1] > 1 else ''}",
            numbers=f"{len(call.args)} given, keywords "
            f"{', '.join(str(k) for k in keywords) or 'none'}",
        )
    args = [calls.integer(arg, f"an operand of {loop}") for arg in call.args]
    first, *rest = (Name(item) for item in names)
    if loop == "core_range":
        return CoreRange(first, args[0])
    if loop == "static_range":
        return StaticRange(first, args[0])
    if loop == "range":
        start = args[0] if len(args) == 2 else Literal(0, DType.I64)
        return Range(first, start, args[-1])
    flag = keywords.get("reverse")
    if flag is not None and not (isinstance(flag, ast.Constant) and isinstance(flag.value, bool)):
        raise calls.reject("E103", flag, "reverse= is True or False")
    is_reversed = isinstance(flag, ast.Constant) and flag.value is True
    return Tiles(first, rest[0], args[0], args[1], loop == "core_tiles", is_reversed)


def region_head(calls: CallParser, node: ast.With) -> Region:
    call = node.items[0].context_expr
    name = tl_name(call.func) if isinstance(call, ast.Call) else None
    if len(node.items) != 1 or name not in REGIONS or node.items[0].optional_vars is not None:
        raise calls.reject("E100", call, "with opens tl.copyin(), tl.compute() or tl.copyout()")
    assert isinstance(call, ast.Call)
    labels = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    if (
        call.keywords
        or len(call.args) > 1
        or len(labels) != len(call.args)
        or not all(isinstance(label, str) and label.isidentifier() for label in labels)
    ):
        raise calls.reject("E103", call, "a region takes at most one name, a string")
    label = str(labels[0]) if labels else None
    at = calls.at(call)
    return Region(REGIONS[name], (), label, at)
