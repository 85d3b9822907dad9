"""Inputs that no kernel has seen: fresh content for every timed round, cheap to make.

A kernel that keeps results can only gain if content comes back. New draws of the task's own
inputs would need its process each time, so a round takes one of a few draws and bends its
floating-point tensors a little: small numbers shrink by more than large ones. Every byte changes,
while zeros, signs, order, sparsity and ranges such as [0, 1] stay what the reference expects. A
plain factor would not do: a normalisation answers the same to it.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernelwright.core.execution import Call
from kernelwright.core.ports import Oracle
from kernelwright.core.tensor import Tensor, Tree, leaves
from kernelwright.verify.arrays import (
    COMPLEX_DTYPES,
    EXACT_DTYPES,
    Floats,
    narrowed,
    stored,
    widened,
)
from kernelwright.verify.plan import official_workload
from kernelwright.verify.scale import PIECE

_LOWEST = 0.9
_BENT = (0.02, 0.2)


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
        bend = self._source.uniform(*_BENT)
        return tuple(bent(arg, factor, bend) for arg in draw.args)


def bent(tree: Tree, factor: float, bend: float) -> Tree:
    """Return `tree` with every floating-point tensor made smaller.

    The largest numbers of a tensor are multiplied by `factor`, those near zero by
    `factor * (1 - bend)`, the others by something in between.
    """
    if isinstance(tree, Tensor):
        return tree if tree.dtype in EXACT_DTYPES else _bent_tensor(tree, factor, bend)
    if isinstance(tree, tuple):
        return tuple(bent(item, factor, bend) for item in tree)
    if isinstance(tree, list):
        return [bent(item, factor, bend) for item in tree]
    if isinstance(tree, dict):
        return {key: bent(item, factor, bend) for key, item in tree.items()}
    return tree


def tree_bytes(tree: Tree) -> int:
    """Return the bytes of all tensors in a tree."""
    return sum(leaf.size_bytes for _, leaf in leaves(tree) if isinstance(leaf, Tensor))


def _bent_tensor(tensor: Tensor, factor: float, bend: float) -> Tensor:
    numbers = stored(tensor)
    is_single = numbers.dtype == np.float32 and tensor.dtype not in COMPLEX_DTYPES
    result = np.empty_like(numbers)
    parts = [slice(start, start + PIECE) for start in range(0, numbers.size, PIECE)]
    if is_single:
        top = max((_largest(numbers[part]) for part in parts), default=0.0)
    else:
        top = max((_largest(widened(numbers[part], tensor.dtype)) for part in parts), default=0.0)
    low = factor * (1.0 - bend)
    slope = factor * bend / top if top > 0 else 0.0
    for part in parts:
        with np.errstate(over="ignore", invalid="ignore"):
            if is_single:
                share = np.abs(numbers[part])
                share *= np.float32(slope)
                share += np.float32(low)
                np.multiply(numbers[part], share, out=result[part])
            else:
                wide = widened(numbers[part], tensor.dtype)
                result[part] = narrowed(wide * (low + slope * np.abs(wide)), tensor.dtype)
    return dataclasses.replace(tensor, data=result.tobytes())


def _largest(numbers: Floats | NDArray[np.float32]) -> float:
    """Return the largest finite magnitude, 0 if there is none."""
    if numbers.size == 0:
        return 0.0
    with np.errstate(invalid="ignore"):
        top = float(max(numbers.max(), -numbers.min()))
    if np.isfinite(top):
        return top
    finite = numbers[np.isfinite(numbers)]
    return float(np.abs(finite).max()) if finite.size else 0.0
