"""Axes: extents with an identity, so that equal sizes are never confused and views are exact.

Every extent of every placeholder starts as an axis of its own (extents of 1 are none). Operators
that combine tensors make axes the same; a view that splits an extent makes it two axes. What is
left at the end are the *prime* axes of the task: the loops a kernel can have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Dim: TypeAlias = tuple[int, ...]
"""One extent of a tensor: the axes it consists of, outermost first; empty for an extent of 1."""
Shape: TypeAlias = tuple[Dim, ...]


class AxesDiffer(Exception):
    """Two extents cannot be the same, or a view does not fall on axis boundaries."""


@dataclass(slots=True)
class Axes:
    """The axes of one task, and what became of them.

    Attributes:
        extents: Extent of each axis in the task's own inputs.
        literals: Axes whose extent is a number written in the reference (8 groups).
    """

    extents: list[int] = field(default_factory=list)
    literals: dict[int, int] = field(default_factory=dict)
    _became: dict[int, Dim] = field(default_factory=dict)

    def fresh(self, extent: int) -> Dim:
        """Return a new axis, or no axis for an extent of 1."""
        if extent == 1:
            return ()
        self.extents.append(extent)
        return (len(self.extents) - 1,)

    def primes(self, dim: Iterable[int]) -> Dim:
        """Return the prime axes that an extent consists of by now."""
        found: list[int] = []
        for axis in dim:
            found.extend(self.primes(self._became[axis]) if axis in self._became else (axis,))
        return tuple(found)

    def extent(self, dim: Iterable[int]) -> int:
        """Return the extent in the task's own inputs."""
        return math.prod(self.extents[axis] for axis in self.primes(dim))

    def unify(self, left: Dim, right: Dim) -> None:
        """Make two extents one.

        Raises:
            AxesDiffer: if they are not equal in the task's own inputs.
        """
        a, b = list(self.primes(left)), list(self.primes(right))
        if self.extent(a) != self.extent(b):
            raise AxesDiffer(f"extents {self.extent(a)} and {self.extent(b)} meet")
        while a and b:
            if a[0] == b[0]:
                a, b = a[1:], b[1:]
                continue
            small, large = sorted((a, b), key=lambda side: self.extents[side[0]])
            ratio, rest = divmod(self.extents[large[0]], self.extents[small[0]])
            if rest:
                raise AxesDiffer(f"{self.extent(a)} and {self.extent(b)} are cut differently")
            tail = self.fresh(ratio)
            self._become(large[0], (small[0], *tail))
            a, b = list(self.primes(a)), list(self.primes(b))

    def _become(self, axis: int, dim: Dim) -> None:
        literal = self.literals.pop(axis, None)
        if literal is not None and len(dim) == 1:
            self.literals.setdefault(dim[0], literal)
        self._became[axis] = dim

    def broadcast(self, shapes: Sequence[Shape]) -> Shape:
        """Return the common shape of operands, making axes that meet the same."""
        rank = max(map(len, shapes), default=0)
        result: list[Dim] = []
        for place in range(rank):
            common: Dim = ()
            for shape in shapes:
                index = place - rank + len(shape)
                dim = shape[index] if index >= 0 else ()
                if dim and common:
                    self.unify(common, dim)
                common = common or dim
            result.append(common)
        return tuple(result)

    def view(self, shape: Shape, extents: Sequence[int], literal: Sequence[bool]) -> Shape:
        """Return `shape` seen with other extents; `literal` says which are written as numbers.

        Raises:
            AxesDiffer: if an extent does not fall on axis boundaries.
        """
        rest = list(self.primes(axis for dim in shape for axis in dim))
        result: list[Dim] = []
        for extent, is_literal in zip(extents, literal, strict=True):
            taken, need = [], extent
            while need > 1:
                if not rest:
                    raise AxesDiffer(f"an extent of {extent} is left over in a view")
                if need % self.extents[rest[0]] == 0:
                    need //= self.extents[rest[0]]
                    taken.append(rest.pop(0))
                    continue
                head = self._cut(rest.pop(0), need, is_literal and not taken)
                taken.append(head[0])
                rest[:0] = head[1:]
                need = 1
            result.append(tuple(taken))
        return tuple(result)

    def _cut(self, axis: int, need: int, is_literal: bool) -> Dim:
        ratio, rest = divmod(self.extents[axis], need)
        if rest:
            raise AxesDiffer(f"an extent of {self.extents[axis]} is cut at {need}")
        head, tail = self.fresh(need), self.fresh(ratio)
        if is_literal:
            self.literals[head[0]] = need
        self._become(axis, (*head, *tail))
        return (*head, *tail)
