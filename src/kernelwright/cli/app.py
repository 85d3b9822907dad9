"""The command `kernelwright`: its commands, and what its exit status means.

0 done or feasible; 1 the checked thing is wrong or nothing feasible was found; 2 the user's
mistake; 3 this machine lacks something; 130 interrupted (nothing finished is lost).
"""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from kernelwright import __version__
from kernelwright.cli import doctor, dsl, emulate, memory, runs, solve, tasks, verify
from kernelwright.cli.console import (
    EXIT_BUG,
    EXIT_DONE,
    EXIT_INTERRUPTED,
    complain,
    note,
    say,
)
from kernelwright.core.errors import KernelwrightError, UsageMistake

app = typer.Typer(
    name="kernelwright",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="From a PyTorch reference operator to a verified, fast kernel.",
)
solve.add_to(app)
verify.add_to(app)
app.add_typer(tasks.app, name="tasks")
app.add_typer(runs.app, name="runs")
app.add_typer(memory.app, name="memory")
app.add_typer(dsl.app, name="dsl")
emulate.add_to(app)
doctor.add_to(app)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        say(f"kernelwright {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """From a PyTorch reference operator to a verified, fast kernel."""


def run(arguments: list[str]) -> int:
    """Run the command with `arguments`; return its exit status."""
    is_json = "--json" in arguments
    try:
        status = app(arguments, standalone_mode=False, prog_name="kernelwright")
    except KernelwrightError as error:
        return complain(error, is_json=is_json)
    except typer.TyperException as error:
        return complain(_mistake(error), is_json=is_json)
    except (KeyboardInterrupt, typer.Abort):
        note("interrupted; finished rollouts are kept: run the same command to go on")
        return EXIT_INTERRUPTED
    except Exception:  # noqa: BLE001 - the last handler: nothing above it, and it hides nothing
        traceback.print_exc()
        note("this is a fault in kernelwright itself; please report it with the lines above")
        return EXIT_BUG
    return status if isinstance(status, int) else EXIT_DONE


def _mistake(error: typer.TyperException) -> UsageMistake:
    # Typer's public base class knows neither; the errors that it raises for options have both.
    message = getattr(error, "format_message", error.__str__)()
    command = getattr(getattr(error, "ctx", None), "command_path", "kernelwright")
    return UsageMistake(" ".join(message.split()), fix=f"see `{command} --help`")


def main() -> None:
    """Entry point of the command."""
    sys.exit(run(sys.argv[1:]))
