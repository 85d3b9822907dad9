"""Chooses an edge shape: sizes that no tile divides, at which the model still runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kernelwright.tasks.shrink import SMALLEST, Need, is_batch_like, is_structural
from kernelwright.tasks.sizes import Size, sizes_in, with_sizes

_FEW = 3
_MOST_EXTENT = 1021
_MOST_GROWTH = 1.25


def edge_sizes(
    source: str, need: Need, measure: Callable[[str], Need | None]
) -> tuple[tuple[str, int], ...]:
    """Return the sizes to rewrite for an edge shape, empty where the task allows none.

    The first choice makes the batch tiny and the last other size odd; then the last size alone,
    then each other size alone, from the last to the first. The first that runs wins.

    Args:
        source: The task file.
        need: What it takes as it is; an edge shape takes no more than that.
        measure: What a rewritten source takes, None if it does not run.
    """
    free = [s for s in sizes_in(source) if s.value >= SMALLEST and not is_structural(s.name)]
    for choice in _choices(free):
        found = measure(with_sizes(source, dict(choice)))
        if found is None or found == need:
            continue
        if found.size_bytes <= _MOST_GROWTH * need.size_bytes:
            return tuple(choice)
    return ()


def awkward(value: int) -> int:
    """Return an odd size near `value`, never above 1021, that no power of two divides."""
    near = min(value - 1, _MOST_EXTENT)
    return near if near % 2 else near - 1


def _choices(free: list[Size]) -> Iterator[list[tuple[str, int]]]:
    batch = [size for size in free if is_batch_like(size.name)]
    rest = [size for size in free if not is_batch_like(size.name)]
    few = [(size.name, _FEW) for size in batch[:1]]
    for size in reversed(rest):
        yield [*few, (size.name, awkward(size.value))]
    if few:
        yield few
    for size in reversed(rest):
        yield [(size.name, awkward(size.value))]
    for size in batch:
        yield [(size.name, awkward(size.value))]
