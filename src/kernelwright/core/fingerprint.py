"""Content addresses: the same content has the same identity on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "None | bool | int | float | str | Sequence[Json] | Mapping[str, Json]"


def canonical_json(value: Json) -> str:
    """Return the one JSON text of `value`: sorted keys, no spaces, UTF-8, no NaN.

    Raises:
        ValueError: if a number is not finite, which JSON cannot carry.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def fingerprint(value: Json, *, length: int = 16) -> str:
    """Return the first `length` hexadecimal digits of the SHA-256 of the canonical JSON."""
    return fingerprint_bytes(canonical_json(value).encode(), length=length)


def fingerprint_bytes(data: bytes, *, length: int = 16) -> str:
    """Return the first `length` hexadecimal digits of the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()[:length]
