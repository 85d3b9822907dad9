"""User ids for children when the product runs as root: one a child, and nobody else's."""

from __future__ import annotations

import itertools
import os
import threading
from functools import cache

from kernelwright.core.errors import SandboxUnavailable

COUNT = 256
"""How many children of one product process may be open at a time."""

_FIRST = 3_000_000_000
_PIDS = 0x3FFFFF


class Uids:
    """Hands out user ids, each to one holder at a time; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: set[int] = set()
        self._turn = itertools.count()

    def take(self) -> int:
        """Return an id that nobody holds.

        Raises:
            SandboxUnavailable: if `COUNT` are held.
        """
        first = first_uid()
        with self._lock:
            for _ in range(COUNT):
                uid = first + next(self._turn) % COUNT
                if uid not in self._taken:
                    self._taken.add(uid)
                    return uid
        raise SandboxUnavailable(
            f"{COUNT} sandboxed processes are open", fix="close some before starting more"
        )

    def give_back(self, uid: int) -> None:
        """Let others have `uid`; its holder and all its processes are gone."""
        with self._lock:
            self._taken.discard(uid)


def first_uid() -> int:
    """Return the first of this process's `COUNT` user ids.

    They lie above every range that distributions give to users, containers and subordinate ids, and
    differ between product processes, so that one cannot use up another's process limit. Where a
    container has fewer ids, they are the highest it has; 0 where it has too few.
    """
    wanted = _FIRST + (os.getpid() & _PIDS) * COUNT
    first, count = _last_range()
    if first <= wanted and wanted + COUNT <= first + count:
        return wanted
    return first + count - COUNT if count > COUNT else 0


@cache
def _last_range() -> tuple[int, int]:
    """First id and number of ids of the highest range that exists in this user namespace."""
    try:
        with open("/proc/self/uid_map") as file:
            ranges = [line.split() for line in file]
    except FileNotFoundError:
        return 0, 0
    return max((int(first), int(count)) for first, _, count in ranges)
