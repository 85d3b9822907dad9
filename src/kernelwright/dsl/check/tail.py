"""The fix for the commonest difference of extents: a full accumulator and the shorter last tile."""

from __future__ import annotations

import re

from kernelwright.dsl.check.context import Context
from kernelwright.dsl.diagnostics import Edit
from kernelwright.dsl.nodes import Op, View
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.prove.polynomial import Polynomial


def tail_fix(
    context: Context, node: Op, views: list[View], sizes: list[tuple[Polynomial, ...]]
) -> tuple[Edit, ...]:
    """Edits that slice the larger of two whole buffers of rank 1 to the smaller's extent.

    Args:
        views: The two operands that differ.
        sizes: Their extents.
    """
    if any(view.index for view in views) or any(len(size) != 1 for size in sizes):
        return ()
    for larger, smaller in ((0, 1), (1, 0)):
        most, least = sizes[larger][0], sizes[smaller][0]
        count = context.values.expression(least)
        if count is None or not context.prover.proves(most - least):
            continue
        name = views[larger].buffer.text
        text = context.source.cut(node.at)
        sliced = re.sub(
            rf"\b{re.escape(name)}\b(?!\[)", f"{name}[0:{expression_text(count)}]", text
        )
        return context.source.replace(node.at, sliced) if text else ()
    return ()
