"""`kernelwright dsl`: the kernel language for people and programs that write it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cli import program
from kernelwright.cli.console import EXIT_DONE, EXIT_WRONG, emit, say
from kernelwright.cli.options import JsonFlag
from kernelwright.wiring.language import check_program_file, explained, language_specification

app = typer.Typer(no_args_is_help=True, help="Check, run, lower and explain kernel programs.")

ProgramFile = Annotated[Path, typer.Argument(help="A file with kernels and host functions.")]
TargetName = Annotated[
    str, typer.Option(help="Chip whose memories and rules the program must fit.", metavar="NAME")
]


@app.command("check", epilog="Example:\n\n  kernelwright dsl check examples/dsl/softmax.py --json")
def check_command(
    file: ProgramFile, target: TargetName = "ascend910b", is_json: JsonFlag = False
) -> int:
    """Check a program; every error has a code, a place, a reason and mostly a fix."""
    checked = check_program_file(file, target=target)
    if is_json:
        emit(checked.json)
    else:
        say(checked.text or f"{file}: no errors")
    return EXIT_DONE if checked.is_ok else EXIT_WRONG


program.add_to(app)


@app.command("explain", epilog="Example:\n\n  kernelwright dsl explain E303")
def explain_command(
    code: Annotated[str, typer.Argument(help="Code of a diagnostic, such as E303.")],
    is_json: JsonFlag = False,
) -> int:
    """Say what a diagnostic means, with a wrong and a right line."""
    text = explained(code)
    if is_json:
        emit({"code": code.upper(), "text": text})
    else:
        say(text)
    return EXIT_DONE


@app.command("specification", epilog="Example:\n\n  kernelwright dsl specification > prompt.md")
def specification_command(is_json: JsonFlag = False) -> int:
    """Print the language in a few pages, as a model's prompt carries it."""
    text = language_specification()
    if is_json:
        emit({"text": text})
    else:
        say(text)
    return EXIT_DONE
