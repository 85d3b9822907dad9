"""A broken rule of the target machine, found while a kernel ran: where, by whom, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kernelwright.core.fingerprint import Json


class Severity(StrEnum):
    """What a fault means on the device."""

    ERROR = "error"
    """The device gives a wrong result, an exception or a hang."""
    WARNING = "warning"
    """Suspicious: it may work, on this device or by luck."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One broken rule.

    Attributes:
        code: Stable identity of the rule, such as `UB_OUT_OF_RANGE`.
        severity: Wrong on the device, or suspicious.
        message: What is wrong, with its numbers, and what to do.
        path: Part of the candidate, empty where no source line is known.
        line: 1-based line in that part, 0 where none is known.
        block: Block that broke the rule first, None where it is no block's.
        pipe: Pipe that did, such as `MTE2`, empty where it is no pipe's.
    """

    code: str
    severity: Severity
    message: str
    path: str = ""
    line: int = 0
    block: int | None = None
    pipe: str = ""

    @property
    def text(self) -> str:
        """The fault as one line for people and generators."""
        where = f"{self.path}:{self.line}: " if self.path else ""
        who = "".join(
            (
                "" if self.block is None else f", block {self.block}",
                f", pipe {self.pipe}" if self.pipe else "",
            )
        )
        return f"{where}{self.severity.value} {self.code}{who}: {self.message}"

    @property
    def json(self) -> dict[str, Json]:
        """The fault as `verify --json` and `emulate --json` print it."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "file": self.path,
            "line": self.line,
            "block": self.block,
            "pipe": self.pipe,
            "message": self.message,
        }


def distinct(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return faults without those that repeat an earlier one's code and line, errors first."""
    kept: dict[tuple[str, str, int], Fault] = {}
    for fault in faults:
        kept.setdefault((fault.code, fault.path, fault.line), fault)
    return tuple(sorted(kept.values(), key=lambda fault: fault.severity is not Severity.ERROR))
