"""What a run of the interpreter gives: outputs, counters, and a fault where a rule was broken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

from kernelwright.dsl.types import Position

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule of the language broken at run time; it ends the run.

    Attributes:
        code: Stable code, as in `codes.CODES`.
        kernel: Name of the kernel.
        core: Number of the core.
        at: Statement that was being executed.
        what: One clause.
        numbers: The values that show it.
        lines: For undefined data (E801), the lines that made and passed it on, oldest first.
    """

    code: str
    kernel: str
    core: int
    at: Position
    what: str
    numbers: str = ""
    lines: tuple[int, ...] = ()

    def to_text(self) -> str:
        """One line for a reader."""
        chain = f", by lines {' '.join(str(line) for line in self.lines)}" if self.lines else ""
        numbers = f": {self.numbers}" if self.numbers else ""
        return (
            f"{self.code} line {self.at.line}, {self.kernel} on core {self.core}: "
            f"{self.what}{numbers}{chain}"
        )


class Stopped(Exception):
    """Ends a run inside the interpreter; `run` turns it into `Outcome.fault`.

    Attributes:
        fault: What happened.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.to_text())
        self.fault = fault


@dataclass(slots=True)
class Counters:
    """What the pipes did, summed over cores.

    Attributes:
        loaded_bytes: From global memory to the chip.
        stored_bytes: From the chip to global memory.
        copies: Transfers in both directions.
        vector_repeats: Steps of the vector unit, 256 B each; a composed operation counts its steps.
        scalar_syncs: Waits of the scalar unit for the vector unit (reductions to a scalar).
        barriers: `tl.sync_all`, counted once for all cores.
    """

    loaded_bytes: int = 0
    stored_bytes: int = 0
    copies: int = 0
    vector_repeats: int = 0
    scalar_syncs: int = 0
    barriers: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a run.

    Attributes:
        outputs: What a host function returned, or the tensors that a kernel stores, in the order
            of its parameters. Elements never stored hold the poison. Empty after a fault.
        tensors: Every tensor parameter after the run, by name. The arrays given are not changed.
        counters: What the pipes did.
        fault: Why it ended early, None where it did not.
    """

    outputs: tuple[Array, ...]
    tensors: Mapping[str, Array]
    counters: Counters = field(default_factory=Counters)
    fault: Fault | None = None

    @property
    def is_ok(self) -> bool:
        """True where it ran to the end."""
        return self.fault is None
