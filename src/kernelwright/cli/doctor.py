"""`kernelwright doctor`: what this machine has, and what it enforces, proved by trying."""

from __future__ import annotations

import typer

from kernelwright.cli.console import EXIT_DONE, EXIT_LACKING, emit, say, table
from kernelwright.cli.options import JsonFlag, StorePath
from kernelwright.wiring.doctor import examine
from kernelwright.wiring.settings import load_settings

EPILOG = """Example:

  kernelwright doctor --json

The exit status is 0 if the main job can run here, 3 if something it needs is missing.
"""


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("doctor", epilog=EPILOG)(doctor_command)


def doctor_command(store: StorePath = None, is_json: JsonFlag = False) -> int:
    """Say what this machine has and lacks, and prove what the sandbox enforces."""
    found = examine(load_settings(), store)
    lacking = [check for check in found if check.is_needed and not check.is_ok]
    if is_json:
        emit({"ok": not lacking, "checks": [check.json for check in found]})
    else:
        rows = [(check.group, check.name, check.state, check.detail or "-") for check in found]
        say(table(("what", "check", "state", "detail"), rows))
        for check in lacking:
            say(f"fix {check.name}: {check.fix}")
    return EXIT_LACKING if lacking else EXIT_DONE
