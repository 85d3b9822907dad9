"""Where in the kernel's parallel structure the walk stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.dsl.prove.polynomial import Polynomial
from kernelwright.dsl.types import Position


@dataclass(slots=True)
class Cores:
    """Core loops, branches for one core, and phases between syncs.

    Attributes:
        loop_atoms: Atom of the variable of the core loop around this point.
        outermost: Place of the outermost loop around this point, core loop or not.
        only_core: The core's number where the point is under `if tl.core_id() == number`.
        phase: Number of syncs before this point, in program order.
        alike: First atom with the same share of the same work, by atom of a core loop's variable.
        merged: Phases joined by the back edge of a loop that syncs.
    """

    loop_atoms: frozenset[int] = frozenset()
    outermost: Position | None = None
    only_core: Polynomial | None = None
    phase: int = 0
    alike: dict[int, int] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)
    shares: dict[tuple[Polynomial, ...], int] = field(default_factory=dict)

    def group(self, phase: int) -> int:
        """The phase that stands for all phases joined with this one."""
        while phase in self.merged:
            phase = self.merged[phase]
        return phase

    def join(self, first: int, last: int) -> None:
        """A loop's last phase runs into its first."""
        first, last = self.group(first), self.group(last)
        if first != last:
            self.merged[max(first, last)] = min(first, last)

    def share(self, atom: int, work: tuple[Polynomial, ...]) -> None:
        """Note the variable of a core loop over `work`."""
        self.alike[atom] = self.shares.setdefault(work, atom)
