"""What is meant by a name that the device API does not have, for the compiler's errors."""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from pathlib import Path

_HERE = Path(__file__).parent
_UNKNOWN = re.compile(
    r"[‘'](?P<name>[\w:]+)[’'] (?:is not a member of|was not declared|has not been declared)"
)
_DEFINED = re.compile(r"^\s*KW_API [\w:<>&* ]*?\b([A-Z]\w+)\(", re.MULTILINE)
_BY_MACRO = re.compile(r"^KW_[A-Z0-9_]+\(([A-Z]\w+),", re.MULTILINE)


@functools.cache
def _table() -> dict[str, str]:
    text = (_HERE / "did_you_mean.toml").read_text(encoding="utf-8")
    return {name: str(meant) for name, meant in tomllib.loads(text)["names"].items()}


@functools.cache
def api_names() -> frozenset[str]:
    """Functions that the emulator's headers give to kernels."""
    names: set[str] = set()
    for header in sorted((_HERE / "include" / "kw").glob("*.h")):
        text = header.read_text(encoding="utf-8")
        names.update(_DEFINED.findall(text), _BY_MACRO.findall(text))
    return frozenset(names)


def did_you_mean(name: str) -> str | None:
    """What to write instead of `name`; None for a name of the API and where nothing is near."""
    bare = name.rpartition("::")[2]
    if bare in api_names():
        return None
    if bare in _table():
        return _table()[bare]
    by_lower = {known.lower(): known for known in sorted(api_names())}
    near = difflib.get_close_matches(bare.lower(), by_lower, n=1, cutoff=0.8)
    return by_lower[near[0]] if near else None


def suggestions(compiler_output: str) -> tuple[str, ...]:
    """One sentence for each unknown name in what g++ said, in order, without repeats."""
    found: dict[str, None] = {}
    for match in _UNKNOWN.finditer(compiler_output):
        meant = did_you_mean(match["name"])
        if meant is not None:
            found[f"there is no {match['name']} in Ascend C; did you mean {meant}?"] = None
    return tuple(found)
