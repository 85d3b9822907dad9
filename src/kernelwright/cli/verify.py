"""`kernelwright verify`: judge a candidate that somebody already wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cli.console import EXIT_DONE, EXIT_WRONG, emit, say
from kernelwright.cli.options import (
    BackendName,
    JsonFlag,
    MaxBytes,
    MaxFlops,
    ToleranceName,
    amount,
)
from kernelwright.cli.progress import ProgressDisplay
from kernelwright.cli.verdicts import verdict_lines
from kernelwright.core.task import Tolerance
from kernelwright.wiring.options import TaskOptions, VerifyOptions
from kernelwright.wiring.settings import load_settings
from kernelwright.wiring.verifying import verify

EPILOG = """Examples:

  kernelwright verify examples/tasks/softmax.py kernelwright-out/softmax --backend cpu

  kernelwright verify task.py candidate.py --backend cpu --tolerance official --json

The exit status is 0 if every gate passed, 1 if one failed.
"""


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("verify", epilog=EPILOG)(verify_command)


def verify_command(
    task: Annotated[
        Path, typer.Argument(help="KernelBench-format file: Model, get_inputs, get_init_inputs.")
    ],
    candidate: Annotated[
        Path, typer.Argument(help="A folder with the candidate's parts, or one file.")
    ],
    backend: BackendName = "cpu",
    tolerance: ToleranceName = Tolerance.STRICT,
    max_bytes: MaxBytes = None,
    max_flops: MaxFlops = None,
    is_json: JsonFlag = False,
) -> int:
    """Put a candidate through every gate: screen, compile, correctness, latency."""
    options = VerifyOptions(
        task=TaskOptions(
            task,
            max_bytes=amount(max_bytes, option="--max-bytes"),
            max_flops=amount(max_flops, option="--max-flops"),
        ),
        candidate=candidate,
        backend=backend,
        tolerance=tolerance,
    )
    with ProgressDisplay(is_quiet=is_json) as display:
        verdict = verify(options, load_settings(), tell=display)
    if is_json:
        emit(verdict)
    else:
        for line in verdict_lines(verdict):
            say(line)
    return EXIT_DONE if verdict["feasible"] else EXIT_WRONG
