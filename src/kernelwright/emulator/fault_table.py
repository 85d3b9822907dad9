"""The table of fault codes: what each one means and how to mend it.

The rows are those of runtime/faults.def (kernels) and runtime/host_faults.def (tiling functions,
definitions, bindings), which the runtime library is built from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from kernelwright.core.fault import Severity
from kernelwright.emulator.library import SOURCES

FILES = ("faults.def", "host_faults.def")

_ROW = re.compile(r"^KW_(?:HOST_)?FAULT\((.*?)\)\s*$", re.MULTILINE | re.DOTALL)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of fault.

    Attributes:
        code: Stable identity, such as `RACE_RAW`.
        severity: Wrong on the chip, or suspicious.
        title: The fault in a few words.
        rule: The rule that is broken.
        mend: What to do about it.
    """

    code: str
    severity: Severity
    title: str
    rule: str
    mend: str


@cache
def fault_table() -> Mapping[str, Rule]:
    """Return every kind of fault by its code."""
    rules: dict[str, Rule] = {}
    for name in FILES:
        text = (SOURCES / name).read_text(encoding="utf-8")
        for row in _ROW.findall(text):
            code, severity, rest = (part.strip() for part in row.split(",", 2))
            title, rule, mend = _TEXT.findall(rest)
            rules[code] = Rule(code, Severity(severity), title, rule, mend)
    return rules
