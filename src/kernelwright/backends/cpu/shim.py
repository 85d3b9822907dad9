"""Generates the one way from a candidate's `model.py` to its compiled kernels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernelwright.backends.cpu.declarations import POINTER_DTYPES, SCALARS, Kernel, Parameter

RUNTIME = Path(__file__).parent / "runtime"
_SIGNATURES = "_SIGNATURES: dict[str, list[tuple[str, str, str, list[str]]]] = {}"


def shim_source(kernels: Sequence[Kernel]) -> str:
    """Return the text of `kernel_ops.py` for these kernels; it loads `kernel.so` beside it."""
    return filled("kernel_ops.py", {_SIGNATURES: f"_SIGNATURES = {_signatures(kernels)}"})


def shim_lines(kernels: Sequence[Kernel]) -> str:
    """Return the part of the shim that an exported `model.py` carries."""
    return between(shim_source(kernels), "# begin shim", "# end shim")


def filled(name: str, slots: Mapping[str, str]) -> str:
    """Return a file of `runtime/` with each of its slots replaced."""
    text = (RUNTIME / name).read_text(encoding="utf-8")
    for slot, content in slots.items():
        if slot not in text:
            raise ValueError(f"{name} has no slot {slot!r}")
        text = text.replace(slot, content)
    return text


def between(text: str, start: str, end: str) -> str:
    """Return the lines after the one that starts with `start`, up to the one with `end`."""
    _, _, rest = text.partition(start)
    return rest.partition("\n")[2].partition(end)[0].strip("\n")


def _signatures(kernels: Sequence[Kernel]) -> str:
    lines = [f"    {json.dumps(kernel.name)}: [{_rows(kernel)}\n    ]," for kernel in kernels]
    return "\n".join(["{", *lines, "}"])


def _rows(kernel: Kernel) -> str:
    return "".join(f"\n        {_row(parameter)}," for parameter in kernel.parameters)


def _row(parameter: Parameter) -> str:
    kind = "pointer" if parameter.is_pointer else SCALARS[parameter.ctype]
    dtypes = list(POINTER_DTYPES.get(parameter.ctype, ())) if parameter.is_pointer else []
    fields = (kind, parameter.name, parameter.ctype, dtypes)
    return f"({', '.join(json.dumps(field) for field in fields)})"
