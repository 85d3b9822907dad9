"""What the logs of a CANN build say: its exit status alone cannot be trusted.

A build script may return 0 although the kernel's compiler failed, so the log decides as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_FAILED = re.compile(
    r"Opc tool compile failed|\bfatal error:|\berror:|^\[?ERROR\]?\b|CMake Error|make(?:\[\d+\])?:"
    r" \*\*\* |ninja: build stopped|Traceback \(most recent call last\)|Segmentation fault",
    re.MULTILINE,
)
_HARMLESS = re.compile(r"\b0 errors?\b|error: 0\b|-Werror|no error", re.IGNORECASE)
_PLACE = re.compile(r"(?P<path>[\w./+-]+\.(?:cpp|h|hpp|cce))(?=:\d+)")
_MOST_LINES = 40
_CONTEXT = 3


def complaint(log: str, parts: Mapping[str, str]) -> str:
    """Return what a build log complains of, empty if it complains of nothing.

    Args:
        log: Everything that the build wrote.
        parts: File name in the generated project to the candidate's part, so that the words
            name what the author wrote: `op_kernel/tanh_custom.cpp` is `kernel_src.cpp`.
    """
    lines = log.splitlines()
    bad = [n for n, line in enumerate(lines) if _FAILED.search(line) and not _HARMLESS.search(line)]
    if not bad:
        return ""
    kept = sorted({n + step for n in bad for step in range(_CONTEXT) if n + step < len(lines)})
    shown = [_renamed(lines[n], parts) for n in kept[:_MOST_LINES]]
    cut = len(kept) - len(shown)
    return "\n".join([*shown, *([f"... ({cut} more lines)"] if cut > 0 else [])])


def _renamed(line: str, parts: Mapping[str, str]) -> str:
    def part(found: re.Match[str]) -> str:
        path = found["path"]
        known = [part for name, part in parts.items() if path.endswith(name)]
        return known[0] if known else path.rpartition("/")[2]

    return _PLACE.sub(part, line)
