"""Options that several commands share, so that they mean and read the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.core.errors import UsageMistake
from kernelwright.core.task import Tolerance

JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else.")
]
BackendName = Annotated[
    str, typer.Option("--backend", "-b", help="Backend to build and run on.", metavar="NAME")
]
ToleranceName = Annotated[
    Tolerance,
    typer.Option(
        "--tolerance",
        help="Rule by which outputs agree: strict (relative to the output's scale), official "
        "(KernelBench's) or evokernel (1e-2).",
    ),
]
StorePath = Annotated[
    Path | None,
    typer.Option(
        "--store",
        envvar="KERNELWRIGHT_STORE",
        help="Database of rollouts and memory; by default in the user's data folder.",
        metavar="PATH",
    ),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        help="Shrink the task until inputs, parameters and activations fit (64MB, 1GiB, ...).",
        metavar="SIZE",
    ),
]
MaxFlops = Annotated[
    str | None,
    typer.Option(
        "--max-flops",
        help="Shrink the task until one call needs no more operations (2e9, 500M, ...).",
        metavar="COUNT",
    ),
]

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


def amount(text: str | None, *, option: str) -> int | None:
    """Return a size or count such as `64MB`, `1GiB`, `2e9` or `500M` as a number.

    Raises:
        UsageMistake: if the text is no positive amount.
    """
    if text is None:
        return None
    match = re.fullmatch(
        r"\s*(\d+(?:\.\d*)?(?:[eE][+]?\d+)?)\s*([kmgt]i?)?b?\s*", text, re.IGNORECASE
    )
    number = float(match[1]) * _UNITS[(match[2] or "").lower()] if match else 0.0
    if not 1 <= number < 2**62:
        raise UsageMistake(
            f"{option} cannot be {text!r}", fix=f"write an amount such as {option} 64MB or 2e9"
        )
    return int(number)
