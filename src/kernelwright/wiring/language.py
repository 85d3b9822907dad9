"""Programs of the kernel language as the command line reads, checks and explains them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.errors import UnknownName
from kernelwright.core.fingerprint import Json
from kernelwright.dsl import CODES, explain, specification
from kernelwright.wiring.programs import read_program


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking a program said."""

    is_ok: bool
    json: dict[str, Json]
    text: str


def check_program_file(path: Path, *, target: str) -> Checked:
    """Parse and check the program in a file; nothing of it is run.

    Raises:
        UsageMistake: if the file cannot be read.
        UnknownName: if there is no such target.
    """
    result = read_program(path, target=target)
    return Checked(result.is_ok, result.to_json(), result.to_text())


def explained(code: str) -> str:
    """Return what a diagnostic's code means, with an example.

    Raises:
        UnknownName: if there is no such code.
    """
    try:
        return explain(code)
    except KeyError as error:
        known = ", ".join(CODES)
        raise UnknownName(f"there is no code {code!r}", fix=f"known: {known}") from error


def language_specification() -> str:
    """Return the compact specification that a model's prompt carries."""
    return specification()
