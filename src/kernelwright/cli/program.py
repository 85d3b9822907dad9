"""`kernelwright dsl run` and `dsl lower`: programs at work, and as text of a target."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

from kernelwright.cli.console import EXIT_DONE, EXIT_WRONG, emit, note, say, table
from kernelwright.cli.options import JsonFlag
from kernelwright.core.errors import UsageMistake
from kernelwright.core.fingerprint import Json
from kernelwright.wiring.program_lower import LowerOptions, lower_program
from kernelwright.wiring.program_run import (
    COUNTS,
    CPU,
    INTERPRETER,
    Execution,
    Output,
    ProgramOptions,
    Ran,
    run_program,
    written_arrays,
)
from kernelwright.wiring.settings import load_settings

RUN_EPILOG = """Inputs, several separated by commas or in several --inputs:

  x=64x1000              drawn: normal for floats, ints 0..9 for integers

  x=64x1000:f32:uniform:-4:4    shape, element type, distribution and its numbers

  R=64,C=1000            sizes only: every tensor of those is drawn

  x=x.npy, x=all.npz, all.npz   files of numpy, nothing in them is unpickled

  x=x.npy:f32            the same, converted to the program's element type

  eps=1e-5               a number

Distributions: normal:MEAN:STD, uniform:LOW:HIGH, ints:LOW:HIGH, zeros, ones, arange, special (NaN,
infinities, signed zeros and subnormals among normals). A bf16 tensor comes from a file as its bits
in uint16, or as f32 that bf16 holds exactly; x=x.npy:bf16 rounds. --out saves bf16 as f32.

Examples:

  kernelwright dsl run examples/dsl/softmax.py --inputs x=64x1000

  kernelwright dsl run examples/dsl/softmax.py --inputs R=7,C=5000 --set TILE=512 --compare

  kernelwright dsl run examples/dsl/maxpool.py --inputs x=2x3x9x12:special --set K=3,P=1 --on cpu
"""
LOWER_EPILOG = """Examples:

  kernelwright dsl lower examples/dsl/softmax.py --to cpp > kernel.cpp

  kernelwright dsl lower examples/dsl/maxpool.py --to cpp --set TILE=512,K=5 --out lowered/ --json
