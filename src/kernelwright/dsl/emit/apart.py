"""The check that tensors of a call are different memories where one of them is written (E507).

The checker sees two names; only the caller's pointers show that both are one tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Extent:
    """One tensor of a call.

    Attributes:
        pointer: Name of its pointer.
        size: Its bytes, as C++.
        is_written: Whether the call may write it.
        line: Line of the program that names it.
    """

    pointer: str
    size: str
    is_written: bool
    line: int


def apart_lines(name: str, extents: Sequence[Extent], numbers: Sequence[str]) -> list[str]:
    """A function `shared_NAME(pointers, numbers)`: the line of a tensor that shares, or 0.

    Args:
        name: The exported function.
        numbers: Declarations of dims and scalars.
    """
    head = [f"const void* {item.pointer}" for item in extents] + list(numbers)
    lines = [f"static int64_t shared_{name}({', '.join(head)}) {{"]
    if len(extents) > 1 and any(item.is_written for item in extents):
        columns = (
            ("char* const from", (f"(const char*){item.pointer}" for item in extents)),
            ("int64_t bytes", (item.size for item in extents)),
            ("bool written", ("true" if item.is_written else "false" for item in extents)),
            ("int64_t lines", (str(item.line) for item in extents)),
        )
        lines += [f"  const {what}[] = {{{', '.join(values)}}};" for what, values in columns]
        lines += [
            f"  for (int j = 1; j < {len(extents)}; ++j)",
            "    for (int i = 0; i < j; ++i)",
            "      if ((written[i] || written[j]) && bytes[i] > 0 && bytes[j] > 0 &&",
            "          from[i] < from[j] + bytes[j] && from[j] < from[i] + bytes[i])",
            "        return lines[j];",
        ]
    return [*lines, "  return 0;", "}"]
