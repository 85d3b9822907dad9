"""`kernelwright emulate`: run an Ascend C project on a laptop and see every rule it breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cli.console import EXIT_DONE, EXIT_WRONG, emit, say, table
from kernelwright.cli.options import JsonFlag
from kernelwright.cli.progress import ProgressDisplay
from kernelwright.core.fault import Severity
from kernelwright.wiring.emulating import Emulated, EmulateOptions, emulate
from kernelwright.wiring.settings import load_settings

EPILOG = """Inputs, in the order of ModelNew.forward's arguments, separated by commas:

  64x1000                       float32, normal

  64x1000:float16:uniform:-4:4  element type, distribution and its numbers

  x.npy, all.npz                files of numpy

  0.5, int:3, true, none        plain values

Examples:

  kernelwright emulate examples/ascendc/tanh --inputs 1000x515

  kernelwright emulate project.txt --inputs 64x1000:float16,0.5 --json

  kernelwright emulate project/ --inputs x.npy --out y.npz --trace pipes.json

The exit status is 0 if no rule of the chip was broken, 1 if one was. All times are simulated.
"""


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("emulate", epilog=EPILOG)(emulate_command)


def emulate_command(  # noqa: PLR0913 - one parameter an option
    project: Annotated[
        Path,
        typer.Argument(
            help="A folder of six parts, one file of six strings, or a direct-launch JSON."
        ),
    ],
    inputs: Annotated[
        list[str], typer.Option("--inputs", help="What forward is called with.", metavar="ITEMS")
    ],
    init: Annotated[
        list[str] | None,
        typer.Option("--init", help="What ModelNew is constructed with.", metavar="ITEMS"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of what is drawn.")] = 0,
    chip: Annotated[
        str | None, typer.Option(help="Chip to emulate, such as 910B2.", metavar="NAME")
    ] = None,
    is_strict: Annotated[
        bool,
        typer.Option(
            "--strict-sync", help="Dependent vector instructions need PipeBarrier<PIPE_V>."
        ),
    ] = False,
    is_timing_only: Annotated[
        bool, typer.Option("--timing-only", help="Skip the values: outputs mean nothing.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the outputs to this .npz file.", metavar="FILE")
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="Write the pipes' timeline for Perfetto or Chrome.", metavar="FILE"),
    ] = None,
    is_json: JsonFlag = False,
) -> int:
    """Build an Ascend C project, run it on an emulated chip, and report broken rules and time."""
    options = EmulateOptions(
        project,
        tuple(inputs),
        tuple(init or ()),
        seed=seed,
        chip=chip,
        options={"strict_sync": is_strict, "timing_only": is_timing_only},
        out=out,
        trace=trace,
    )
    with ProgressDisplay(is_quiet=is_json) as display:
        emulated = emulate(options, load_settings(), tell=display)
    if is_json:
        emit(emulated.json)
    else:
        for line in _lines(emulated):
            say(line)
    return EXIT_DONE if emulated.is_ok else EXIT_WRONG


def _lines(emulated: Emulated) -> list[str]:
    lines = [fault.text for fault in emulated.faults]
    if emulated.outputs:
        rows = [
            [
                str(place),
                str(output["dtype"]),
                "x".join(str(size) for size in _sizes(output["shape"])),
                *(_figure(output[name]) for name in ("min", "max", "mean")),
                str(output["not_finite"]),
            ]
            for place, output in enumerate(emulated.outputs)
        ]
        head = ["output", "dtype", "shape", "min", "max", "mean", "not finite"]
        lines += ["", table(head, rows), ""]
    if emulated.profile is not None:
        limit = f", limited by {emulated.bottleneck}" if emulated.bottleneck else ""
        lines.append(f"{emulated.duration_us:.2f} us simulated by {emulated.timing_model}{limit}")
    if emulated.advice:
        lines.append(emulated.advice)
    errors = sum(fault.severity is Severity.ERROR for fault in emulated.faults)
    warnings = len(emulated.faults) - errors
    lines.append(f"{errors} errors, {warnings} warnings")
    return lines


def _sizes(shape: object) -> list[object]:
    return list(shape) if isinstance(shape, list) else []


def _figure(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "-"
