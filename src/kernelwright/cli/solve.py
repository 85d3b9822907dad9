"""`kernelwright solve`: from a reference operator to the best kernel a budget can buy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cli.console import EXIT_DONE, EXIT_WRONG, emit, note, say
from kernelwright.cli.options import (
    BackendName,
    JsonFlag,
    MaxBytes,
    MaxFlops,
    StorePath,
    ToleranceName,
    amount,
)
from kernelwright.cli.progress import ProgressDisplay
from kernelwright.cli.verdicts import verdict_lines
from kernelwright.core.budget import Budget
from kernelwright.core.task import Tolerance
from kernelwright.wiring.options import SolveOptions, TaskOptions
from kernelwright.wiring.settings import load_settings
from kernelwright.wiring.solving import Solved, solve

EPILOG = """Examples:

  kernelwright solve examples/tasks/softmax.py --backend cpu --budget 12

  kernelwright solve KernelBench/level1/40_LayerNorm.py --max-bytes 64MB --budget 20 --json

Run the same command again to go on after an interrupt, with a larger --budget to continue, with
--fresh to start anew.
"""


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("solve", epilog=EPILOG)(solve_command)


def solve_command(  # noqa: PLR0913 - one parameter an option; typer reads the signature
    task: Annotated[
        Path, typer.Argument(help="KernelBench-format file: Model, get_inputs, get_init_inputs.")
    ],
    backend: BackendName = "cpu",
    budget: Annotated[
        int, typer.Option(help="Rollouts, drafts and refinements together.", min=1)
    ] = 12,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after this many seconds of work.", min=0.0)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where kernel, model.py and reports go.  [default: kernelwright-out/<task>/]",
            metavar="FOLDER",
        ),
    ] = None,
    store: StorePath = None,
    seed: Annotated[int, typer.Option(help="Makes a run repeatable given the same verdicts.")] = 0,
    tolerance: ToleranceName = Tolerance.STRICT,
    generator: Annotated[str, typer.Option(help="Who writes candidates.")] = "offline",
    strategy: Annotated[str, typer.Option(help="Who decides what to try next.")] = "evolve",
    max_bytes: MaxBytes = None,
    max_flops: MaxFlops = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start a new run.")] = False,
    is_json: JsonFlag = False,
) -> int:
    """Draft a kernel for a reference operator, refine it, and leave the best one under --out."""
    options = SolveOptions(
        task=TaskOptions(
            task,
            max_bytes=amount(max_bytes, option="--max-bytes"),
            max_flops=amount(max_flops, option="--max-flops"),
        ),
        backend=backend,
        generator=generator,
        strategy=strategy,
        tolerance=tolerance,
        budget=Budget(rollouts=budget, seconds=seconds),
        seed=seed,
        out=out,
        store=store,
        is_fresh=fresh,
    )
    with ProgressDisplay(is_quiet=is_json) as display:
        solved = solve(options, load_settings(), tell=display)
    return show_solved(solved, is_json=is_json)


def show_solved(solved: Solved, *, is_json: bool) -> int:
    """Print the result of a run; return the exit status."""
    if is_json:
        emit(solved.report)
    else:
        for line in verdict_lines(solved.report):
            say(line)
        say(f"files: {solved.folder}")
        note(f"report: {solved.folder / 'report.md'}")
    return EXIT_DONE if solved.report.get("feasible") else EXIT_WRONG
