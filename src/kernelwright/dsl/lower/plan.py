"""The shape of generated code: loops and branches around groups of statements that share a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kernelwright.dsl.nodes import Assign, Expr, Iteration, Load, Op, Statement, Store
from kernelwright.dsl.types import Position


@dataclass(frozen=True, slots=True)
class Group:
    """Statements that run element by element in one loop, in their order for each element.

    Attributes:
        extent: Elements along each axis, rank 1 or 2.
        members: Loads, stores, elementwise operations, and assignments: of a reduction (made in
            the loop) or of other scalars (made after it, in order).
    """

    extent: tuple[Expr, ...]
    members: tuple[Load | Store | Op | Assign, ...]


@dataclass(frozen=True, slots=True)
class Single:
    """A statement of its own: a scalar, a sync, or an operation that is not elementwise."""

    statement: Statement


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that is kept."""

    over: Iteration
    body: Plan
    at: Position


@dataclass(frozen=True, slots=True)
class Branch:
    """An if."""

    condition: Expr
    then: Plan
    orelse: Plan
    at: Position


Item: TypeAlias = Group | Single | Loop | Branch
Plan: TypeAlias = tuple[Item, ...]
