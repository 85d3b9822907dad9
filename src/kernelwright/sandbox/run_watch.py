"""Watches one call of a module: poisons fresh memory, records operators and kernel calls.

Poison has two parts. A dispatch mode fills what the allocating operators of PyTorch return, with a
value of the tensor's own type; glibc's M_PERTURB fills what the kernel itself takes from malloc.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernelwright.core.execution import Poison

_ALLOCATING = frozenset(
    f"aten::{name}"
    for name in ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
)
_M_PERTURB = -6
# malloc fills with the complement of the low byte, and 0 would switch the filling off.
_PERTURB = {Poison.NAN: 0x100, Poison.PLAUSIBLE: 0xFF ^ 0x3F}
_PLAUSIBLE = 0.747
_MOST_NAMES = 4096

_fill = torch.Tensor.fill_
_finfo, _iinfo = torch.finfo, torch.iinfo


class RunWatch(TorchDispatchMode):
    """Poisons and records while it is entered.

    Attributes:
        dispatched: Names of the operators that ran, such as `aten::empty`, without repetition.
        kernel_calls: Names of the functions of `kernel_ops` that were called, in order.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Nothing is compiled here, and keeping the compiler out would first import all of it.
        return False

    def __init__(
        self, *, poison: Poison | None, is_traced: bool, is_without_kernels: bool = False
    ) -> None:
        super().__init__()
        self.dispatched: dict[str, None] = {}
        self.kernel_calls: list[str] = []
        self._poison = poison
        self._is_traced = is_traced
        self._is_without_kernels = is_without_kernels

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operator, note its name and fill what it allocated."""
        name = func._schema.name
        result = func(*args, **(kwargs or {}))
        if self._is_traced and len(self.dispatched) < _MOST_NAMES:
            self.dispatched[name] = None
        if self._poison is not None and name in _ALLOCATING:
            _poisoned(result, self._poison)
        return result

    def __enter__(self) -> RunWatch:
        """Start watching."""
        if self._is_without_kernels:
            self._observe(_skipped)
        else:
            self._observe(self.kernel_calls.append if self._is_traced else None)
        if self._poison is not None:
            _mallopt(_PERTURB[self._poison])
        super().__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop watching, whatever happened."""
        super().__exit__(kind, error, trace)
        if self._poison is not None:
            _mallopt(0)
        self._observe(None)

    def _observe(self, observer: Any) -> None:
        # The generated shim tells its observer of every call; a module without one has none.
        shim = sys.modules.get("kernel_ops")
        if shim is not None:
            vars(shim)["_observer"] = observer


@contextmanager
def watched(
    *, poison: Poison | None, is_traced: bool, is_without_kernels: bool = False
) -> Iterator[RunWatch]:
    """Watch the block if there is anything to watch for; timing must not pay for it.

    `is_without_kernels` has the calls of `kernel_ops` do nothing.
    """
    watch = RunWatch(poison=poison, is_traced=is_traced, is_without_kernels=is_without_kernels)
    if poison is None and not is_traced and not is_without_kernels:
        yield watch
        return
    with watch:
        yield watch


def _skipped(name: str) -> bool:
    del name
    return True


def _poisoned(tensor: torch.Tensor, poison: Poison) -> None:
    if tensor.numel() == 0:
        return
    dtype, is_nan = tensor.dtype, poison is Poison.NAN
    if dtype.is_floating_point or dtype.is_complex:
        _fill(tensor, float("nan") if is_nan else _PLAUSIBLE)
    elif dtype is torch.bool:
        _fill(tensor, True)
    else:
        _fill(tensor, _iinfo(dtype).max if is_nan else 1)


def _mallopt(value: int) -> None:
    if _MALLOPT is not None:
        _MALLOPT(_M_PERTURB, value)


def _mallopt_of_libc() -> Any:
    # musl and macOS have no mallopt: there only what PyTorch allocates is poisoned.
    return getattr(ctypes.CDLL(None), "mallopt", None)


_MALLOPT = _mallopt_of_libc()
