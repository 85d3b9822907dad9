"""`kernelwright tasks`: what is in a benchmark folder, and what one task takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cli.console import EXIT_DONE, emit, say, table
from kernelwright.cli.options import JsonFlag, MaxBytes, MaxFlops, amount
from kernelwright.wiring.options import TaskOptions
from kernelwright.wiring.settings import load_settings
from kernelwright.wiring.tasks import listing, show_task

app = typer.Typer(
    no_args_is_help=True, help="List tasks of a folder, show what a task takes and returns."
)


@app.command(
    "list",
    epilog="Example:\n\n  kernelwright tasks list KernelBench/level1",
)
def list_command(
    path: Annotated[Path, typer.Argument(help="A task file, or a folder of them at any depth.")],
    is_json: JsonFlag = False,
) -> int:
    """List the KernelBench-format files below a path; nothing of them is run."""
    rows = listing(path)
    if is_json:
        emit({"path": str(path), "tasks": rows})
        return EXIT_DONE
    cells = [
        (str(row["name"]), str(row["category"]), str(row["problem"] or "ok"), str(row["path"]))
        for row in rows
    ]
    say(table(("task", "category", "state", "file"), cells))
    broken = sum(bool(row["problem"]) for row in rows)
    say(f"{len(rows)} files, {broken} of them cannot be loaded")
    return EXIT_DONE


@app.command(
    "show",
    epilog="Example:\n\n  kernelwright tasks show KernelBench/level1/1_Square.py --max-bytes 64MB",
)
def show_command(
    file: Annotated[Path, typer.Argument(help="A KernelBench-format file.")],
    max_bytes: MaxBytes = None,
    max_flops: MaxFlops = None,
    is_json: JsonFlag = False,
) -> int:
    """Show a task: operands, parameters, sizes, mode; its code runs in the sandbox."""
    options = TaskOptions(
        file,
        max_bytes=amount(max_bytes, option="--max-bytes"),
        max_flops=amount(max_flops, option="--max-flops"),
    )
    shown = show_task(options, load_settings())
    if is_json:
        emit(shown.json)
    else:
        say(shown.text)
    return EXIT_DONE
