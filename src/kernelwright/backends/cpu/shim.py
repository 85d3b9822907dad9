"""Generates `kernel_ops.py`, the one way from a candidate's `model.py` to its compiled kernels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kernelwright.backends.cpu.declarations import POINTER_DTYPES, SCALARS, Kernel, Parameter

RUNTIME = Path(__file__).parent / "runtime"
_SLOT = (
    "_SIGNATURES: dict[str, list[tuple[str, str, str, list[str]]]] = {}  # replaced when generated"
)


def shim_source(kernels: Sequence[Kernel]) -> str:
    """Return the text of `kernel_ops.py` for these kernels; it loads `kernel.so` beside it."""
    template = (RUNTIME / "kernel_ops.py").read_text(encoding="utf-8")
    return template.replace(_SLOT, f"_SIGNATURES = {signatures_text(kernels)}")


def signatures_text(kernels: Sequence[Kernel]) -> str:
    """Return the signatures as a Python literal, one kernel a line."""
    lines = [
        f"    {json.dumps(kernel.name)}: ["
        + ", ".join(_row(parameter) for parameter in kernel.parameters)
        + "],"
        for kernel in kernels
    ]
    return "\n".join(["{", *lines, "}"])


def _row(parameter: Parameter) -> str:
    kind = "pointer" if parameter.is_pointer else SCALARS[parameter.ctype]
    dtypes = list(POINTER_DTYPES.get(parameter.ctype, ())) if parameter.is_pointer else []
    fields = (kind, parameter.name, parameter.ctype, dtypes)
    return f"({', '.join(json.dumps(field) for field in fields)})"
