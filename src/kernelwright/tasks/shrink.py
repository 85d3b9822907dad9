"""The rule that makes oversized tasks smaller: `halve-sizes/1`, documented in docs/tasks.md.

While the task needs more than asked for, the biggest size is halved, as long as the model still
runs on shapes alone and needs a tenth less of what there is too much of. An even size gives up one
factor of two; an odd one stays odd, because a file that says 4095 is about sizes that no tile
divides. Where one size cannot be halved by itself, all sizes of the same value are halved together
(two names for one extent). Sizes with structural names, and sizes below 8 that are no batch, are
left alone: they say what is computed, not how much. Where the file says how many groups there are,
no size but the batch goes below two a group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kernelwright.core.task import Shrink
from kernelwright.tasks.sizes import sizes_in, with_sizes

RULE = "halve-sizes/1"
SMALLEST = 8
"""Sizes below this are never halved, unless they count independent rows."""
MOST_STEPS = 400
_ENOUGH = 0.9

_STRUCTURAL = frozenset(
    {
        "kernel", "stride", "strides", "padding", "pad", "dilation", "group", "groups", "head",
        "heads", "nhead", "layer", "layers", "window", "patch", "pool", "seed", "k", "topk", "axis",
        "scale", "factor", "scaling", "bit", "bits", "epoch", "epochs", "step", "steps", "repeat",
        "chunk", "block", "blocks", "stage", "stages", "cluster", "clusters", "eps", "max", "min",
        "rate", "version",
    }
)  # fmt: skip
_BATCH_LIKE = frozenset({"batch", "batch_size", "b", "n", "rows", "bs", "num_rows", "tokens"})
_NOT_STRUCTURAL = frozenset({"max_seq_len", "max_seqlen", "max_len", "max_length", "layer_sizes"})


@dataclass(frozen=True, slots=True)
class Need:
    """What a task takes at certain sizes.

    Attributes:
        size_bytes: Inputs, parameters and live intermediate results together.
        flops: Floating-point operations of one call.
    """

    size_bytes: int
    flops: int

    def exceeds(self, max_bytes: int | None, max_flops: int | None) -> bool:
        """Return whether it is over one of the bounds."""
        return (max_bytes is not None and self.size_bytes > max_bytes) or (
            max_flops is not None and self.flops > max_flops
        )


@dataclass(frozen=True, slots=True)
class _Search:
    """What stays the same from step to step, and which choices do not run."""

    source: str
    measure: Callable[[str], Need | None]
    bounds: tuple[int | None, int | None]
    least: int
    stuck: set[tuple[str, ...]] = field(default_factory=set)

    def is_free(self, name: str, value: int) -> bool:
        """Return whether a size may be halved."""
        return value >= (2 if is_batch_like(name) else self.least) and not is_structural(name)

    def choices(self, current: dict[str, int]) -> Iterator[tuple[str, ...]]:
        """Yield what to halve: the biggest size first, then sizes of one value together."""
        by_value: dict[int, list[str]] = {}
        for name, value in current.items():
            if self.is_free(name, value):
                by_value.setdefault(value, []).append(name)
        for value in sorted(by_value, reverse=True):
            for name in by_value[value]:
                yield (name,)
            if len(by_value[value]) > 1:
                yield tuple(by_value[value])


def is_structural(name: str) -> bool:
    """Return whether a size's name says that it shapes the operator rather than its data."""
    stem = name.partition("[")[0].lower()
    if stem in _NOT_STRUCTURAL or stem.removeprefix("hidden_") in _NOT_STRUCTURAL:
        return False
    words = re.split(r"_|(?<=\D)(?=\d)", stem)
    return any(word in _STRUCTURAL for word in words)


def halved(value: int) -> int:
    """Return half of a size, rounded up to an odd number if it is odd."""
    return value // 2 if value % 2 == 0 else value // 2 | 1


def is_batch_like(name: str) -> bool:
    """Return whether a size's name says that rows are independent along it."""
    return name.lower() in _BATCH_LIKE


def shrunk(
    source: str,
    need: Need,
    measure: Callable[[str], Need | None],
    *,
    max_bytes: int | None,
    max_flops: int | None,
) -> tuple[str, Need, Shrink | None]:
    """Return the source within the bounds, or as near as the rule gets.

    Args:
        source: The task file.
        need: What it takes as it is.
        measure: What a rewritten source takes, None if it does not run any more.
        max_bytes: Bound on inputs, parameters and live intermediate results together.
        max_flops: Bound on floating-point operations of one call.

    Returns:
        The source, what it takes, and which sizes were rewritten (None if none was).
    """
    original = {size.name: size.value for size in sizes_in(source)}
    search = _Search(source, measure, (max_bytes, max_flops), _least(original))
    current = {name: value for name, value in original.items() if search.is_free(name, value)}
    text = source
    for _ in range(MOST_STEPS):
        if not need.exceeds(max_bytes, max_flops):
            break
        step = _step(search, current, need)
        if step is None:
            break
        text, need, current = step
    changed = tuple(
        (name, value, current[name])
        for name, value in original.items()
        if current.get(name, value) != value
    )
    if not changed:
        return source, need, None
    return text, need, Shrink(RULE, changed, max_bytes=max_bytes, max_flops=max_flops)


def lessens(found: Need, need: Need, bounds: tuple[int | None, int | None]) -> bool:
    """Return whether a step brings something that is over its bound down by a tenth or more.

    Where parameters alone are over the bound, a batch of one would change nothing but the task.
    """
    pairs = ((found.size_bytes, need.size_bytes), (found.flops, need.flops))
    return any(
        bound is not None and was > bound and now <= _ENOUGH * was
        for (now, was), bound in zip(pairs, bounds, strict=True)
    )


def _step(
    search: _Search, current: dict[str, int], need: Need
) -> tuple[str, Need, dict[str, int]] | None:
    for names in search.choices(current):
        if names in search.stuck:
            continue
        smaller = {**current, **{name: halved(current[name]) for name in names}}
        text = with_sizes(search.source, smaller)
        found = search.measure(text)
        if found is None:
            search.stuck.add(names)
        elif lessens(found, need, search.bounds):
            return text, found, smaller
    return None


def _least(sizes: dict[str, int]) -> int:
    """Return the smallest size to halve: a group of one channel would normalise to zero."""
    groups = [value for name, value in sizes.items() if "groups" in name.lower().split("_")]
    return max([SMALLEST, *(4 * value for value in groups)])
