"""Counts what a tree of processes uses, from outside, through /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_FORGET_S = 1.0


@dataclass(frozen=True, slots=True)
class Stat:
    """One process as /proc tells it.

    Attributes:
        parent: Its parent's id.
        cpu_s: Processor seconds of itself and the children that it waited for.
        threads: Its threads.
        resident_bytes: Its resident memory, shared pages included.
        is_dead: Whether it is a zombie.
    """

    parent: int
    cpu_s: float
    threads: int
    resident_bytes: int
    is_dead: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """What a tree uses at one moment.

    Attributes:
        pids: Its processes.
        tasks: Processes and threads.
        cpu_s: Processor seconds of everything that ever was seen in it.
        resident_bytes: Resident memory; counts a page that is shared once for each that has it.
    """

    pids: tuple[int, ...]
    tasks: int
    cpu_s: float
    resident_bytes: int


class Tree:
    """The descendants of some processes, sampled again and again.

    Args:
        roots: Ids whose descendants belong to the tree; the roots themselves do not.
        members: Ids that belong to it from the start.
    """

    def __init__(self, roots: set[int], members: set[int]) -> None:
        self._roots = roots
        self._members = set(members)
        self._foreign: set[int] = set()
        self._forget_at = 0.0
        self._cpu: dict[int, float] = {}

    def sample(self, now: float) -> Usage:
        """Return the usage at `now` (any monotonic clock, in seconds)."""
        if now >= self._forget_at:
            # Ids are used again: what was foreign a second ago may be ours now.
            self._foreign.clear()
            self._forget_at = now + _FORGET_S
        alive = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        stats = {pid: stat for pid in alive - self._foreign if (stat := read_stat(pid)) is not None}
        self._members &= stats.keys()
        self._grow(stats)
        self._foreign = (self._foreign & alive) | (stats.keys() - self._members)
        mine = {pid: stats[pid] for pid in self._members if not stats[pid].is_dead}
        self._cpu.update({pid: stat.cpu_s for pid, stat in mine.items()})
        held = sum(stat.resident_bytes for stat in mine.values())
        tasks = sum(stat.threads for stat in mine.values())
        return Usage(tuple(mine), tasks, sum(self._cpu.values()), held)

    def _grow(self, stats: dict[int, Stat]) -> None:
        strangers = stats.keys() - self._members - self._roots
        while True:
            known = self._members | self._roots
            found = {pid for pid in strangers if stats[pid].parent in known}
            if not found:
                return
            self._members |= found
            strangers = strangers - found


def read_stat(pid: int) -> Stat | None:
    """Return what /proc/PID/stat says, None if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if not text:
        return None
    # The name in parentheses may contain anything, so count from its end.
    fields = text[text.rindex(b")") + 2 :].split()
    ticks = sum(int(field) for field in fields[11:15])
    return Stat(
        parent=int(fields[1]),
        cpu_s=ticks * _TICK_S,
        threads=int(fields[17]),
        resident_bytes=int(fields[21]) * _PAGE,
        is_dead=fields[0] in {b"Z", b"X"},
    )


def proportional_bytes(pids: tuple[int, ...]) -> int | None:
    """Return the memory of `pids` with each shared page divided by its users; None if hidden."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                lines = file.read().split(b"\n")
        except (FileNotFoundError, ProcessLookupError):
            continue
        except PermissionError:
            return None
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith(b"Pss:"))
    return total
