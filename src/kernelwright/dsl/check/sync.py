"""What stands outside regions: requirements and syncs."""

from __future__ import annotations

from kernelwright.dsl.check.bodies import is_core_loop
from kernelwright.dsl.diagnostics import Diagnostic
from kernelwright.dsl.nodes import (
    Apply,
    Binary,
    For,
    If,
    Literal,
    ReadScalar,
    Reduce,
    Ref,
    RefKind,
    Region,
    Require,
    Statement,
    SyncAll,
)
from kernelwright.dsl.tree import loop_operands, subexpressions

SAME_NUMBER = "sync_all: every core must reach it the same number of times"


def outside_findings(
    item: Require | SyncAll, region: Region | None, outer: tuple[Statement, ...]
) -> list[Diagnostic]:
    """Findings of a requirement or sync; at most one.

    Args:
        region: The region around it, if any.
        outer: All statements around it, outermost first.
    """
    said = _sync(region, outer) if isinstance(item, SyncAll) else _require(item, outer)
    return [] if said is None else [Diagnostic(said[0], item.at, said[1], why=said[2])]


def _require(item: Require, outer: tuple[Statement, ...]) -> tuple[str, str, str] | None:
    if outer:
        return (
            "E203",
            "tl.require stands at the top level of the kernel",
            "requirements: the host checks them before launch; in the kernel use if",
        )
    for part in subexpressions(item.condition):
        is_local = isinstance(part, Ref) and part.kind in (RefKind.LOCAL, RefKind.LOOP)
        is_core = isinstance(part, Apply) and part.function == "core_id"
        if is_local or is_core or isinstance(part, Reduce | ReadScalar):
            return (
                "E203",
                "tl.require is about the launch, not about a core's work",
                "requirements: dims, constants and parameters only",
            )
    return None


def _sync(region: Region | None, outer: tuple[Statement, ...]) -> tuple[str, str, str] | None:
    if region is not None:
        return (
            "E202",
            f"tl.sync_all inside tl.{region.kind}",
            "regions hold no synchronisation: put it between them",
        )
    loops = [one for one in outer if isinstance(one, For)]
    if any(is_core_loop(one) for one in loops):
        return (
            "E504",
            "tl.sync_all inside a core loop",
            "sync_all: cores have different shares, even empty ones, so they would wait for each "
            "other a different number of times, for ever",
        )
    if not all(_is_uniform(one) for one in loops):
        what = "tl.sync_all in a loop whose length may differ between cores"
        return "E504", what, SAME_NUMBER
    if any(isinstance(one, If) for one in outer):
        return "E504", "tl.sync_all under an if", SAME_NUMBER
    return None


def _is_uniform(item: For) -> bool:
    """True where every core runs the loop equally often, as its head shows."""
    return all(
        isinstance(part, Literal)
        or (isinstance(part, Ref) and part.kind in (RefKind.DIM, RefKind.CONST, RefKind.PARAM))
        or isinstance(part, Binary)
        or (isinstance(part, Apply) and part.function != "core_id")
        for operand in loop_operands(item.over)
        for part in subexpressions(operand)
    )
