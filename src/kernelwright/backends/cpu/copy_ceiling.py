"""How fast this machine moves memory: the bound that no honest kernel beats.

Measured as a candidate is: the same sandbox, the same calls, the same clock, one thread.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import MachineLacks
from kernelwright.core.execution import Build, Call, Failure
from kernelwright.core.ports import Module
from kernelwright.core.tensor import Tree

T = TypeVar("T")

LARGEST_BYTES = 512 << 20
"""Above this the bandwidth no longer depends on the size; larger sets are measured at it."""

_FRESH_S = 600.0
_SAMPLES = 7
_LEAST_S = 0.002
_COPIES = (0, 1, 2)
_READ = 3
_FOLDER = Path(__file__).parent / "runtime"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Bandwidth at one working-set size and cache state, in GB/s (1e9 bytes).

    Attributes:
        copy_gbps: Fastest of memcpy, a plain loop and streaming stores; reads and writes count.
        read_gbps: A pass that only reads; a reduction can come close to it.
    """

    copy_gbps: float
    read_gbps: float


@dataclass(slots=True)
class CopyCeilings:
    """Measures ceilings and keeps them for a short while, as the machine's load changes.

    Attributes:
        file: Where they are kept between processes.
        build: Builds the copy kernels.
        open: Starts a process that holds them.
    """

    file: Path
    build: Callable[[Candidate], Build | Failure]
    open: Callable[[Build], AbstractContextManager[Module]]
    _known: dict[str, tuple[float, Ceiling]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def at(self, working_set_bytes: int, *, is_cold: bool) -> Ceiling:
        """Return the ceiling at a working set of so many bytes, inputs and outputs together.

        Raises:
            MachineLacks: if the copy kernels cannot be built or run here.
        """
        size = min(max(working_set_bytes, 1 << 12), LARGEST_BYTES)
        # A quarter of an octave: neighbours in size share a measurement.
        key = f"{round(4 * math.log2(size))} {'cold' if is_cold else 'warm'}"
        with self._lock:
            known = self._read() | self._known
            if key in known and time.time() - known[key][0] < _FRESH_S:
                self._known[key] = known[key]
                return known[key][1]
            ceiling = self._measured(size, is_cold=is_cold)
            self._known[key] = (time.time(), ceiling)
            self._write(known | self._known)
            return ceiling

    def _measured(self, size: int, *, is_cold: bool) -> Ceiling:
        parts = {
            "kernel.cpp": (_FOLDER / "copy.cpp").read_text(encoding="utf-8"),
            "model.py": (_FOLDER / "copy_model.py").read_text(encoding="utf-8"),
        }
        build = _required(self.build(Candidate.of("cpu", parts, origin="copy ceiling")))
        count = size // 2 // 4
        with self.open(build) as module:
            call = Call(seed=0, init=(count,), state={}, args=(0,), is_training=False)
            _required(module.construct(call))
            sets: list[tuple[Tree, ...]] = [(kind,) for kind in (*_COPIES, _READ)]
            _required(module.hold(sets))
            rates = [size / _median_s(module, kind, is_cold=is_cold) / 1e9 for kind in range(4)]
        return Ceiling(max(rates[kind] for kind in _COPIES), rates[_READ])

    def _read(self) -> dict[str, tuple[float, Ceiling]]:
        try:
            records = json.loads(self.file.read_text(encoding="utf-8"))
            return {
                str(key): (float(when), Ceiling(float(copy), float(read)))
                for key, (when, copy, read) in records.items()
            }
        except (OSError, ValueError, AttributeError, TypeError):
            # Missing or damaged: it is a cache, measuring again makes it whole.
            return {}

    def _write(self, known: dict[str, tuple[float, Ceiling]]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        records = {key: [when, c.copy_gbps, c.read_gbps] for key, (when, c) in known.items()}
        fresh = self.file.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(records), encoding="utf-8")
        os.replace(fresh, self.file)


def _median_s(module: Module, kind: int, *, is_cold: bool) -> float:
    """Return the median seconds of one pass, over enough calls to be read off the clock."""
    once = max(_required(module.tick(kind, repeats=1, is_cold=False)), 1e-7)
    repeats = 1 if is_cold else min(max(int(_LEAST_S / once), 1), 200)
    samples = [
        _required(module.tick(kind, repeats=repeats, is_cold=is_cold)) / repeats
        for _ in range(_SAMPLES)
    ]
    return max(statistics.median(samples), 1e-9)


def _required(outcome: T | Failure) -> T:
    if isinstance(outcome, Failure):
        raise MachineLacks(
            f"the copy bandwidth of this machine cannot be measured: {outcome.reason}",
            fix="`kernelwright doctor` tests the compiler and the sandbox",
        )
    return outcome