"""

ProgramFile = Annotated[Path, typer.Argument(help="A file with kernels and host functions.")]
HostName = Annotated[
    str | None,
    typer.Option("--host", help="Host function; needed where there are several.", metavar="NAME"),
]
Sets = Annotated[
    list[str],
    typer.Option(
        "--set", help="Value of a schedule hole or compile-time parameter.", metavar="NAME=VALUE"
    ),
]
Items = Annotated[
    list[str], typer.Option("--inputs", help="What it is called with; see below.", metavar="ITEMS")
]
OrderName = Literal["sequential", "random", "interleaved"]


class Place(StrEnum):
    """Where a program runs."""

    INTERPRETER = INTERPRETER
    CPU = CPU


def add_to(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("run", epilog=RUN_EPILOG)(run_command)
    app.command("lower", epilog=LOWER_EPILOG)(lower_command)


def run_command(  # noqa: PLR0913 - one parameter an option; typer reads the signature
    file: ProgramFile,
    inputs: Items = [],  # noqa: B006 - typer copies it
    settings: Sets = [],  # noqa: B006
    host: HostName = None,
    on: Annotated[
        Place,
        typer.Option(help="The interpreter says what a program means; cpu compiles and sandboxes."),
    ] = Place.INTERPRETER,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Run on both, and report the largest difference."),
    ] = False,
    cores: Annotated[int, typer.Option(help="Cores of the device.", min=1, max=1024)] = 1,
    order: Annotated[
        OrderName, typer.Option(help="In which the interpreter runs the cores.")
    ] = "sequential",
    seed: Annotated[int, typer.Option(help="Of drawn inputs and orders.", min=0)] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Save the outputs here.", metavar="FILE.npz")
    ] = None,
    is_json: JsonFlag = False,
) -> int:
    """Run a host function with files or drawn inputs; say what came out and what it cost."""
    if out is not None and out.suffix != ".npz":
        raise UsageMistake(f"--out cannot be {out}", fix="name a file that ends in .npz")
    places = (INTERPRETER, CPU) if compare else (on.value,)
    if order != "sequential" and INTERPRETER not in places:
        raise UsageMistake("--order is for the interpreter", fix="leave --order or --on cpu out")
    options = ProgramOptions(file, host, inputs, settings, cores, order, seed, places)
    ran = run_program(options, load_settings())
    if out is not None and ran.outputs:
        _save(out, ran.outputs)
    if is_json:
        emit(ran.to_json())
    else:
        _show(ran, out)
    return EXIT_DONE if ran.is_ok else EXIT_WRONG


def _save(out: Path, outputs: tuple[Output, ...]) -> None:
    try:
        np.savez(out, allow_pickle=False, **written_arrays(outputs))
    except OSError as error:
        raise UsageMistake(
            f"{out} cannot be written: {error.strerror}", fix="name a file in a folder that exists"
        ) from error


def _show(ran: Ran, out: Path | None) -> None:
    if ran.check.diagnostics:
        (note if ran.check.is_ok else say)(ran.check.to_text())
    for text in ran.notes:
        note(text)
    if ran.inputs:
        say(
            table(
                ("input", "shape", "from"),
                [_input_row(item.name, item.value, item.source) for item in ran.inputs],
            )
        )
    for execution in ran.executions:
        say()
        say(f"{ran.host} on {execution.on}, {_counted(ran.options.cores, 'core')}")
        _show_execution(ran, execution)
    if ran.differences:
        say()
        rows = [
            (
                item.name,
                f"{item.largest:.3g}",
                str(item.largest_ulp),
                f"{item.differing} of {item.count}",
                str(item.unlike),
                "" if item.at is None else str(list(item.at)),
            )
            for item in ran.differences
        ]
        head = (
            "cpu against interpreter",
            "abs",
            "ulp",
            "differing",
            "NaN or inf unlike",
            "worst at",
        )
        say(table(head, rows))
    if out is not None and ran.outputs:
        note(f"outputs: {out}")


def _input_row(name: str, value: object, source: str) -> tuple[str, str, str]:
    if isinstance(value, np.ndarray):
        return name, _shape_text(value.shape), source
    return name, str(value), source


def _show_execution(ran: Ran, execution: Execution) -> None:
    if execution.fault is not None:
        say(ran.fault_text(execution))
        say(f"  see: kernelwright dsl explain {execution.fault.code}")
    if execution.outputs:
        head = ("output", "shape", "dtype", "min", "max", "mean", "NaN", "inf")
        say(table(head, [_output_row(item.to_json()) for item in execution.outputs]))
    counters = execution.counters
    rows = (
        []
        if counters is None
        else [(text, f"{getattr(counters, name):,}") for name, text in COUNTS.items()]
    )
    if execution.fault is None or counters is not None:
        rows.append(("wall time", f"{execution.wall_s * 1e3:,.2f} ms"))
        say(table(("counter", "value"), rows))


def _output_row(row: Mapping[str, Json]) -> tuple[str, ...]:
    shape = row["shape"]
    assert isinstance(shape, list)
    numbers = (row["min"], row["max"], row["mean"])
    return (
        str(row["name"]),
        _shape_text(tuple(int(size) for size in shape)),
        str(row["dtype"]),
        *("" if value is None else f"{value:.6g}" for value in numbers),
        str(row["nan"]),
        str(row["inf"]),
    )


def _shape_text(shape: tuple[int, ...]) -> str:
    return "x".join(str(size) for size in shape) or "scalar"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def lower_command(
    file: ProgramFile,
    to: Annotated[str, typer.Option(help="Target language.", metavar="TARGET")] = "cpp",
    settings: Sets = [],  # noqa: B006 - typer copies it
    host: HostName = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the files and signature.json here.", metavar="FOLDER"),
    ] = None,
    is_json: JsonFlag = False,
) -> int:
    """Print a host function and its kernels in a target language, or write them to a folder."""
    done = lower_program(LowerOptions(file, to, host, settings))
    if done.lowered is None:
        if is_json:
            emit(done.to_json())
        else:
            say(done.check.to_text())
        return EXIT_WRONG
    files = done.lowered.files
    if out is not None:
        _write(
            out, {**files, "signature.json": json.dumps(done.lowered.signature, indent=2) + "\n"}
        )
    if is_json:
        emit(done.to_json())
    elif out is not None:
        say("\n".join(str(out / name) for name in (*files, "signature.json")))
    else:
        for name, text in files.items():
            if len(files) > 1:
                say(f"==> {name} <==")
            say(text.rstrip("\n"))
    return EXIT_DONE


def _write(folder: Path, files: Mapping[str, str]) -> None:
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageMistake(
            f"{folder} cannot be written: {error.strerror}", fix="name another folder"
        ) from error
