"""Counts what one call of a module does: operations, live bytes, reductions, random draws."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from kernelwright.sandbox.torch_tree import tensors_in
from kernelwright.tasks.inside.reduction import reduction_length

_FREE = frozenset(
    {
        "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "zeros", "ones",
        "zeros_like", "ones_like", "full", "full_like", "new_zeros", "new_ones", "new_full",
        "arange", "scalar_tensor", "eye", "copy", "clone", "_to_copy", "cat", "stack", "index",
        "index_select", "gather", "scatter", "slice_scatter", "select_scatter", "constant_pad_nd",
        "lift_fresh", "detach", "_unsafe_view", "repeat", "roll", "flip", "embedding", "fill",
        "zero", "index_put", "masked_fill", "tril", "triu",
    }
)  # fmt: skip
"""Operators that only place data: no floating-point operations are counted for them."""


class Census(TorchDispatchMode):
    """Counts while it is entered; works on the meta device and on real tensors.

    Attributes:
        flops: Matrix products, convolutions and attention by formula; one operation an element of
            the larger of operand and result for everything else that computes.
        peak_bytes: Most bytes that were live at once in storage that operators made.
        reduction_length: Longest reduction of any operator.
        is_random: Whether an operator drew from PyTorch's generator.
    """

    def __init__(self, known: Iterable[torch.Tensor] = ()) -> None:
        super().__init__()
        self.flops = 0
        self.peak_bytes = 0
        self.reduction_length = 1
        self.is_random = False
        self._live_bytes = 0
        self._known = {tensor.untyped_storage()._cdata for tensor in known}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operator and add it to the counts."""
        result = func(*args, **(kwargs or {}))
        if func.is_view:
            return result
        self.count(func, args, kwargs or {}, result)
        return result

    def count(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Add one operator that has run."""
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.is_random = True
        self.reduction_length = max(self.reduction_length, reduction_length(func, args, result))
        formula = flop_registry.get(func._overloadpacket)
        if formula is not None:
            self.flops += int(formula(*args, **kwargs, out_val=result))
        elif func._schema.name.partition("::")[2].rstrip("_") not in _FREE:
            self.flops += max((t.numel() for t in tensors_in([args, result])), default=0)
        for tensor in tensors_in(result):
            self._follow(tensor)

    def _follow(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._known:
            return
        size_bytes = storage.nbytes()
        self._known.add(key)
        self._live_bytes += size_bytes
        self.peak_bytes = max(self.peak_bytes, self._live_bytes)
        weakref.finalize(storage, self._forget, key, size_bytes)

    def _forget(self, key: int, size_bytes: int) -> None:
        self._known.discard(key)
        self._live_bytes -= size_bytes
