"""A task as a list of kernels over named buffers: what the printers print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kernelwright.synth.axes import Dim
from kernelwright.synth.canonical import Canonical
from kernelwright.synth.expr import Expr


class Use(StrEnum):
    """What a buffer is to the kernels."""

    GIVEN = "given"
    """Read only: an input, a parameter or a buffer of the module."""
    STATE = "state"
    """A buffer of the module that is read and written."""
    RETURNED = "returned"
    SCRATCH = "scratch"
    """Carries a value from one kernel to a later one."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that kernels read or write.

    Attributes:
        name: Name in the printed code.
        dtype: PyTorch's name of its dtype.
        axes: Axes in row-major order, outermost first.
        use: What it is to the kernels.
    """

    name: str
    dtype: str
    axes: Dim
    use: Use


@dataclass(frozen=True, slots=True)
class Store:
    """One value that a kernel writes to memory."""

    value: Expr
    buffer: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """One loop nest: passes that reduce over `reduced`, then stores.

    Attributes:
        order: All its axes in loop order, outermost first.
        reduced: Axes that reductions run over; the others are kept. Empty for a plain map.
        passes: Reductions of each pass over the data, in order.
        row_stores: What is written once all passes are done, an element per kept position.
        full_stores: What the last pass writes, an element per position.
    """

    order: Dim
    reduced: frozenset[int]
    passes: tuple[tuple[Expr, ...], ...]
    row_stores: tuple[Store, ...]
    full_stores: tuple[Store, ...]

    @property
    def is_columns(self) -> bool:
        """Whether the innermost axis is kept, so that columns are reduced side by side."""
        return bool(self.reduced) and self.order[-1] not in self.reduced

    @property
    def kept(self) -> Dim:
        """Axes that are not reduced, in loop order."""
        return tuple(axis for axis in self.order if axis not in self.reduced)


@dataclass(frozen=True, slots=True)
class Program:
    """Kernels that run one after the other.

    Attributes:
        canonical: The task they compute.
        kernels: In the order in which they run.
        buffers: By name.
        returned: Buffer of each returned tensor, in order.
        placed: Buffer that holds a value (by the value's uid) for kernels after the one that
            computes it.
    """

    canonical: Canonical
    kernels: tuple[Kernel, ...]
    buffers: Mapping[str, Buffer]
    returned: tuple[str, ...]
    placed: Mapping[int, str]
