"""Inputs that no kernel has seen: fresh content for every timed round, cheap to make.

A kernel that keeps results can only gain if content comes back. New draws of the task's own
inputs would need its process each time, so a round takes one of a few draws and multiplies its
floating-point tensors by a factor just below one: every byte changes, while zeros, signs, order,
sparsity and ranges such as [0, 1] stay what the reference expects.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import numpy as np

from kernelwright.core.execution import Call
from kernelwright.core.ports import Oracle
from kernelwright.core.tensor import Tensor, Tree, leaves
from kernelwright.verify.arrays import COMPLEX_DTYPES, EXACT_DTYPES, narrowed, stored, widened
from kernelwright.verify.plan import official_workload
from kernelwright.verify.scale import PIECE

_LOWEST = 0.9


class FreshInputs:
    """Draws argument sets for one constructed module; no two sets hold the same bytes.

    Args:
        oracle: Draws the task's own inputs.
        draws: Calls whose arguments are the material; the first one's state is what both
            modules hold.
        source: Secret choices.
    """

    def __init__(self, oracle: Oracle, draws: Sequence[Call], source: random.Random) -> None:
        self._oracle = oracle
        self._draws = tuple(draws)
        self._source = source
        self._is_scalable = any(
            isinstance(leaf, Tensor) and leaf.dtype not in EXACT_DTYPES
            for _, leaf in leaves(self._draws[0].args)
        )

    @property
    def set_bytes(self) -> int:
        """Bytes of one argument set."""
        return tree_bytes(self._draws[0].args)

    def draw(self) -> tuple[Tree, ...]:
        """Return an argument set that was never used before."""
        if not self._is_scalable:
            # Scaling would break indices and masks; the task draws new ones.
            workload = official_workload(self._source)
            return self._oracle.call(workload).args
        draw = self._draws[self._source.randrange(len(self._draws))]
        factor = self._source.uniform(_LOWEST, 1.0)
        return tuple(scaled(arg, factor) for arg in draw.args)


def scaled(tree: Tree, factor: float) -> Tree:
    """Return `tree` with every floating-point tensor multiplied by `factor`."""
    if isinstance(tree, Tensor):
        return tree if tree.dtype in EXACT_DTYPES else _scaled_tensor(tree, factor)
    if isinstance(tree, tuple):
        return tuple(scaled(item, factor) for item in tree)
    if isinstance(tree, list):
        return [scaled(item, factor) for item in tree]
    if isinstance(tree, dict):
        return {key: scaled(item, factor) for key, item in tree.items()}
    return tree


def tree_bytes(tree: Tree) -> int:
    """Return the bytes of all tensors in a tree."""
    return sum(leaf.size_bytes for _, leaf in leaves(tree) if isinstance(leaf, Tensor))


def _scaled_tensor(tensor: Tensor, factor: float) -> Tensor:
    numbers = stored(tensor)
    if numbers.dtype == np.float32 and tensor.dtype not in COMPLEX_DTYPES:
        return dataclasses.replace(tensor, data=(numbers * np.float32(factor)).tobytes())
    result = np.empty_like(numbers)
    for start in range(0, numbers.size, PIECE):
        part = slice(start, start + PIECE)
        result[part] = narrowed(widened(numbers[part], tensor.dtype) * factor, tensor.dtype)
    return dataclasses.replace(tensor, data=result.tobytes())
