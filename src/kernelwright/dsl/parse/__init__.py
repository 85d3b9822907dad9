"""Source text to program tree, by Python's `ast`; nothing is executed."""

from __future__ import annotations

from kernelwright.dsl.parse.file import Parsed, parse

__all__ = ["Parsed", "parse"]
