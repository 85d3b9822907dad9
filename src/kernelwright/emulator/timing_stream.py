"""Instruction streams for the timing model without a kernel: to test it and to fit its figures.

A `Stream` is what one core does, as a list of records; `play` gives it to the runtime library for
each block and returns the report that a launch of such a kernel would have had.
"""

from __future__ import annotations

import ctypes
import json
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from kernelwright.core.fingerprint import Json
from kernelwright.emulator.targets import RUNTIME_FOLDER, vector_operations

_FIELDS = 11
SLOTS = 64


class Pipe(IntEnum):
    """Pipes in the order of the runtime library."""

    S = 0
    V = 1
    M = 2
    MTE1 = 3
    MTE2 = 4
    MTE3 = 5
    FIX = 6


class Route(IntEnum):
    """What a copy moves between, in the order of the runtime library."""

    GM_UB = 0
    UB_GM = 1
    UB_UB = 2
    GM_L1 = 3
    L1_L0A = 4
    L1_L0B = 5
    L1_BT = 6
    L0C_GM = 7
    L0C_UB = 8
    UB_L1 = 9
    L1_UB = 10


@dataclass(slots=True)
class Stream:
    """Instructions of one core in program order; global addresses count from the block's base."""

    records: array[int] = field(default_factory=lambda: array("q"))

    def _add(self, *values: int) -> Stream:
        self.records.extend(values + (0,) * (_FIELDS - len(values)))
        return self

    def vector(
        self,
        operation: str,
        size_bytes: int,
        *,
        item_bytes: int = 4,
        dst: int = -1,
        src0: int = -1,
        src1: int = -1,
        block_stride: int = 1,
        repeat_stride: int = 8,
    ) -> Stream:
        """Add one vector instruction over `size_bytes` of each operand at these UB addresses."""
        repeats = -(-size_bytes // 256)
        code = _OPERATIONS.index(operation)
        return self._add(0, code, item_bytes, repeats, dst, src0, src1, block_stride, repeat_stride)

    def copy(
        self,
        path: Route,
        size_bytes: int,
        gm: int = 0,
        *,
        rows: int = 1,
        gm_stride: int = 0,
        bypass_l2: bool = False,
    ) -> Stream:
        """Add one copy of `rows` bursts of `size_bytes`."""
        return self._add(1, path, rows, size_bytes, gm, gm_stride, int(bypass_l2))

    def cube(self, m: int, k: int, n: int, *, item_bytes: int = 2, hf32: bool = False) -> Stream:
        """Add one Mmad."""
        return self._add(2, m, k, n, item_bytes, int(hf32))

    def signal(self, pipe: Pipe, slot: int) -> Stream:
        """Set a flag behind everything issued on `pipe`."""
        return self._add(3, pipe, slot)

    def wait(self, pipe: Pipe, slot: int) -> Stream:
        """Hold `pipe` until the flag of `slot` is set; a slot never set does not hold."""
        return self._add(4, pipe, slot)

    def barrier(self, pipe: Pipe | None = None) -> Stream:
        """PipeBarrier of one pipe, or of all."""
        return self._add(5, -1 if pipe is None else pipe)

    def scalar(self, count: int) -> Stream:
        """Add plain scalar instructions."""
        return self._add(6, count)

    def scalar_gm(self, address: int, *, write: bool) -> Stream:
        """Add a GlobalTensor GetValue or SetValue."""
        return self._add(7, address, int(write))

    def scalar_ub(self) -> Stream:
        """Add a LocalTensor GetValue or SetValue."""
        return self._add(8)


@dataclass(frozen=True, slots=True)
class Launch:
    """How the blocks of a stream are started.

    Attributes:
        blocks: Number of blocks.
        working_set_bytes: Global memory of the launch, 0 when unknown.
        warm_l2: Whether an earlier launch has just touched the same memory.
        cube: Whether the blocks run on cube cores.
        keep_events: Whether the report holds the timeline.
        sync_all: Whether the blocks meet at SyncAll when their stream ends, and run it once more.
    """

    blocks: int = 1
    working_set_bytes: int = 0
    warm_l2: bool = False
    cube: bool = False
    keep_events: bool = False
    sync_all: bool = False


def play(
    library: ctypes.CDLL,
    launch: Launch,
    stream_of: Callable[[int], Stream],
    base_of: Callable[[int], int],
) -> dict[str, Json]:
    """Simulate a launch whose block b runs `stream_of(b)` on memory from `base_of(b)`.

    Returns:
        The timing part of a launch's report.
    """
    _declare(library)
    handle = ctypes.c_void_p(
        library.kw_timing_begin(
            launch.blocks,
            0,
            int(launch.cube),
            launch.working_set_bytes,
            int(launch.warm_l2),
            int(launch.keep_events),
        )
    )
    rounds = 2 if launch.sync_all else 1
    for number in range(rounds):
        for block in range(launch.blocks):
            records = stream_of(block).records
            address, length = records.buffer_info()
            slots = (ctypes.c_longlong * SLOTS)()
            first, last = int(number == 0), int(number == rounds - 1)
            library.kw_timing_play(
                handle, block, 0, address, length // _FIELDS, base_of(block), slots, first, last
            )
        if number + 1 < rounds:
            library.kw_timing_sync_all(handle, launch.blocks)
    size = library.kw_timing_report(handle, None, 0)
    text = ctypes.create_string_buffer(size + 1)
    library.kw_timing_report(handle, text, size + 1)
    library.kw_timing_end(handle)
    report = json.loads(text.value)
    assert isinstance(report, dict)
    return report


def runtime_sources(folder: Path = RUNTIME_FOLDER) -> tuple[Path, ...]:
    """Return the sources of the timing model alone, which build without the rest."""
    return tuple(sorted(folder.glob("timing*.cpp")))


def _declare(library: ctypes.CDLL) -> None:
    longlong, pointer = ctypes.c_longlong, ctypes.c_void_p
    library.kw_timing_begin.restype = pointer
    library.kw_timing_begin.argtypes = [
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_ulonglong,
        ctypes.c_int,
        ctypes.c_int,
    ]
    library.kw_timing_sync_all.argtypes = [pointer, ctypes.c_uint]
    library.kw_timing_play.restype = longlong
    library.kw_timing_play.argtypes = [
        pointer,
        ctypes.c_uint,
        ctypes.c_uint,
        pointer,
        longlong,
        ctypes.c_ulonglong,
        pointer,
        ctypes.c_int,
        ctypes.c_int,
    ]
    library.kw_timing_report.restype = longlong
    library.kw_timing_report.argtypes = [pointer, ctypes.c_char_p, longlong]
    library.kw_timing_end.argtypes = [pointer]


_OPERATIONS = vector_operations()
