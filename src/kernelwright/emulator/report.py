"""Reads a launch's report: faults with their source lines, found by return addresses."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.core.fault import Fault, Severity, distinct
from kernelwright.core.fingerprint import Json
from kernelwright.emulator.fault_table import fault_table
from kernelwright.emulator.library import INCLUDE, SOURCES

_FRAME = re.compile(r"^(.*):(\d+|\?)(?: \(discriminator \d+\))?$")
_OTHER = "{other}"
_SEE_MESSAGE = "see the message"


@dataclass(frozen=True, slots=True)
class Line:
    """A place in the source; line 0 where none is known."""

    path: str
    line: int


def _asked(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@dataclass(slots=True)
class Lines:
    """Source lines of addresses in loaded libraries, asked of `addr2line` and remembered.

    Attributes:
        tool: The command.
        ask: Runs a command and returns what it prints; a library may be untrusted, so whoever
            has a sandbox runs it there.
    """

    tool: str = "addr2line"
    ask: Callable[[Sequence[str]], str] = _asked
    _known: dict[tuple[str, int], Line] = field(default_factory=dict)

    def learn(self, places: Sequence[tuple[str, int]]) -> None:
        """Look up all (library, offset) at once."""
        by_image: dict[str, list[int]] = {}
        for image, offset in places:
            if (image, offset) not in self._known:
                by_image.setdefault(image, []).append(offset)
        for image, offsets in by_image.items():
            for offset, frames in zip(offsets, self._frames(image, offsets), strict=True):
                self._known[image, offset] = _user_frame(frames)

    def of(self, image: str, offset: int) -> Line:
        """Return the first line that is not in our own headers."""
        self.learn([(image, offset)])
        return self._known[image, offset]

    def _frames(self, image: str, offsets: Sequence[int]) -> list[list[Line]]:
        command = [self.tool, "-a", "-i", "-e", image, *(hex(offset) for offset in offsets)]
        answers: list[list[Line]] = []
        for text in self.ask(command).splitlines():
            if text.startswith("0x"):
                answers.append([])
            elif (match := _FRAME.match(text)) and answers:
                number = match.group(2)
                answers[-1].append(Line(match.group(1), int(number) if number != "?" else 0))
        return answers if len(answers) == len(offsets) else [[] for _ in offsets]


def _user_frame(frames: Sequence[Line]) -> Line:
    ours = (str(INCLUDE), str(SOURCES))
    for frame in frames:
        if frame.line and not str(Path(frame.path)).startswith(ours):
            return frame
    return Line("", 0)


def faults_from(
    report: Mapping[str, Json], lines: Lines, *, parts: Mapping[str, str] | None = None
) -> tuple[Fault, ...]:
    """Return the faults of a launch, each code and line once, errors first.

    Args:
        report: What `kw_launch` returned.
        lines: Where addresses are looked up.
        parts: Names of the candidate's parts by the paths that the compiler saw; without it a
            fault's path is the compiler's.
    """
    entries = [entry for entry in _list(report.get("faults")) if isinstance(entry, dict)]
    places = [
        place
        for entry in entries
        for key in ("at", "other")
        if (place := _place(entry.get(key))) is not None
    ]
    lines.learn(places)
    return distinct(_fault(entry, lines, parts or {}) for entry in entries)


def _fault(entry: Mapping[str, Json], lines: Lines, parts: Mapping[str, str]) -> Fault:
    where = _line(entry.get("at"), lines)
    other = _line(entry.get("other"), lines)
    message = str(entry.get("message", ""))
    message = message.replace(_OTHER, f" (line {other.line})" if other.line else "")
    code = str(entry.get("code", ""))
    rule = fault_table().get(code)
    if rule is not None and rule.mend != _SEE_MESSAGE:
        message = f"{message}; fix: {rule.mend}"
    block = entry.get("block")
    return Fault(
        code=code,
        severity=Severity(str(entry.get("severity", "error"))),
        message=message,
        path=parts.get(where.path, where.path),
        line=where.line,
        block=block if isinstance(block, int) and block >= 0 else None,
        pipe=str(entry.get("pipe", "")),
    )


def _line(value: Json, lines: Lines) -> Line:
    place = _place(value)
    return Line("", 0) if place is None else lines.of(*place)


def _place(value: Json) -> tuple[str, int] | None:
    if not isinstance(value, dict):
        return None
    image, offset = value.get("image"), value.get("offset")
    return (image, offset) if isinstance(image, str) and isinstance(offset, int) else None


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else []
