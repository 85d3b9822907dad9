"""Handles that the decorators give: the parsed program behind a Python name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from kernelwright.core.errors import UsageMistake
from kernelwright.dsl.check.program import CheckResult, check_source
from kernelwright.dsl.host_nodes import Program
from kernelwright.dsl.interpret import run as interpret
from kernelwright.dsl.launch import Allocate, Device, LaunchCall, run_host

ONE_CORE = Device()


@dataclass(frozen=True, slots=True)
class Kernel:
    """An on-chip program; it runs through a host function of its file.

    Attributes:
        name: Name in the program.
        path: File of the program.
    """

    name: str
    path: str

    @property
    def program(self) -> Program:
        """The checked program of the file.

        Raises:
            UsageMistake: with the diagnostics, if the program is not accepted.
        """
        return _accepted(self.path)


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A host function of a program file.

    Attributes:
        name: Name in the program.
        path: File of the program.
    """

    name: str
    path: str

    @property
    def program(self) -> Program:
        """The checked program of the file.

        Raises:
            UsageMistake: with the diagnostics, if the program is not accepted.
        """
        return _accepted(self.path)

    def __call__(
        self, *arguments: Any, cores: int = 1, schedule: Mapping[str, int] | None = None
    ) -> Any:
        """Run the function on the interpreter: the array it gives, or a tuple of several.

        Args:
            arguments: NumPy arrays and numbers, one a parameter.
            cores: Cores of the device that is played.
            schedule: Values of schedule holes; others take their defaults.

        Raises:
            LaunchRefused: where shapes disagree or a condition is false.
            UsageMistake: where the program breaks a rule at run time.
        """
        outcome = interpret(
            self.program, self.name, arguments, cores=cores, schedule=dict(schedule or {})
        )
        if outcome.fault is not None:
            raise UsageMistake(
                outcome.fault.to_text(), fix=f"`kernelwright dsl explain {outcome.fault.code}`"
            )
        return outcome.outputs[0] if len(outcome.outputs) == 1 else outcome.outputs

    def run(
        self,
        *arguments: Any,
        launch: Callable[[LaunchCall], None],
        allocate: Allocate,
        device: Device = ONE_CORE,
        schedule: Mapping[str, int] | None = None,
    ) -> tuple[Any, ...]:
        """Call the function with arrays; `launch` runs each launch to its end.

        Raises:
            LaunchRefused: where shapes disagree or a condition is false.
        """
        return run_host(
            self.program, self.name, arguments,
            launch=launch, allocate=allocate, device=device, schedule=schedule,
        )  # fmt: skip


def kernel_of(function: Callable[..., Any]) -> Kernel:
    """The handle of a function under `@tl.kernel`."""
    return Kernel(function.__name__, _path(function))


def host_of(function: Callable[..., Any]) -> HostFunction:
    """The handle of a function under `@tl.host`."""
    return HostFunction(function.__name__, _path(function))


def _path(function: Callable[..., Any]) -> str:
    path = inspect.getsourcefile(function)
    if path is None:
        raise UsageMistake(
            f"{function.__name__} has no source file", fix="programs are parsed from files"
        )
    return path


@cache
def _checked(path: str, text: str) -> CheckResult:
    return check_source(text, file=path)


def _accepted(path: str) -> Program:
    with open(path, encoding="utf-8") as file:
        result = _checked(path, file.read())
    if result.program is None:
        raise UsageMistake(f"{path} is not an accepted program", fix=result.to_text())
    return result.program
