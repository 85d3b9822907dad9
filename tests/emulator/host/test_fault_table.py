"""Every fault of the host side is in the table that people and Python read."""

from __future__ import annotations

import re
from pathlib import Path

import kernelwright.emulator

RUNTIME = Path(kernelwright.emulator.__file__).parent / "runtime"


def test_every_code_that_is_reported_has_its_row_and_severity() -> None:
    table = dict(
        re.findall(r"KW_FAULT\((HOST_\w+), (\w+)", (RUNTIME / "host_faults.def").read_text())
    )
    used: dict[str, set[str]] = {}
    for path in RUNTIME.glob("host_*.cpp"):
        text = path.read_text()
        for code, severity in re.findall(
            r'"(HOST_\w+)",\s*(?:kw::)?HostSeverity::k(Error|Warning)', text
        ):
            used.setdefault(code, set()).add(severity.lower())
        for code in re.findall(r'refuse\("(HOST_\w+)"', text):
            used.setdefault(code, set()).add("error")
    assert {code: {severity} for code, severity in table.items()} == used
