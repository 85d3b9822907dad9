"""Bodies of a kernel: what belongs to one iteration or branch."""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.dsl.nodes import Block, CoreRange, For, If, Region, Statement, Tiles, statements


def is_core_loop(item: For) -> bool:
    """True for tl.core_range and tl.core_tiles."""
    return isinstance(item.over, CoreRange) or (
        isinstance(item.over, Tiles) and item.over.is_per_core
    )


def same_body(block: Block) -> Iterator[Statement]:
    """Statements of one body: regions are transparent, loops and branches are not."""
    for item in block:
        if isinstance(item, Region):
            yield from same_body(item.body)
        else:
            yield item


def inside(item: Statement) -> Iterator[Statement]:
    """All statements in the blocks of one, in program order."""
    match item:
        case For(body=body) | Region(body=body):
            yield from statements(body)
        case If(then=then, orelse=orelse):
            yield from statements(then)
            yield from statements(orelse)
