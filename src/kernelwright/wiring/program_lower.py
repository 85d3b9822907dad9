"""A program of the kernel language as text of a target, found in the registry of targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.fingerprint import Json
from kernelwright.dsl import CheckResult
from kernelwright.dsl.lower.target import Lowered
from kernelwright.wiring.programs import host_of, read_program, settings_of
from kernelwright.wiring.registries import LOWERINGS


@dataclass(frozen=True, slots=True)
class LowerOptions:
    """What to lower.

    Attributes:
        file: The program.
        to: Name of the target.
        host: The host function; None is the only one.
        settings: Texts of `--set`.
    """

    file: Path
    to: str
    host: str | None = None
    settings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LoweredProgram:
    """A program that was lowered, or refused by its checks.

    Attributes:
        check: What checking said.
        to: Name of the target.
        host: Name of the host function, empty where the program is refused.
        lowered: The files, None where the program is refused.
    """

    check: CheckResult
    to: str
    host: str = ""
    lowered: Lowered | None = None

    def to_json(self) -> dict[str, Json]:
        """Everything as one JSON object."""
        checked = self.check.to_json()
        lowered = self.lowered
        return {
            "ok": lowered is not None,
            "file": self.check.file,
            "diagnostics": checked["diagnostics"],
            "to": self.to,
            "host": self.host or None,
            "files": None if lowered is None else dict(lowered.files),
            "signature": None if lowered is None else lowered.signature,
        }


def lower_program(options: LowerOptions) -> LoweredProgram:
    """Check a program and print one of its host functions in a target language.

    Raises:
        UnknownName: if there is no such target or host function.
        UsageMistake: where file or settings make no sense.
    """
    lowering = LOWERINGS.factory(options.to)()
    check = read_program(options.file)
    if check.program is None:
        return LoweredProgram(check, options.to)
    host = host_of(check.program, options.host, options.file)
    schedule, consts = settings_of(host, options.settings)
    lowered = lowering.lower(check.program, host.name.text, schedule=schedule, consts=consts)
    return LoweredProgram(check, options.to, host.name.text, lowered)
