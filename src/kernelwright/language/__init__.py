"""What a kernel program imports: `import kernelwright.language as tl`.

A program is parsed from its source text; kernels are never executed by Python. Importing a program
file as a module therefore gives handles: a `Kernel` to launch through its host functions, and
`HostFunction`s, which are called with arrays and run on the interpreter.

>>> import kernelwright.language as tl
>>> tl.cdiv(10, 4)
3
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any, NoReturn

from kernelwright.core.errors import UnknownName, UsageMistake
from kernelwright.dsl.builtins import BUILTINS
from kernelwright.language.handles import HostFunction, Kernel, host_of, kernel_of

__all__ = [
    "HostFunction",
    "Kernel",
    "cdiv",
    "const",
    "f32",
    "host",
    "i64",
    "inf",
    "inline",
    "kernel",
]

inf = math.inf
"""Infinity, for fills."""


class const:  # noqa: N801
    """Annotation of a compile-time parameter."""


class i64:  # noqa: N801
    """Annotation of a run-time integer parameter."""


class f32:  # noqa: N801
    """Annotation of a run-time float parameter."""


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark an on-chip program that every core runs."""
    return kernel_of(function)


def host(function: Callable[..., Any]) -> HostFunction:
    """Mark a host function: shapes, schedule holes and launches."""
    return host_of(function)


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function whose calls are replaced by its body."""
    return function


def cdiv(a: int, b: int) -> int:
    """Quotient rounded up."""
    return -(-a // b)


def align_up(a: int, b: int) -> int:
    """First multiple of b that is at least a."""
    return cdiv(a, b) * b


def align_down(a: int, b: int) -> int:
    """Last multiple of b that is at most a."""
    return a // b * b


def __getattr__(name: str) -> Callable[..., Any]:
    """Give numbers their `min`, `max` and `abs`; anything else exists in programs only.

    Raises:
        UnknownName: if the language has no such name.
    """
    if name in ("min", "max", "abs"):
        function: Callable[..., Any] = getattr(builtins, name)
        return function
    if name in ("sqrt", "exp", "log"):
        return {"sqrt": math.sqrt, "exp": math.exp, "log": math.log}[name]
    if name not in BUILTINS and name not in _ON_CHIP:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnknownName(
            f"the language has no tl.{name}", fix="`kernelwright dsl explain E100` lists its names"
        )

    def only_in_programs(*_: object, **__: object) -> NoReturn:
        raise UsageMistake(
            f"tl.{name} was called by Python: kernels and host functions are parsed, not executed",
            fix="call the host function with arrays, or use `kernelwright dsl run FILE`",
        )

    return only_in_programs


_ON_CHIP = frozenset({
    "ub", "l1", "l0a", "l0b", "l0c", "copyin", "compute", "copyout", "core_range", "core_tiles",
    "tiles", "static_range", "require", "sync_all", "core_id", "num_cores", "load_scalar", "empty",
    "view", "workspace", "param", "check", "ub_bytes",
})  # fmt: skip
