"""What a profiler said about one execution, in one shape for every backend."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Bottleneck(StrEnum):
    """The diagnosed limit of a kernel."""

    MEMORY = "memory"
    VECTOR = "vector"
    CUBE = "cube"
    SCALAR = "scalar"
    SYNC = "sync"
    LAUNCH = "launch"
    OCCUPANCY = "occupancy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Profile:
    """One execution as its profiler saw it.

    Attributes:
        backend: Backend that ran it.
        tool: What measured it, with its version: `perf_counter`, `msprof`, `emulator timing v1`.
        simulated: Whether the times come from a model and not from a device.
        duration_us: Time of one call in microseconds.
        time_split: (part, fraction of the duration) pairs; fractions lie in [0, 1].
        bytes_moved: Bytes that must cross memory at least once: inputs read plus outputs written.
        achieved_gbps: `bytes_moved` over `duration_us`, in GB/s (1e9 bytes).
        ceiling_gbps: Measured copy bandwidth of this machine at the same working-set size.
        facts: Static facts of the built code: (name, value), such as (`vector_bits`, `256`).
        bottleneck: The diagnosed limit.
        advice: One sentence on what to try next, or empty.
    """

    backend: str
    tool: str
    simulated: bool
    duration_us: float
    time_split: tuple[tuple[str, float], ...] = ()
    bytes_moved: int = 0
    achieved_gbps: float = 0.0
    ceiling_gbps: float = 0.0
    facts: tuple[tuple[str, str], ...] = ()
    bottleneck: Bottleneck = Bottleneck.UNKNOWN
    advice: str = ""
