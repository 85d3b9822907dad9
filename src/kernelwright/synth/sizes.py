"""Where `forward` finds the extent of every axis: in the shapes of what it is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelwright.core.errors import NotCovered
from kernelwright.synth.axes import Dim, Shape
from kernelwright.synth.canonical import Canonical
from kernelwright.synth.graph import Placeholder, Source
from kernelwright.synth.nest import size_name


@dataclass(frozen=True, slots=True)
class Size:
    """The extent of one axis.

    Attributes:
        axis: The prime axis.
        text: Python expression that gives it; it may use sizes before it.
    """

    axis: int
    text: str


def sizes_of(canonical: Canonical, used: Iterable[str], wanted: Sequence[int]) -> tuple[Size, ...]:
    """Return the extents of the wanted axes, in an order in which they can be computed.

    Raises:
        NotCovered: if the shapes do not determine an axis.
    """
    names = set(used)
    given = [p for p in canonical.placeholders.values() if p.source is not Source.SCALAR]
    given.sort(key=lambda p: (p.name not in names, p.source is not Source.INPUT))
    found: dict[int, str] = {}
    dims = [
        (f"{holder(p)}.shape[{place}]", canonical.axes.primes(dim))
        for p in given
        for place, dim in enumerate(canonical.shapes[p.name])
    ]
    for text, dim in dims:
        if len(dim) == 1:
            found.setdefault(dim[0], text)
    for axis, extent in sorted(canonical.axes.literals.items()):
        prime = canonical.axes.primes((axis,))
        if len(prime) == 1:
            found.setdefault(prime[0], str(extent))
    for text, dim in dims * len(dims):
        unknown = [axis for axis in dim if axis not in found]
        if len(unknown) == 1:
            known = [size_name(axis) for axis in dim if axis in found]
            found[unknown[0]] = f"{text} // ({' * '.join(known)})" if known else text
    missing = [axis for axis in wanted if axis not in found]
    if missing:
        raise NotCovered(
            "the shapes of the inputs do not determine every size",
            fix="avoid views with computed extents in the reference",
        )
    return tuple(Size(axis, text) for axis, text in found.items())


def holder(placeholder: Placeholder) -> str:
    """Return the Python variable that holds a placeholder's tensor before it is checked."""
    return placeholder.name.removesuffix("_in") + "_given"


def shape_text(canonical: Canonical, shape: Shape) -> str:
    """Return a shape as a Python tuple of sizes."""
    extents = [_extent(canonical.axes.primes(dim)) for dim in shape]
    return f"({', '.join(extents)}{',' if len(extents) == 1 else ''})"


def _extent(dim: Dim) -> str:
    return " * ".join(size_name(axis) for axis in dim) or "1"
