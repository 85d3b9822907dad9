"""The arguments of a module in its process: what became of them, and new content for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kernelwright.core.tensor import Tensor, Tree, leaves
from kernelwright.sandbox.torch_tree import is_equal, raw_bytes, refill


def mutated_in(
    args: Tree, before: Sequence[tuple[torch.Tensor, tuple[int, ...], tuple[int, ...]]]
) -> list[int]:
    """Return the indices of the arguments whose tensors differ from what was sent, bit by bit."""
    given = args if isinstance(args, tuple) else (args,)
    sent = [
        (index, leaf)
        for index, arg in enumerate(given)
        for _, leaf in leaves(arg)
        if isinstance(leaf, Tensor)
    ]
    changed: dict[int, None] = {}
    for (index, source), (tensor, shape, strides) in zip(sent, before, strict=True):
        is_same = (
            tuple(tensor.shape) == shape
            and tensor.stride() == strides
            and is_equal(raw_bytes(tensor), source.data)
        )
        if not is_same:
            changed[index] = None
    return list(changed)


def is_refilled(kept: tuple[Any, ...], tree: Tree) -> bool:
    """Put the content of `tree` at the addresses of `kept`; return whether all of it fitted."""
    sources = [leaf for _, leaf in leaves(tree)]
    values: list[Any] = [leaf for _, leaf in leaves(kept)]
    if len(sources) != len(values):
        return False
    for source, value in zip(sources, values, strict=True):
        if isinstance(source, Tensor) != isinstance(value, torch.Tensor):
            return False
        if isinstance(source, Tensor):
            if not refill(value, source):
                return False
        elif source != value or type(source) is not type(value):
            return False
    return True
