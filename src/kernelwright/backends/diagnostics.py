"""A compiler's messages as feedback: the errors first, its own paths left out, not too long."""

from __future__ import annotations

import re

MOST_CHARACTERS = 4000
_START = re.compile(
    r"^(?P<place>[^\s:]+:\d+(?::\d+)?): (?P<level>fatal error|error|warning|note): ", re.MULTILINE
)
_CONTEXT = re.compile(r"^(In file included from .*|\s+from .*|.*: In [\w ]*function .*:)\n?", re.M)
_SUMMARY = re.compile(
    r"^(compilation terminated\.|\d+ errors? generated\.|ninja: build stopped: .*)\n?", re.MULTILINE
)
_TEMPORARY = re.compile(r"(?:[\w./-]*/)?(?:cc\w{6}|\w+-[0-9a-f]{6})\.o:?")
_FOLDERS = re.compile(r"/(?:[\w.+-]+/)+(?=[\w.+-]+(?:\.(?:cpp|h|hpp|so|o)\b|:\d))")


def cleaned(text: str) -> str:
    """Return a compiler's or linker's messages, shortened for whoever wrote the code.

    Each error keeps the notes that follow it; warnings go; every folder is cut off paths.
    """
    text = _FOLDERS.sub("", _SUMMARY.sub("", text))
    text = _TEMPORARY.sub("", text)
    blocks = _blocks(text)
    errors = [block for level, block in blocks if level != "warning"]
    body = "".join(errors) if errors else text
    body = "\n".join(line for line in body.splitlines() if line.strip())
    if len(body) > MOST_CHARACTERS:
        body = body[: MOST_CHARACTERS - 20].rsplit("\n", 1)[0] + "\n[more left out]"
    return body


def _blocks(text: str) -> list[tuple[str, str]]:
    """Split at the start of each message; a note belongs to the message before it."""
    starts = [match for match in _START.finditer(text) if match["level"] != "note"]
    found = []
    for index, match in enumerate(starts):
        end = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        level = "warning" if match["level"] == "warning" else "error"
        found.append((level, _CONTEXT.sub("", text[match.start() : end])))
    return found
