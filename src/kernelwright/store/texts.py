"""Records to the text of a row and back; long strings become blobs.

A string longer than `INLINE_CHARACTERS` (source parts, long feedback, bodies of items) is written
as `{"blob": address}`. No record has an object of that form: records carry the key `record`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from kernelwright.core.encode import from_json, to_json
from kernelwright.core.errors import RecordUnreadable
from kernelwright.core.fingerprint import Json

R = TypeVar("R")

INLINE_CHARACTERS = 4096
"""Longest string that stays in the row: a database page, so that lists of rollouts stay cheap."""


def text_of(record: object, put: Callable[[bytes], str]) -> tuple[str, frozenset[str]]:
    """Return the text of a record's row, and the addresses of the blobs that it refers to."""
    addresses: set[str] = set()

    def outside(value: Json) -> Json:
        if isinstance(value, str):
            if len(value) <= INLINE_CHARACTERS:
                return value
            address = put(value.encode("utf-8", "surrogatepass"))
            addresses.add(address)
            return {"blob": address}
        if isinstance(value, dict):
            return {key: outside(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [outside(inner) for inner in value]
        return value

    # ASCII: feedback may hold half a character of somebody's output, which UTF-8 cannot carry.
    text = json.dumps(outside(to_json(record)), sort_keys=True, separators=(",", ":"))
    return text, frozenset(addresses)


def record_of(kind: type[R], text: str, get: Callable[[str], bytes]) -> R:
    """Read a record back from the text of its row.

    Raises:
        RecordUnreadable: if the text, or a blob it refers to, is damaged or of another version.
    """

    def inside(value: Json) -> Json:
        if isinstance(value, dict):
            if set(value) == {"blob"}:
                return get(str(value["blob"])).decode("utf-8", "surrogatepass")
            return {key: inside(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [inside(inner) for inner in value]
        return value

    try:
        data: Json = json.loads(text)
    except ValueError as fault:
        raise RecordUnreadable(
            f"a stored {kind.__name__} is not JSON: {text[:80]!r}",
            fix="restore the store's folder from a backup",
        ) from fault
    return from_json(kind, inside(data))
