"""The candidate's compiled kernels as Python functions: checks arguments, then calls C.

`kernel_ops.NAME(*args)` calls `extern "C" void NAME(...)`: a tensor becomes its data pointer, a
number what the parameter's C type says. It never allocates, converts or computes.
"""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Callable, Sequence
from typing import Any

import torch

# begin shim: an exported model.py carries these lines
_SIGNATURES: dict[str, list[tuple[str, str, str, list[str]]]] = {}
_CTYPES: dict[str, Any] = {
    "pointer": ctypes.c_void_p,
    "int64": ctypes.c_int64,
    "int32": ctypes.c_int32,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "bool": ctypes.c_bool,
}
_observer: Callable[[str], object] | None = None


def _pointer(value: Any, place: str, allowed: frozenset[torch.dtype], ctype: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{place} must be a tensor ({ctype}*), got {type(value).__name__}")
    if value.device.type != "cpu":
        raise TypeError(f"{place} is on {value.device}: this kernel runs on the CPU")
    if not value.is_contiguous():
        raise ValueError(f"{place} is not contiguous: call .contiguous()")
    if allowed and value.dtype not in allowed:
        raise TypeError(f"{place} has dtype {value.dtype}, but the kernel declares {ctype}*")
    return value.data_ptr()


def _number(value: Any, place: str, kind: str, ctype: str) -> int | float:
    if isinstance(value, torch.Tensor):
        raise TypeError(f"{place} is a number ({ctype}), got a tensor")
    try:
        number = float(value) if kind in ("double", "float") else operator.index(value)
    except (TypeError, ValueError):
        raise TypeError(f"{place} must be {ctype}, got {type(value).__name__}") from None
    if kind == "int32" and not -(2**31) <= number < 2**32:
        raise OverflowError(f"{place} is {number}, too large for {ctype}: declare it int64_t")
    return number


def _kernel(
    library: ctypes.CDLL, name: str, signature: Sequence[tuple[str, str, str, list[str]]]
) -> Callable[..., None]:
    function = getattr(library, name)
    function.restype = None
    function.argtypes = [_CTYPES[kind] for kind, _, _, _ in signature]
    rows = [
        (
            kind,
            f"argument {index + 1} of {name} ({parameter})",
            ctype,
            frozenset(getattr(torch, dtype) for dtype in dtypes),
        )
        for index, (kind, parameter, ctype, dtypes) in enumerate(signature)
    ]

    def call(*args: Any) -> None:
        if len(args) != len(rows):
            raise TypeError(f"{name} takes {len(rows)} arguments, got {len(args)}")
        passed = [
            _pointer(value, place, allowed, ctype)
            if kind == "pointer"
            else _number(value, place, kind, ctype)
            for value, (kind, place, ctype, allowed) in zip(args, rows, strict=True)
        ]
        # An observer may say that the call shall do nothing.
        if _observer is not None and _observer(name) is True:
            return
        function(*passed)

    call.__name__ = call.__qualname__ = name
    return call


# end shim
_LIBRARY = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel.so"))
for _name, _signature in _SIGNATURES.items():
    globals()[_name] = _kernel(_LIBRARY, _name, _signature)
