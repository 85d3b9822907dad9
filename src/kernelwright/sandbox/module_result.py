"""What a call of a module returned: is it the kernels' work, and does it stay what it was?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from kernelwright.core.execution import Poison
from kernelwright.core.tensor import Tensor, Tree, leaves
from kernelwright.core.verdict import Category
from kernelwright.sandbox.module_fault import ModuleFault
from kernelwright.sandbox.run_watch import watched
from kernelwright.sandbox.torch_tree import from_torch, to_torch

EARLIER_BYTES = 256 << 20
"""Largest result that is held, to see whether the next call writes to it."""

_no_grad = torch.no_grad


@dataclass(slots=True)
class EarlierResult:
    """The result of the last call, held as a caller may hold it.

    Callers hold results of several calls; a module that returns one buffer again and again gives
    them all the last answer.
    """

    held: tuple[Any, Tree] | None = None

    def check(self, result: Any, outputs: Tree) -> None:
        """Hold the result of this call instead, given with its copy.

        Raises:
            ModuleFault: if this call wrote to what the last one returned.
        """
        earlier, self.held = self.held, None
        if earlier is not None and from_torch(earlier[0]) != earlier[1]:
            raise ModuleFault(
                Category.HACK,
                "the output of an earlier call changed when forward was called again: return"
                " fresh memory from every call",
            )
        size = sum(leaf.size_bytes for _, leaf in leaves(outputs) if isinstance(leaf, Tensor))
        if size <= EARLIER_BYTES:
            self.held = (result, outputs)

    def forget(self) -> None:
        """Hold nothing any more."""
        self.held = None


def is_same_without_kernels(
    module: torch.nn.Module, args: Tree, outputs: Tree, poison: Poison | None
) -> bool:
    """Return whether a call returns the same where the module's kernels do not run.

    Then the kernels are called, but what is returned is made by something else.
    """
    try:
        with _no_grad(), watched(poison=poison, is_traced=False, is_without_kernels=True):
            result = module(*to_torch(args))
        return from_torch(result) == outputs
    except Exception:  # noqa: BLE001 - the kernels are needed even to get through
        return False
