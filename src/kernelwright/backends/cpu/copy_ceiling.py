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

_FRESH_S = 300.0
_DAY_S = 86400.0
_SAMPLES = 7
_LEAST_S = 0.002
_COPIES = (0, 1, 2)
_READ = 3
_FOLDER = Path(__file__).parent / "runtime"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Bandwidth at one working-set size and cache state, in GB/s (1e9 bytes).

    Attributes:
        copy_gbps: Median of the fastest of memcpy, a plain loop and streaming stores, as the
            machine is loaded now; bytes read and bytes written count.
        bound_gbps: The fastest single pass that was seen in a day, reading alone included: a
            reduction hardly writes, and a machine that is busy now may be idle in a minute.
    """

    copy_gbps: float
    bound_gbps: float


@dataclass(slots=True)
class CopyCeilings:
    """Measures ceilings and keeps them for a short while, as the machine's load changes.

    Attributes:
        file: Where they are kept between processes.
        machine: Name of the processor: a cache folder may be shared by several machines.
        build: Builds the copy kernels.
        open: Starts a process that holds them.
    """

    file: Path
    machine: str
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
        key = f"{self.machine} {round(4 * math.log2(size))} {'cold' if is_cold else 'warm'}"
        with self._lock:
            known = self._read() | self._known
            when, ceiling = known.get(key, (0.0, Ceiling(0.0, 0.0)))
            age_s = time.time() - when
            if age_s > _FRESH_S:
                fresh = self._measured(size, is_cold=is_cold)
                earlier_gbps = ceiling.bound_gbps if age_s < _DAY_S else 0.0
                ceiling = Ceiling(fresh.copy_gbps, max(fresh.bound_gbps, earlier_gbps))
                known[key] = (time.time(), ceiling)
                self._write(known)
            self._known[key] = known[key]
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
            passes = [_passes(module, kind, is_cold=is_cold) for kind in (*_COPIES, _READ)]
        copy_s = min(statistics.median(passes[kind]) for kind in _COPIES)
        return Ceiling(size / copy_s / 1e9, size / min(map(min, passes)) / 1e9)

    def _read(self) -> dict[str, tuple[float, Ceiling]]:
        try:
            records = json.loads(self.file.read_text(encoding="utf-8"))
            return {
                str(key): (float(when), Ceiling(float(copy), float(bound)))
                for key, (when, copy, bound) in records.items()
            }
        except (OSError, ValueError, AttributeError, TypeError):
            # Missing or damaged: it is a cache, measuring again makes it whole.
            return {}

    def _write(self, known: dict[str, tuple[float, Ceiling]]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        records = {key: [when, c.copy_gbps, c.bound_gbps] for key, (when, c) in known.items()}
        fresh = self.file.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(records), encoding="utf-8")
        os.replace(fresh, self.file)


def _passes(module: Module, kind: int, *, is_cold: bool) -> list[float]:
    """Return seconds of one pass, each over enough calls to be read off the clock."""
    held: list[tuple[Tree, ...]] = [(kind,)]  # Alone, for a tick goes through all that is held.
    _required(module.hold(held))
    once = max(_required(module.tick(0, repeats=1, is_cold=False)), 1e-7)
    repeats = 1 if is_cold else min(max(int(_LEAST_S / once), 1), 200)
    return [
        max(_required(module.tick(0, repeats=repeats, is_cold=is_cold)) / repeats, 1e-9)
        for _ in range(_SAMPLES)
    ]


def _required(outcome: T | Failure) -> T:
    if isinstance(outcome, Failure):
        raise MachineLacks(
            f"the copy bandwidth of this machine cannot be measured: {outcome.reason}",
            fix="`kernelwright doctor` tests the compiler and the sandbox",
        )
    return outcome
