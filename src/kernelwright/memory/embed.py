"""Dense vectors of texts without a model: hashed words and parts of identifiers.

This is the default that needs nothing; it sees shared words, not shared meaning. A model's
embeddings go in its place through `Embed` (`docs/memory.md` says what was measured of each).
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
Embed: TypeAlias = Callable[[str], Vector]
"""From a text to a vector of length 1, or of zeros where there is nothing to go by."""

DIMENSIONS = 384
LONGEST_TEXT = 4000
"""Characters that are looked at; what a kernel is about stands at its beginning."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def hashed(text: str) -> Vector:
    """Return the vector of a text: every word counts, damped by its logarithm, and hashed."""
    return _hashed(text[:LONGEST_TEXT])


# The same few thousand items are compared with every task; the vector of a text never changes.
@lru_cache(maxsize=16384)
def _hashed(text: str) -> Vector:
    vector = np.zeros(DIMENSIONS, dtype=np.float64)
    for word, count in sorted(_words(text).items()):
        digest = zlib.crc32(word.encode())
        # One bit is the sign: words that share a place cancel as often as they add up.
        sign = 1.0 if digest & 1 else -1.0
        vector[(digest >> 1) % DIMENSIONS] += sign * (1.0 + math.log(count))
    length = np.linalg.norm(vector)
    unit = (vector / length if length else vector).astype(np.float32)
    unit.setflags(write=False)
    return unit


def _words(text: str) -> Counter[str]:
    words: Counter[str] = Counter()
    # Code repeats its identifiers: each is taken apart once.
    for identifier, count in Counter(_IDENTIFIER.findall(text)).items():
        parts = [part.lower() for part in _PART.findall(identifier)]
        for part in parts:
            if len(part) > 1:
                words[part] += count
        if len(parts) > 1:
            words[identifier.lower()] += count
    return words
